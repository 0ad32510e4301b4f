package plan

import (
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// NorthdReport is a unit's report on its ovn-northd.
type NorthdReport struct {
	Unit string
	// Known is false if the unit may have an ovn-northd that this unit does not know about. A unit that is down is known
	// to have none: its earlier reports don't count.
	Known  bool
	Health ovndb.NorthdHealth
	// Up reports whether the unit is up, and so can answer. Heard is the time of this unit's question that the report
	// answers, as the other unit has published it.
	Up    bool
	Heard time.Time
}

// NorthdFinding describes the state of the application's ovn-northd.
type NorthdFinding string

// The values of NorthdFinding.
const (
	NorthdUnknown NorthdFinding = ""
	NorthdActive  NorthdFinding = "active"
	NorthdNone    NorthdFinding = "none active"
)

// Northd is the judgement on the application's ovn-northd.
type Northd struct {
	Found NorthdFinding `json:"found,omitempty"`
	// Unit is the unit with the active ovn-northd.
	Unit string `json:"unit,omitempty"`
	// Hangs is another unit whose ovn-northd hangs; set if none is active.
	Hangs string `json:"hangs,omitempty"`
	// Since is the time when none was first found to be active.
	Since time.Time `json:"since,omitzero"`
	// Standby reports whether the ovn-northd of another unit can take over.
	Standby bool `json:"standby,omitempty"`
	// Asked is when this unit asked the others, by publishing that it finds no active ovn-northd: Juju then runs a hook
	// on each. Answered reports whether each unit that is up has reported since.
	Asked    time.Time `json:"asked,omitzero"`
	Answered bool      `json:"answered,omitempty"`
	// MembersDown is the number of members that are down, Lost is when one more was first seen to be. For a while, the
	// session of its machine's ovn-northd may wait for the lock.
	MembersDown int       `json:"members-down,omitempty"`
	Lost        time.Time `json:"lost,omitzero"`
}

// JudgeNorthd determines whether an ovn-northd is active: this unit's own, or one that another unit reports. before
// is the last hook's judgement. If the ovn-northd that was active then is now on standby, another has taken its lock,
// and the other's unit has yet to report that. The same holds if this unit's own ovn-northd has ended or was paused,
// and another was on standby.
//
// Reports are as old as their units' last hooks. So this unit asks if it finds no active ovn-northd, and asks again
// after the time in which another could take over, which depends on probe.
func JudgeNorthd(now time.Time, probe time.Duration, own NorthdReport, peers []NorthdReport, before Northd) (n Northd) {
	n.Standby = slices.ContainsFunc(peers, func(r NorthdReport) bool { return r.Known && r.Health == ovndb.NorthdStandby })
	all := append([]NorthdReport{own}, peers...)
	if i := slices.IndexFunc(all, func(r NorthdReport) bool { return r.Known && r.Health == ovndb.NorthdActive }); i >= 0 {
		n.Found, n.Unit = NorthdActive, all[i].Unit
		return n
	}
	if slices.ContainsFunc(all, func(r NorthdReport) bool { return !r.Known || before.passedOn(r, n.Standby) }) {
		return n
	}
	n.Found, n.Since, n.Asked = NorthdNone, now, now
	hangs := func(r NorthdReport) bool { return r.Up && r.Health == ovndb.NorthdUnresponsive }
	if i := slices.IndexFunc(peers, hangs); i >= 0 {
		n.Hangs = peers[i].Unit
	}
	if before.Found == NorthdNone && before.Since.Before(now) {
		n.Since, n.Asked = before.Since, before.Asked
	}
	if takeover := n.Since.Add(takeoverTime(probe)); !now.Before(takeover) && n.Asked.Before(takeover) {
		n.Asked = now
	}
	n.Answered = !slices.ContainsFunc(peers, func(r NorthdReport) bool { return r.Up && !r.Heard.Equal(n.Asked) })
	return n
}

// Counting returns the judgement with the number of members that are down.
func (n Northd) Counting(now time.Time, down int, before Northd) Northd {
	n.MembersDown, n.Lost = down, before.Lost
	if down > before.MembersDown {
		n.Lost = now
	}
	return n
}

// Outdated returns the reports as they count if no session has the lock of ovn-northd: what they say was true once.
// ovn-northd would take the lock if it were active, or on standby.
func Outdated(reports []NorthdReport) []NorthdReport {
	all := slices.Clone(reports)
	for i := range all {
		all[i].Known, all[i].Health = true, ""
	}
	return all
}

// passedOn reports whether a unit's ovn-northd was active before and another one may be active now.
func (n Northd) passedOn(r NorthdReport, standby bool) bool {
	if n.Found != NorthdActive || n.Unit != r.Unit {
		return false
	}
	released := []ovndb.NorthdHealth{ovndb.NorthdDown, ovndb.NorthdHeld, ovndb.NorthdPaused}
	return r.Health == ovndb.NorthdStandby || standby && slices.Contains(released, r.Health)
}

// takeoverProbe replaces an inactivity probe of 0, with which the connection of a dead ovn-northd never ends.
const takeoverProbe = time.Minute

// takeoverTime returns the time in which another ovn-northd takes over. A database's server probes a client that was
// silent for the inactivity probe, and closes its connection if it stays silent for the same time again.
func takeoverTime(probe time.Duration) time.Duration {
	if probe <= 0 {
		probe = takeoverProbe
	}
	return 2 * probe
}

// Proved reports whether no ovn-northd was active for longer than another needs to take over, according to later
// reports of each unit that is up.
func (n Northd) Proved(probe time.Duration) bool {
	return n.Found == NorthdNone && n.Answered && n.Asked.Sub(n.Since) >= takeoverTime(probe)
}
