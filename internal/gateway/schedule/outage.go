package schedule

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// Outage describes that no gateway works, or that none may.
type Outage struct {
	// Code is [finding.NoGatewayBound] or [finding.NoChassisResponds].
	Code finding.Code `json:"code" yaml:"code"`
	// Gateways and Externals count the gateways of enabled routers, and the external ports.
	Gateways  int `json:"gateways" yaml:"gateways"`
	Externals int `json:"external-ports" yaml:"external-ports"`
	// Chassis counts the chassis on which an ovn-controller of this OVN runs; Responding of these respond.
	Chassis    int `json:"chassis" yaml:"chassis"`
	Responding int `json:"responding" yaml:"responding"`
}

// FindOutage returns the outage, or nil if a gateway is bound to a chassis while any chassis responds.
func FindOutage(s State) *Outage { return findOutage(s.Groups, s.Chassis) }

func findOutage(groups []Group, chassis []Chassis) *Outage {
	o := Outage{Code: finding.NoGatewayBound}
	for _, c := range chassis {
		o.Chassis += btoi(c.alien() == "")
		o.Responding += btoi(c.responds())
	}
	for _, g := range groups {
		for _, p := range g.Ports {
			o.Gateways += btoi(!p.Disabled && !p.External)
			o.Externals += btoi(p.External)
		}
	}
	switch bound := slices.ContainsFunc(groups, Group.bound); {
	case bound && o.Responding == 0:
		o.Code = finding.NoChassisResponds
	case bound || o.Gateways == 0:
		return nil
	}
	return &o
}

// gateways returns the number of gateways if there is an outage with that code; otherwise 0.
func (o *Outage) gateways(code finding.Code) int {
	if o == nil || o.Code != code {
		return 0
	}
	return o.Gateways
}

// Finding returns the finding about the outage.
func (o Outage) Finding() finding.Finding {
	affected := finding.Reason{Code: finding.GatewayCount, Count: o.Gateways, Total: o.Externals}
	args := finding.Args{Count: o.Responding, Total: o.Chassis, Reasons: []finding.Reason{affected}}
	deed := finding.StartControllers
	if o.Responding > 0 {
		deed = finding.ReadLogsOfOVN
	}
	return finding.About(o.Code, "", args, finding.ByHand(deed))
}
