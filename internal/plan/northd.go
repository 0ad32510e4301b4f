package plan

import "github.com/ovn-central/ovn-central-operator/internal/ovndb"

// planNorthd keeps an ovn-northd running beside the servers, one of which is active
// in the whole application. One that hangs is not restarted: that may be what an
// operator is looking at, and the others take over.
func (s State) planNorthd(d *Decision) {
	if s.NorthdParams == Drifted || s.NorthdParams == NeedsRestart {
		d.do(Step{Kind: WriteNorthdParams})
	}
	const restart = "run action restart-services services=ovn-northd"
	// Of a client whose machine has lost its power the server hears nothing any more: only
	// the probe ends the connection, and with it the lock of the active ovn-northd.
	if s.Settings.InactivityProbe == 0 && s.usable(OptionInactivityProbe) {
		d.note("an ovn-northd without power keeps its lock: juju config %s ovsdb-server-inactivity-probe=60; it is 0", application(s.Unit))
	}
	switch state := s.Services[ovndb.Northd]; {
	case s.NorthdHeld && s.NorthdUp:
		d.note("ovn-northd is held here; run action release-northd on %s", s.Unit)
	case s.NorthdHeld:
		d.wait("ovn-northd is held here, and no other is active; run action release-northd on %s", s.Unit)
	case !state.Active:
		d.do(Step{Kind: Start, Services: []ovndb.Service{ovndb.Northd}, Reason: "it was not running"})
		if s.NorthdUp {
			d.note("ovn-northd is not running here, but on another unit")
		} else {
			d.wait("ovn-northd is not running")
		}
	case s.Northd == ovndb.NorthdUnresponsive && s.NorthdUp:
		d.note("ovn-northd does not answer here; %s on %s (another unit's does)", restart, s.Unit)
	case s.Northd == ovndb.NorthdUnresponsive:
		d.block("ovn-northd does not answer, here or on another unit; %s on %s", restart, s.Unit)
	case s.Northd == ovndb.NorthdPaused && !s.NorthdUp:
		d.block("ovn-northd is paused, and no other is active; run: juju ssh %s sudo ovn-appctl -t ovn-northd resume", s.Unit)
	case !s.NorthdUp:
		d.wait("no ovn-northd is active")
	case !s.Services[ovndb.Umbrella].Enabled || !s.Services[ovndb.Umbrella].Active:
		d.do(Step{Kind: Start, Services: []ovndb.Service{ovndb.Umbrella}, Reason: "the services are to start at boot"})
	}
}
