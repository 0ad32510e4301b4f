package plan

import (
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// planNorthd keeps an ovn-northd running beside the servers; one is active in the whole application. One that hangs is
// not restarted: an operator may be examining it, and the others take over.
func (s State) planNorthd(d *Decision) {
	if s.NorthdParams == Drifted || s.NorthdParams == NeedsRestart {
		d.do(Step{Kind: WriteNorthdParams})
	}
	// After a machine lost its power, only the probe ends the connection of its ovn-northd, and with it that one's
	// lock.
	if s.Settings.InactivityProbe == 0 && s.usable(OptionInactivityProbe) {
		d.find(finding.NorthdProbeOff, finding.Args{}, finding.Do(command.Client("config", unitname.Application(s.Unit), OptionInactivityProbe+"=60")))
	}
	elsewhere := s.Northds.Found == NorthdActive && s.Northds.Unit != s.Unit
	none := func(detail string, remedies ...finding.Remedy) { // at first, another may take over
		f := finding.New(finding.NorthdNoneActive, finding.Subject{}, finding.Args{Detail: detail}, remedies...)
		if s.Northds.Proved(s.Settings.InactivityProbe) {
			f = f.As(finding.Error)
		}
		d.Findings = append(d.Findings, f)
	}
	restart := finding.Do(s.restart(ovndb.Northd))
	switch state := s.Services[ovndb.Northd]; {
	case s.NorthdHeld && s.Northds.Found != NorthdNone:
		d.find(finding.NorthdHeld, finding.Args{}, finding.Do(s.action("release-northd")))
	case s.NorthdHeld:
		none("this unit's is held", finding.Do(s.action("release-northd")))
	case !state.Active:
		d.do(Step{Kind: Start, Services: []ovndb.Service{ovndb.Northd}, Reason: "it was not running"})
		if elsewhere {
			d.find(finding.NorthdDown, finding.Args{})
		} else {
			d.find(finding.NorthdNoneActive, finding.Args{Detail: "this unit's is not running"})
		}
	case s.Northd == ovndb.NorthdUnresponsive && elsewhere:
		d.find(finding.NorthdHangs, finding.Args{Detail: "another unit's is active"}, restart)
	case s.Northd == ovndb.NorthdUnresponsive && !s.Northds.Standby:
		d.Findings = append(d.Findings, finding.New(finding.NorthdHangs, finding.Subject{}, finding.Args{}, restart).As(finding.Error))
	case s.Northd == ovndb.NorthdUnresponsive: // it keeps the lock until its connection ends
		none("this unit's hangs", restart)
	case s.Northd == ovndb.NorthdPaused && !elsewhere && !s.Northds.Standby:
		d.Findings = append(d.Findings, finding.New(finding.NorthdPaused, finding.Subject{}, finding.Args{},
			finding.Do(command.OnMachine(s.Unit, "sudo", "ovn-appctl", "-t", "ovn-northd", "resume"))).As(finding.Error))
	case s.Northds.Found == NorthdNone:
		none("", finding.Remedy{When: finding.IfThisLasts, Deed: finding.RestartNorthd}) // restarting this one frees no lock
	case s.Northds.Found == NorthdUnknown && !s.Northd.Works():
		d.find(finding.NorthdNoneActive, finding.Args{})
	case !s.Services[ovndb.Umbrella].Enabled || !s.Services[ovndb.Umbrella].Active:
		d.do(Step{Kind: Start, Services: []ovndb.Service{ovndb.Umbrella}, Reason: "the services must start at boot"})
	}
}

// restart is the command to restart a service of this unit.
func (s State) restart(service ovndb.Service) command.Command {
	return s.action("restart-services", command.Param{Key: "services", Value: string(service)})
}

// action is one of this unit.
func (s State) action(name string, params ...command.Param) command.Command {
	return command.Command{Unit: s.Unit, Action: name, Params: params}
}
