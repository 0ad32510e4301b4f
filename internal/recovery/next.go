package recovery

import (
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Action is the action of a [Step].
type Action string

// The actions. Each may be interrupted at any point, and repeated. Only Juju's leader performs Accept and Publish.
const (
	None Action = ""
	// Stop stops this unit's server, and keeps it from being started.
	Stop Action = "stop"
	// Make makes the new cluster beside the database's file.
	Make Action = "make"
	// Accept publishes the acceptance of a request, which asks its unit for an answer.
	Accept Action = "accept"
	// Publish replaces the ID of the old cluster with the ID of the new one.
	Publish Action = "publish"
	// Withdraw ends this unit's own request.
	Withdraw Action = "withdraw"
	// Release permits this unit's server to start again.
	Release Action = "release"
)

// Step is this unit's next step for one database.
type Step struct {
	Action Action
	// For is the unit that has the request.
	For string
	// New is the cluster that a Publish publishes.
	New raft.ID
	// Held reports whether the server must stay off; then nothing else is done about the database.
	Held bool
	// Why explains why a request is withdrawn, or why the unit waits.
	Why finding.Finding
}

// Waits returns why the unit waits; is reports whether that must be shown.
func (s Step) Waits() (f finding.Finding, is bool) {
	return s.Why, s.Held || s.Action == None && s.Why.Code != ""
}

// Next returns this unit's next step for the database. A request that is not accepted, or that could not be read,
// causes no step; servers that were stopped for it stay stopped.
func (s State) Next() Step {
	all := s.standing()
	own, asked := all[s.Unit]
	if asked && s.Dying { // the other units ignore its request, too
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
		return Step{} // no server here can vote
	case s.Own.Stopped:
		return s.hold(unit, Step{Why: s.waitsFor(unit, r)})
	case s.Dying:
		return Step{} // recoveries don't wait for a unit that is being removed
	case s.Own.HasRaftLeader && r.Backup == "":
		return Step{} // the unit with the request will see the leader, and withdraw
	}
	return Step{Action: Stop, For: unit}
}

// release permits this unit's server to start, since no request is accepted.
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

// await returns the next step for this unit's own request before it is accepted.
func (s State) await(r Request) Step {
	if v := s.Judge(r); len(v.Refusals) > 0 {
		return s.withdraw(v.Refusals[0])
	}
	if s.HeldFor == "" {
		return Step{Why: s.unaccepted()}
	}
	return s.hold(s.Unit, Step{Why: s.unaccepted()})
}

// carryOut returns the next step for this unit's own accepted request.
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

func (s State) withdraw(why finding.Finding) Step {
	return Step{Action: Withdraw, For: s.Unit, Why: why}
}

// goesFirst returns the finding that another unit's request precedes this unit's, with the command that withdraws it.
func (s State) goesFirst(r Request, unit string) finding.Finding {
	return s.finds(finding.RecoveryRunsElsewhere, "", finding.Args{Unit: unit},
		finding.If(finding.ToRunInstead, takeBack(unit)), s.without(r, s.Unit, unit))
}

// takeBack returns the command that withdraws a unit's request.
func takeBack(unit string) command.Command {
	return command.Command{Unit: unit, Action: "recover", Params: []command.Param{{Key: "withdraw", Value: "true"}}}
}

// hold returns the step with this unit's server kept off.
func (s State) hold(unit string, step Step) Step {
	step.For = unit
	step.Held = s.Own == nil || s.Own.Stopped
	if step.Held && step.Why.Code == "" {
		step.Why = s.finds(finding.RecoveryHolds, "", finding.Args{Unit: unit})
	}
	return step
}
