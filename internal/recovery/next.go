package recovery

import (
	"fmt"
	"maps"
	"slices"

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
	// Reason is why a request is withdrawn.
	Reason string
	// Held says that nothing else is to be done about the database: its server stays off.
	// Waiting is what for, in one line.
	Held    bool
	Waiting string
	// Unread says that it is held since nothing could be read of the unit whose request it was stopped for.
	Unread bool
}

// Next is this unit's next step for the database. Nothing is done for a request of a unit whose data could not be read; what
// was stopped for it stays so.
func (s State) Next() Step {
	all := s.standing()
	if _, asked := all[s.Unit]; asked && s.Dying { // the other units take it for over, too
		return Step{Action: Withdraw, For: s.Unit, Reason: s.Database.Short() + ": this unit is being removed, and makes no new cluster"}
	}
	if len(all) == 0 {
		if s.HeldFor == "" {
			return Step{}
		}
		if p := s.peer(s.HeldFor); p != nil && !p.Read {
			return s.hold(s.HeldFor, Step{Waiting: "what that unit publishes could not be read", Unread: true})
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
		return s.hold(unit, Step{Waiting: s.waitingText(unit, all)})
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
		return Step{Action: Withdraw, For: s.Unit, Reason: fmt.Sprintf("%s: the cluster has a quorum again: it is served at %s; the new one is not published", s.Database.Short(), s.Serving[0])}
	case by != "":
		return Step{Action: Withdraw, For: s.Unit, Reason: fmt.Sprintf("%s: a recovery or restore on %s gives this unit up, and goes first", s.Database.Short(), by)}
	case r.New != "" && s.Staged == r.New:
		return s.hold(s.Unit, Step{Waiting: s.waitingText(s.Unit, all)})
	case s.Own == nil:
		return Step{Action: Withdraw, For: s.Unit, Reason: s.Database.Short() + ": this unit has no copy any more"}
	}
	for _, unit := range slices.Sorted(maps.Keys(all)) {
		if unit != s.Unit && !s.givesUp(r, unit) && s.yields(r, unit, all[unit]) {
			return Step{Action: Withdraw, For: s.Unit, Reason: fmt.Sprintf("%s: a recovery or restore on %s goes first; if that unit is lost for good, add it to give-up", s.Database.Short(), unit)}
		}
	}
	v := s.Judge(r)
	switch {
	case len(v.Refusals) > 0:
		return Step{Action: Withdraw, For: s.Unit, Reason: v.Refusals[0].alone()}
	case !s.Own.Stopped:
		return Step{Action: Stop, For: s.Unit}
	case len(v.Waiting) > 0:
		return s.hold(s.Unit, Step{Waiting: v.Waiting[0][len(s.Database.Short()+": "):]})
	}
	return s.hold(s.Unit, Step{Action: Make})
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
	return step
}
