package plan

// NorthdHealth is what a unit's ovn-northd says of itself when it is asked, or that
// it says nothing. That systemd calls it active says little: so it does of one that
// hangs.
type NorthdHealth string

// The values of NorthdHealth. The zero value is one that was not asked.
const (
	// NorthdActive has both databases and does the work; of all units' one is.
	NorthdActive NorthdHealth = "active"
	// NorthdStandby has both databases and waits for the active one to go.
	NorthdStandby NorthdHealth = "standby"
	// NorthdPaused was told to do nothing.
	NorthdPaused NorthdHealth = "paused"
	// NorthdUnconnected lacks a database.
	NorthdUnconnected NorthdHealth = "not connected to both databases"
	// NorthdSilent runs and does not answer.
	NorthdSilent NorthdHealth = "does not answer"
	// NorthdDown does not run.
	NorthdDown NorthdHealth = "not running"
)

// Works says whether it does the work, or would.
func (h NorthdHealth) Works() bool { return h == NorthdActive || h == NorthdStandby }

// planNorthd keeps an ovn-northd running beside the servers, one of which is active
// in the whole application. One that hangs is not restarted: that may be what an
// operator is looking at, and the others take over.
func (s State) planNorthd(d *Decision) {
	if s.NorthdParams == Drifted || s.NorthdParams == NeedsRestart {
		d.do(Step{Kind: WriteNorthdParams})
	}
	const restart = "run action restart-services services=ovn-northd"
	switch state := s.Services[Northd]; {
	case !state.Active:
		d.do(Step{Kind: Start, Services: []Service{Northd}, Reason: "it was not running"})
		if s.NorthdUp {
			d.note("ovn-northd is not running here, but on another unit")
		} else {
			d.wait("ovn-northd is not running")
		}
	case s.Northd == NorthdSilent && s.NorthdUp:
		d.note("ovn-northd does not answer here, but on another unit; %s on %s", restart, s.Unit)
	case s.Northd == NorthdSilent:
		d.block("ovn-northd does not answer, here or on another unit; %s on %s", restart, s.Unit)
	case s.Northd == NorthdPaused && !s.NorthdUp:
		d.block("ovn-northd is paused, and no other is active; run: juju ssh %s sudo ovn-appctl -t ovn-northd resume", s.Unit)
	case !s.NorthdUp:
		d.wait("no ovn-northd is active")
	case !s.Services[Umbrella].Enabled || !s.Services[Umbrella].Active:
		d.do(Step{Kind: Start, Services: []Service{Umbrella}, Reason: "the services are to start at boot"})
	}
}
