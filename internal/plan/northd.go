package plan

import (
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// planNorthd keeps an ovn-northd running beside the servers, one of which is active
// in the whole application. One that hangs is not restarted: that may be what an
// operator is looking at, and the others take over.
func (s State) planNorthd(d *Decision) {
	if s.NorthdParams == Drifted || s.NorthdParams == NeedsRestart {
		d.do(Step{Kind: WriteNorthdParams})
	}
	// Of a client whose machine has lost its power the server hears nothing any more: only
	// the probe ends the connection, and with it the lock of the active ovn-northd.
	if s.Settings.InactivityProbe == 0 && s.usable(OptionInactivityProbe) {
		d.note("a dead ovn-northd keeps its lock: juju config %s ovsdb-server-inactivity-probe=60", unitname.Application(s.Unit))
	}
	elsewhere := s.Northds.Found == NorthdActive && s.Northds.Unit != s.Unit
	none := d.wait // at first: another may take over
	if s.Northds.Overdue(s.Now, s.Settings.InactivityProbe) {
		none = d.block
	}
	switch state := s.Services[ovndb.Northd]; {
	case s.NorthdHeld && s.Northds.Found != NorthdNone:
		d.note("ovn-northd is held; run: %s", s.Command("release-northd"))
	case s.NorthdHeld:
		d.wait("ovn-northd is held, none is active; run: %s", s.Command("release-northd"))
	case !state.Active:
		d.do(Step{Kind: Start, Services: []ovndb.Service{ovndb.Northd}, Reason: "it was not running"})
		if elsewhere {
			d.note("ovn-northd is not running here (another unit's works)")
		} else {
			d.wait("ovn-northd is not running")
		}
	case s.Northd == ovndb.NorthdUnresponsive && elsewhere:
		d.note("ovn-northd hangs: %s (another unit's works)", s.restart(ovndb.Northd))
	case s.Northd == ovndb.NorthdUnresponsive && !s.Northds.Standby:
		d.block("ovn-northd hangs: %s", s.restart(ovndb.Northd))
	case s.Northd == ovndb.NorthdUnresponsive:
		none("ovn-northd hangs: %s", s.restart(ovndb.Northd))
	case s.Northd == ovndb.NorthdPaused && !elsewhere && !s.Northds.Standby:
		d.block("ovn-northd paused: juju ssh %s sudo ovn-appctl -t ovn-northd resume", s.Unit)
	case s.Northds.Found == NorthdNone:
		none("no ovn-northd is active")
	case s.Northds.Found == NorthdUnknown && !s.Northd.Works():
		d.wait("no ovn-northd is active")
	case !s.Services[ovndb.Umbrella].Enabled || !s.Services[ovndb.Umbrella].Active:
		d.do(Step{Kind: Start, Services: []ovndb.Service{ovndb.Umbrella}, Reason: "the services must start at boot"})
	}
}

// restart is what an operator types to restart a service of this unit.
func (s State) restart(service ovndb.Service) string {
	return s.Command("restart-services", "services="+string(service))
}
