package plan

import (
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

func (s State) activeElsewhere() bool {
	return s.Northds.Found == NorthdActive && s.Northds.Unit != s.Unit
}

// waitsForRestart reports whether ovn-northd keeps its old parameters for now. A restart of the active one passes the
// lock on, and a session of a machine that has died gets it if it has waited longest: SB's server holds that session
// until the inactivity probe ends it.
func (s State) waitsForRestart() bool {
	ago := s.Now.Sub(s.Northds.Lost)
	return s.NorthdParams == NeedsRestart && s.Northd == ovndb.NorthdActive && s.Pending[ovndb.Northd] == "" &&
		ago >= 0 && ago < takeoverTime(s.Settings.InactivityProbe)
}

func (s State) release() finding.Remedy { return finding.Do(s.action("release-northd")) }

// findNoNorthd returns an error only if no other ovn-northd has taken over in time.
func (v *view) findNoNorthd(why finding.Reason, remedies ...finding.Remedy) finding.Finding {
	f := v.find(finding.NorthdNoneActive, why.Args(), remedies...)
	if v.Northds.Proved(v.Settings.InactivityProbe) {
		f = f.As(finding.Error)
	}
	return f
}

// findNoneActive names the unit whose ovn-northd hangs, if that unit reports it. Otherwise another ovn-northd takes
// over by itself, unless that already took too long.
func (v *view) findNoneActive() finding.Finding {
	switch probe, hangs := v.Settings.InactivityProbe, v.Northds.Hangs; {
	case hangs != "":
		return v.findNoNorthd(finding.Reason{Code: finding.NorthdHangsOn, Name: hangs},
			finding.If(finding.IfThisLasts, RestartOn(hangs, ovndb.Northd)))
	case v.Northds.Proved(probe):
		return v.findNoNorthd(finding.Reason{}, finding.Remedy{When: finding.IfThisLasts, Deed: finding.RestartNorthd})
	default:
		by := v.Northds.Since.Add(takeoverTime(probe))
		if !v.Now.Before(by) { // do not promise a time that is over
			return v.findNoNorthd(finding.Reason{Code: finding.NorthdLastSeen})
		}
		return v.findNoNorthd(finding.Reason{Code: finding.NorthdTakesOver, Value: by.UTC().Format(time.TimeOnly)})
	}
}

func (v *view) findHungNorthd(why finding.Reason) finding.Finding {
	return v.find(finding.NorthdHangs, why.Args(), finding.Do(RestartOn(v.Unit, ovndb.Northd)))
}

func (v *view) findNorthdDown() finding.Finding {
	if v.activeElsewhere() {
		return v.find(finding.NorthdDown, finding.Args{})
	}
	return v.findNoNorthd(finding.Reason{Code: finding.NorthdStopped})
}

func (v *view) findProbeOff() finding.Finding {
	return v.find(finding.NorthdProbeOff, finding.Args{},
		finding.Do(command.Client("config", unitname.Application(v.Unit), OptionInactivityProbe+"=60")))
}

// An ovn-northd runs beside the servers of each unit; one is active in the whole application. An ovn-northd that
// hangs is not restarted: an operator may be examining it, and the others take over.
var northdRules = slices.Concat([]rule{
	{
		name: "ovn-northd's parameters differ",
		when: func(v *view) bool {
			return (v.NorthdParams == Drifted || v.NorthdParams == NeedsRestart) && !v.waitsForRestart()
		},
		step: do(WriteNorthdParams),
	},
	{
		name: "inactivity probe is off", // after a machine lost its power, only the probe ends the lock of its ovn-northd
		when: func(v *view) bool { return v.Settings.InactivityProbe == 0 && v.Usable(OptionInactivityProbe) },
		find: (*view).findProbeOff,
	},
}, given(northd, func(v *view) bool { return v.NorthdHeld }, []rule{
	{
		name: "held ovn-northd", outranks: true, when: func(v *view) bool { return v.Northds.Found != NorthdNone },
		find: func(v *view) finding.Finding { return v.find(finding.NorthdHeld, finding.Args{}, v.release()) },
	},
	{
		name: "held ovn-northd, none active", outranks: true,
		find: func(v *view) finding.Finding {
			return v.findNoNorthd(finding.Reason{Code: finding.NorthdHeldHere}, v.release())
		},
	},
}), []rule{
	{
		name: "ovn-northd is down", of: northd, outranks: true,
		when: func(v *view) bool { return !v.Services[ovndb.Northd].Active },
		step: startOne(ovndb.Northd, "it was not running"), find: (*view).findNorthdDown,
	},
}, given(northd, func(v *view) bool { return v.Northd == ovndb.NorthdUnresponsive }, []rule{
	{
		name: "ovn-northd hangs, another is active", outranks: true, when: func(v *view) bool { return v.activeElsewhere() },
		find: func(v *view) finding.Finding { return v.findHungNorthd(finding.Reason{Code: finding.NorthdElsewhere}) },
	},
	{
		name: "ovn-northd hangs, no standby", outranks: true, when: func(v *view) bool { return !v.Northds.Standby },
		find: func(v *view) finding.Finding { return v.findHungNorthd(finding.Reason{}).As(finding.Error) },
	},
	{
		name: "ovn-northd hangs", // it keeps the lock until its connection ends
		find: func(v *view) finding.Finding {
			return v.findNoNorthd(finding.Reason{Code: finding.NorthdHangsHere}, finding.Do(RestartOn(v.Unit, ovndb.Northd)))
		},
	},
}), []rule{
	{
		name: "ovn-northd is paused", of: northd, outranks: true, when: func(v *view) bool {
			return v.Northd == ovndb.NorthdPaused && !v.activeElsewhere() && !v.Northds.Standby
		},
		find: func(v *view) finding.Finding {
			return v.find(finding.NorthdPaused, finding.Args{},
				finding.Do(command.OnMachine(v.Unit, "sudo", "ovn-appctl", "-t", "ovn-northd", "resume"))).As(finding.Error)
		},
	},
	{
		name: "no ovn-northd is active", of: northd, // restarting this unit's ovn-northd frees no lock
		when: func(v *view) bool { return v.Northds.Found == NorthdNone }, find: (*view).findNoneActive,
	},
	{
		name: "no ovn-northd is known", of: northd, outranks: true,
		when: func(v *view) bool { return v.Northds.Found == NorthdUnknown && !v.Northd.Works() },
		find: says(finding.NorthdNoneActive),
	},
	{
		name: "services don't start at boot", of: northd,
		when: func(v *view) bool { x := v.Services[ovndb.Umbrella]; return !x.Enabled || !x.Active },
		step: startOne(ovndb.Umbrella, "the services must start at boot"),
	},
})
