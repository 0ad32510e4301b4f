package recovery

import (
	"maps"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Action is what this unit does next.
type Action string

// The actions. Each may be interrupted anywhere, and made again.
const (
	// None: nothing is to be done.
	None Action = ""
	// Stop stops this unit's server, and keeps it from being started.
	Stop Action = "stop"
	// Make makes the new cluster beside the file.
	Make Action = "make"
	// Ask asks the units whose requests stand whether they are there. Only where this unit
	// leads.
	Ask Action = "ask"
	// Publish puts the ID of the new cluster in the place of the old one. Only where
	// this unit leads.
	Publish Action = "publish"
	// Withdraw ends this unit's own request.
	Withdraw Action = "withdraw"
	// Release ends that this unit's server was stopped for a request.
	Release Action = "release"
)

// Step is what this unit does next for one database.
type Step struct {
	Action Action
	// For is the unit whose request it is for.
	For string
	// New is the cluster of a Publish.
	New raft.ID
	// Held says that nothing else is to be done about the database: its server stays off.
	Held bool
	// Why is why a request is withdrawn, or what is waited for while the server is held.
	Why finding.Finding
}

// Next is this unit's next step for the database. Nothing is done for a request of a unit whose data could not be read; what
// was stopped for it stays so.
func (s State) Next() Step {
	all := s.standing()
	if _, asked := all[s.Unit]; asked && s.Dying { // the other units take it for over, too
		return s.withdraw(s.finds(finding.RecoveryDying, "", finding.Args{}))
	}
	if len(all) == 0 {
		if s.HeldFor == "" {
			return Step{}
		}
		if p := s.peer(s.HeldFor); p != nil && !p.Read {
			return s.hold(s.HeldFor, Step{Why: s.finds(finding.RecoveryUnread, "", finding.Args{Unit: s.HeldFor})})
		}
		return Step{Action: Release, For: s.HeldFor}
	}
	if s.JujuLeader {
		if s.mustAsk(all) {
			return s.hold(first(all), Step{Action: Ask})
		}
		if unit := s.chosen(all); unit != "" && len(s.Serving) == 0 {
			return s.hold(unit, Step{Action: Publish, New: all[unit].New})
		}
	}
	if own, asked := all[s.Unit]; asked {
		return s.own(own, all)
	}
	unit := first(all)
	switch {
	case s.Own == nil:
		return Step{} // no member of it: nothing here can vote
	case s.Own.Stopped:
		return s.hold(unit, Step{Why: s.waitsFor(unit, all[unit])})
	case s.Dying:
		return Step{} // that unit waits for none that is being removed
	case s.Own.HasRaftLeader && all[unit].Backup == "":
		return Step{} // that unit learns of it, and withdraws
	}
	return Step{Action: Stop, For: unit}
}

// own is the next step for this unit's own request.
func (s State) own(r Request, all map[string]Request) Step {
	by := s.overriddenBy(s.Unit, all)
	switch {
	case r.New != "" && len(s.Serving) > 0 && r.Backup == "":
		return s.withdraw(s.finds(finding.RecoveryHasQuorum, s.Serving[0], finding.Args{}))
	case by != "":
		return s.withdraw(s.goesFirst(r, by))
	case r.New != "" && s.Staged == r.New:
		return s.hold(s.Unit, Step{Why: s.waitsFor(s.Unit, r)})
	case s.Own == nil:
		return s.withdraw(s.hasNothing(r))
	}
	for _, unit := range slices.Sorted(maps.Keys(all)) {
		if unit != s.Unit && !s.givesUp(r, unit) && s.yields(r, unit, all[unit]) {
			return s.withdraw(s.goesFirst(r, unit))
		}
	}
	v := s.Judge(r)
	switch {
	case len(v.Refusals) > 0:
		return s.withdraw(v.Refusals[0])
	case !s.Own.Stopped:
		return Step{Action: Stop, For: s.Unit}
	case len(v.Waiting) > 0:
		return s.hold(s.Unit, Step{Why: v.Waiting[0]})
	}
	return s.hold(s.Unit, Step{Action: Make})
}

// withdraw ends this unit's own request.
func (s State) withdraw(why finding.Finding) Step {
	return Step{Action: Withdraw, For: s.Unit, Why: why}
}

// goesFirst is the finding that the request of another unit goes before this unit's.
func (s State) goesFirst(r Request, unit string) finding.Finding {
	return s.finds(finding.RecoveryRunsElsewhere, "", finding.Args{Unit: unit}, s.without(r, s.Unit, unit))
}

// yields says whether another unit's request goes before this unit's: one that has made its
// cluster, one with newer data, else the one that comes first by name.
func (s State) yields(r Request, unit string, other Request) bool {
	copied := s.copyOf(unit)
	switch {
	case other.New != "":
		return true
	case r.Backup != other.Backup:
		return other.Asked.Before(r.Asked)
	case copied != nil && copied.newer(*s.Own):
		return true
	case copied != nil && s.Own.newer(*copied):
		return false
	}
	return unit < s.Unit
}

func first(all map[string]Request) string { return slices.Min(slices.Collect(maps.Keys(all))) }

// hold keeps this unit's server off, whatever the step is.
func (s State) hold(unit string, step Step) Step {
	step.For = unit
	step.Held = s.Own == nil || s.Own.Stopped
	if step.Held && step.Why.Code == "" {
		step.Why = s.finds(finding.RecoveryHolds, "", finding.Args{Unit: unit})
	}
	return step
}
