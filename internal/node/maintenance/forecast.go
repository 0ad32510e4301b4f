package maintenance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// Awaited is a port that a drain waits for, because none of its steps moves the port.
type Awaited struct {
	Port string
	// Hold is the port's hold; it is empty if the port is on no chassis. Why is the reason to wait for the port.
	Hold string
	Why  finding.Reason
}

// Forecast returns the ports that a drain by that plan will wait for, out of the ports bound to the chassis and the
// unbound gateways. A dry run lists them. A drain does not begin if its plan leaves gateways on the chassis.
func Forecast(chassis string, p schedule.Plan, s schedule.State, bound []Binding, unbound []string) (all []Awaited) {
	leaves, groups := leaving(chassis, p, s), map[string]schedule.Group{}
	for _, g := range s.Groups {
		for _, port := range g.Ports {
			groups[port.Name] = g
		}
	}
	for _, b := range bound {
		hold := holdOf[b.Type]
		if b.Chassis != chassis || hold == "" {
			continue
		}
		name := strings.TrimPrefix(b.Port, "cr-")
		g, known := groups[name]
		switch {
		case hold == HoldCompute:
			all = append(all, Awaited{b.Port, hold, finding.Reason{Code: finding.PortOfMachine}})
		case leaves[g.Name]:
		case !known:
			all = append(all, Awaited{b.Port, hold, finding.Reason{Code: finding.PortGone}})
		default:
			all = append(all, Awaited{b.Port, hold, finding.Reason{Code: finding.PortMisplaced, Name: best(g)}})
		}
	}
	for _, name := range unbound {
		all = append(all, Awaited{Port: name, Why: finding.Reason{Code: finding.NotBound}})
	}
	slices.SortFunc(all, func(a, b Awaited) int { return schedule.CompareNames(a.Port, b.Port) })
	return all
}

// leaving returns the groups in which the plan ranks a responding chassis before the drained one.
func leaving(chassis string, p schedule.Plan, s schedule.State) map[string]bool {
	all := map[string]bool{}
	for _, c := range p.Changes {
		host := s.Claimant(c.After)
		all[c.Group] = all[c.Group] || host != "" && host != chassis
	}
	return all
}

func best(g schedule.Group) string {
	if len(g.Candidates) == 0 {
		return "none"
	}
	return g.Ranked()[0]
}

// Text returns the hold, and the reason why the drain waits for the port.
func (a Awaited) Text() string {
	if a.Hold == "" {
		return a.Why.String()
	}
	return fmt.Sprintf("hold %s: %s", a.Hold, a.Why)
}
