package recovery

import (
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Action is what this unit does next.
type Action string

// The actions. Each may be interrupted anywhere, and made again.
const (
	// None: there is nothing to do.
	None Action = ""
	// Stop stops this unit's server, and keeps it from being started.
	Stop Action = "stop"
	// Make makes the new cluster beside the file.
	Make Action = "make"
	// Accept publishes that a request is accepted, and asks its unit whether it is there. Only where this unit
	// leads.
	Accept Action = "accept"
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
	// Held reports whether the server must stay off; then nothing else is done about the database.
	Held bool
	// Why is why a request is withdrawn, or what the unit waits for while the server is held.
	Why finding.Finding
}

// Waits is what the step waits for; is reports whether that must be shown.
func (s Step) Waits() (f finding.Finding, is bool) {
	return s.Why, s.Held || s.Action == None && s.Why.Code != ""
}

// Next is this unit's next step for the database. Nothing is done for a request that is not accepted, or of a unit
// whose data could not be read; what was stopped for it stays so.
func (s State) Next() Step {
	all := s.standing()
	own, asked := all[s.Unit]
	if asked && s.Dying { // the other units take it for over, too
		return s.withdraw(s.finds(finding.RecoveryDying, "", finding.Args{}))
	}
	unit, r, accepted := s.accepted(all)
	if s.JujuLeader {
		if next := s.toAccept(all); next != "" {
			return s.hold(next, Step{Action: Accept})
		}
		if accepted && s.mayPublish(unit, r) {
			return s.hold(unit, Step{Action: Publish, New: r.New})
		}
	}
	switch {
	case accepted && unit == s.Unit:
		return s.carryOut(own)
	case asked:
		if accepted && !s.replaces(s.Unit, own, unit, r) {
			return s.withdraw(s.goesFirst(own, unit))
		}
		return s.await(own)
	case !accepted:
		return s.release()
	case s.Own == nil:
		return Step{} // no member of it: nothing here can vote
	case s.Own.Stopped:
		return s.hold(unit, Step{Why: s.waitsFor(unit, r)})
	case s.Dying:
		return Step{} // that unit waits for none that is being removed
	case s.Own.HasRaftLeader && r.Backup == "":
		return Step{} // that unit learns of it, and withdraws
	}
	return Step{Action: Stop, For: unit}
}

// release ends that this unit's server is stopped, once no request is accepted.
func (s State) release() Step {
	if s.HeldFor == "" {
		return Step{}
	}
	of := []string{s.HeldFor}
	if s.request() != "" {
		of = append(of, s.Accepted.Unit)
	}
	for _, unit := range of {
		if p := s.peer(unit); p != nil && !p.Read {
			return s.hold(unit, Step{Why: s.finds(finding.RecoveryUnread, "", finding.Args{Unit: unit})})
		}
	}
	return Step{Action: Release, For: s.HeldFor}
}

// await is the next step for this unit's own request r before it is accepted.
func (s State) await(r Request) Step {
	if v := s.Judge(r); len(v.Refusals) > 0 {
		return s.withdraw(v.Refusals[0])
	}
	if s.HeldFor == "" {
		return Step{Why: s.unaccepted()}
	}
	return s.hold(s.Unit, Step{Why: s.unaccepted()})
}

// carryOut is the next step for this unit's own request, which is accepted.
func (s State) carryOut(r Request) Step {
	switch {
	case r.New != "" && len(s.Serving) > 0 && r.Backup == "":
		return s.withdraw(s.finds(finding.RecoveryHasQuorum, s.Serving[0], finding.Args{}))
	case r.New != "" && s.Staged == r.New && len(s.leaving(r)) == 0 && s.unitAhead(s.Unit, r) == "":
		return s.hold(s.Unit, Step{Why: s.waitsFor(s.Unit, r)})
	case s.Own == nil:
		return s.withdraw(s.hasNothing(r))
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

// goesFirst is the finding that the request of another unit goes before this unit's, with how to withdraw that one.
func (s State) goesFirst(r Request, unit string) finding.Finding {
	takeBack := command.Command{Unit: unit, Action: "recover", Params: []command.Param{{Key: "withdraw", Value: "true"}}}
	return s.finds(finding.RecoveryRunsElsewhere, "", finding.Args{Unit: unit}, finding.If(finding.ToRunInstead, takeBack),
		s.without(r, s.Unit, unit))
}

// hold keeps this unit's server off, whatever the step is.
func (s State) hold(unit string, step Step) Step {
	step.For = unit
	step.Held = s.Own == nil || s.Own.Stopped
	if step.Held && step.Why.Code == "" {
		step.Why = s.finds(finding.RecoveryHolds, "", finding.Args{Unit: unit})
	}
	return step
}
