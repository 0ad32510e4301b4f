package plan

import (
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// activeElsewhere reports whether another unit's ovn-northd is active.
func (s State) activeElsewhere() bool {
	return s.Northds.Found == NorthdActive && s.Northds.Unit != s.Unit
}

// release is the command to release this unit's ovn-northd.
func (s State) release() finding.Remedy { return finding.Do(s.action("release-northd")) }

// findNoNorthd is an error only once no other has taken over in time.
func (v *view) findNoNorthd(detail string, remedies ...finding.Remedy) finding.Finding {
	f := v.find(finding.NorthdNoneActive, finding.Args{Detail: detail}, remedies...)
	if v.Northds.Proved(v.Settings.InactivityProbe) {
		f = f.As(finding.Error)
	}
	return f
}

// findNoneActive names the unit whose ovn-northd hangs, if its report says so. Otherwise another one takes over by
// itself, unless that took too long.
func (v *view) findNoneActive() finding.Finding {
	switch probe, hangs := v.Settings.InactivityProbe, v.Northds.Hangs; {
	case hangs != "":
		return v.findNoNorthd(hangs+"'s hangs", finding.If(finding.IfThisLasts, restartOn(hangs, ovndb.Northd)))
	case v.Northds.Proved(probe):
		return v.findNoNorthd("", finding.Remedy{When: finding.IfThisLasts, Deed: finding.RestartNorthd})
	default:
		return v.findNoNorthd("another one takes over within " + takeoverTime(probe).String())
	}
}

func (v *view) findHungNorthd(detail string) finding.Finding {
	return v.find(finding.NorthdHangs, finding.Args{Detail: detail}, finding.Do(v.restart(ovndb.Northd)))
}

func (v *view) findNorthdDown() finding.Finding {
	if v.activeElsewhere() {
		return v.find(finding.NorthdDown, finding.Args{})
	}
	return v.find(finding.NorthdNoneActive, finding.Args{Detail: "this unit's is not running"})
}

func (v *view) findPausedNorthd() finding.Finding {
	return v.find(finding.NorthdPaused, finding.Args{},
		finding.Do(command.OnMachine(v.Unit, "sudo", "ovn-appctl", "-t", "ovn-northd", "resume"))).As(finding.Error)
}

func (v *view) findProbeOff() finding.Finding {
	return v.find(finding.NorthdProbeOff, finding.Args{},
		finding.Do(command.Client("config", unitname.Application(v.Unit), OptionInactivityProbe+"=60")))
}

// NorthdReport is a unit's report on its ovn-northd.
type NorthdReport struct {
	Unit string
	// Known is false if the unit may have one that this unit does not know about. A unit that is down is known to have
	// none: its earlier reports don't count.
	Known  bool
	Health ovndb.NorthdHealth
	// Up reports whether the unit is up, and so can answer. Heard is when this unit asked, as the unit has published it
	// with its report.
	Up    bool
	Heard time.Time
}

// NorthdFinding is the state of the application's ovn-northd.
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
	// Hangs is another unit whose ovn-northd hangs, if none is active.
	Hangs string `json:"hangs,omitempty"`
	// Since is when none was first found to be active.
	Since time.Time `json:"since,omitzero"`
	// Standby reports whether another unit reports one that can take over.
	Standby bool `json:"standby,omitempty"`
	// Asked is when this unit asked the others, by publishing that it finds none active: Juju runs a hook on each.
	// Answered reports whether each unit that is up has reported since.
	Asked    time.Time `json:"asked,omitzero"`
	Answered bool      `json:"answered,omitempty"`
}

// JudgeNorthd determines whether an ovn-northd is active: this unit's own, or one that another unit reports. before is
// the last hook's judgement. If the then active one is now on standby, another has taken its lock, and its unit has yet
// to report that; the same holds if this unit's own has ended or was paused, and another was on standby.
//
// Reports are as old as their units' last hooks. So this unit asks if it finds none active, and again after another
// one's time to take over, which depends on probe.
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

// passedOn reports whether a unit's ovn-northd was active before and another one may be now.
func (n Northd) passedOn(r NorthdReport, standby bool) bool {
	if n.Found != NorthdActive || n.Unit != r.Unit {
		return false
	}
	released := []ovndb.NorthdHealth{ovndb.NorthdDown, ovndb.NorthdHeld, ovndb.NorthdPaused}
	return r.Health == ovndb.NorthdStandby || standby && slices.Contains(released, r.Health)
}

// takeoverProbe replaces an inactivity probe of 0, with which the connection of a dead ovn-northd never ends.
const takeoverProbe = time.Minute

// takeoverTime is the time in which another ovn-northd takes over. A database's server probes a client that was silent
// for the inactivity probe, and closes its connection after the same time again.
func takeoverTime(probe time.Duration) time.Duration {
	if probe <= 0 {
		probe = takeoverProbe
	}
	return 2 * probe
}

// Proved reports whether none was active for longer than another needs to take over, by later reports of each unit that
// is up.
func (n Northd) Proved(probe time.Duration) bool {
	return n.Found == NorthdNone && n.Answered && n.Asked.Sub(n.Since) >= takeoverTime(probe)
}
