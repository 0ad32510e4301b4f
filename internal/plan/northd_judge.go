package plan

import (
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// NorthdReport is how a unit's ovn-northd is, by the unit's own report.
type NorthdReport struct {
	Unit string
	// Known is false if the unit may have one of which this unit can't know. One that is down is known to have none:
	// what it said before it went silent doesn't count.
	Known  bool
	Health ovndb.NorthdHealth
	// Up reports whether the unit is up, and so can answer. Heard is when this unit has asked, as the unit has
	// published it with its report.
	Up    bool
	Heard time.Time
}

// NorthdFinding is what is known of the application's ovn-northd.
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
	// Unit is the one whose ovn-northd is active.
	Unit string `json:"unit,omitempty"`
	// Since is when none was first found to be active.
	Since time.Time `json:"since,omitzero"`
	// Standby says that another unit reports one that can take over.
	Standby bool `json:"standby,omitempty"`
	// Asked is when this unit has asked the others, by publishing that it finds none active: Juju runs a hook on each.
	// Answered says that each unit that is up has reported since.
	Asked    time.Time `json:"asked,omitzero"`
	Answered bool      `json:"answered,omitempty"`
}

// JudgeNorthd finds out whether an ovn-northd is active: this unit's own, or that of a unit which reports so. before is
// the judgement of the last hook. If the active one of then now stands by, another has taken its lock since, and its
// unit has yet to report that; so it is, too, if this unit's own has ended or was paused, and another stood by.
//
// Reports are as old as their units' last hooks. So this unit asks if it finds none active, and once more when another
// has had the time to take over, which probe says.
func JudgeNorthd(now time.Time, probe time.Duration, own NorthdReport, peers []NorthdReport, before Northd) (n Northd) {
	n.Standby = slices.ContainsFunc(peers, func(r NorthdReport) bool { return r.Known && r.Health == ovndb.NorthdStandby })
	released := []ovndb.NorthdHealth{ovndb.NorthdDown, ovndb.NorthdHeld, ovndb.NorthdPaused}
	all := append([]NorthdReport{own}, peers...)
	unknown := false
	for _, r := range all {
		switch {
		case r.Known && r.Health == ovndb.NorthdActive && n.Found == NorthdUnknown:
			n.Found, n.Unit = NorthdActive, r.Unit
		case !r.Known:
			unknown = true
		case before.Found == NorthdActive && before.Unit == r.Unit:
			unknown = unknown || r.Health == ovndb.NorthdStandby || n.Standby && slices.Contains(released, r.Health)
		}
	}
	if n.Found == NorthdUnknown && !unknown {
		n.Found, n.Since, n.Asked = NorthdNone, now, now
		if before.Found == NorthdNone && before.Since.Before(now) {
			n.Since, n.Asked = before.Since, before.Asked
		}
		if takeover := n.Since.Add(takeoverTime(probe)); !now.Before(takeover) && n.Asked.Before(takeover) {
			n.Asked = now
		}
		n.Answered = !slices.ContainsFunc(peers, func(r NorthdReport) bool { return r.Up && !r.Heard.Equal(n.Asked) })
	}
	return n
}

// takeoverProbe stands for an inactivity probe of 0, with which nothing ends the connection of a dead ovn-northd.
const takeoverProbe = time.Minute

// takeoverTime is what another ovn-northd needs to take over. A database's server asks a client that has been silent
// for as long as the inactivity probe, and ends its connection after as long again.
func takeoverTime(probe time.Duration) time.Duration {
	if probe <= 0 {
		probe = takeoverProbe
	}
	return 2 * probe
}

// Proved reports whether none has been active for longer than another needs to take over, by what each unit that is up
// has reported after that.
func (n Northd) Proved(probe time.Duration) bool {
	return n.Found == NorthdNone && n.Answered && n.Asked.Sub(n.Since) >= takeoverTime(probe)
}
