package raft

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Change is a leave or a kick of one member, to be judged.
type Change struct {
	Database ovndb.Database
	View     View
	// Target is the ID of the member that goes, in the longest form known.
	Target string
	// UnitInModel is the target's unit if it is still in the model; otherwise empty.
	UnitInModel string
	// Permit lifts refusals of rule R4, and no others.
	Permit Permit
	// Pending are the members that a unit has begun to remove and has not seen removed (rule R5). Members that are only
	// taken down are in [View.Down].
	Pending []ID
}

// Permit is the action parameter that permits a kick that rule R4 refuses.
type Permit string

// The values of Permit, from the weakest to the strongest.
const (
	// PermitNone permits to kick only a member that is down and belongs to no unit of the model.
	PermitNone Permit = ""
	// PermitUnitInModel also permits to kick a member whose unit is in the model, if the member is down.
	PermitUnitInModel Permit = "unit-in-model"
	// PermitForce also permits to kick a member that is up.
	PermitForce Permit = "force"
)

// WeakestPermit returns the weakest permit that a kick needs, for a printed command. With the weakest one, the
// command does not remove a member that has come back up in the meantime. ok is false if no permit is enough.
func WeakestPermit(c Change) (p Permit, ok bool) {
	for _, c.Permit = range []Permit{PermitNone, PermitUnitInModel, PermitForce} {
		if PlanKick(c).Refusal == nil {
			return c.Permit, true
		}
	}
	return PermitForce, false
}

// Stronger returns the stronger of two permits.
func (p Permit) Stronger(o Permit) Permit {
	if o == PermitForce || p == PermitNone {
		return o
	}
	return p
}

// Plan is a judged change: the quorum before and after it, and the refusal, if any. A dry run shows the plan.
type Plan struct {
	Database      ovndb.Database
	Target        Peer
	Before, After Quorum
	// Refusal is the reason why the change is refused; nil if it is permitted.
	Refusal *finding.Finding
	// Blockers are the members whose being down is why the change is refused.
	Blockers []Peer
	// Warnings don't prevent the change.
	Warnings []finding.Finding
}

// PlanLeave judges the leave of a member by rules R1, R2, R5 and R11. The member is this server's own or, to explain
// what another unit waits for, that unit's.
func PlanLeave(c Change) Plan {
	return c.finish(c.begin(), goes)
}

// PlanKick judges a kick of another member by rules R1 to R5 and R11. [Resolve] must have found the target in a view
// of the same cluster.
func PlanKick(c Change) Plan {
	plan := c.begin()
	t := plan.Target
	switch {
	case plan.Refusal != nil:
	case t.Self:
		plan.refuse(finding.OwnMember, finding.Args{Member: t.server()})
	case c.UnitInModel != "" && c.Permit == PermitNone:
		plan.refuse(finding.UnitInModel, finding.Args{Member: t.server(), Unit: c.UnitInModel})
	case t.Runs() && c.Permit != PermitForce:
		plan.refuse(finding.MemberIsLive, finding.Args{Member: t.server()})
	}
	return c.finish(plan, goes)
}

// begin finds the target and makes the checks that every change needs: this server works as a member, it is not the
// only member, and the target is exactly one member.
func (c Change) begin() Plan {
	plan := Plan{Database: c.Database, Before: c.View.Quorum()}
	targets := c.targets()
	if len(targets) == 1 {
		plan.Target = targets[0]
	}
	s := c.View.Status
	switch self, member := s.self(); {
	case len(s.Servers) == 1 && member:
		plan.refuse(finding.SoleMember, finding.Args{Member: Peer{Member: self}.server()})
	case s.State == JoiningCluster || s.State == LeavingCluster:
		plan.refuse(finding.NotAMember, finding.Quote(string(s.State)).Args())
	case !c.View.LeaderUp():
		plan.refuseWithoutLeader(c.View)
	case !member:
		plan.refuse(finding.NotAMember, finding.Args{})
	case len(targets) == 0:
		plan.refuse(finding.UnknownMember, finding.Args{Value: c.Target})
	case len(targets) > 1:
		plan.refuse(finding.MemberAmbiguous, finding.Args{Value: c.Target, Count: len(targets), Members: servers(targets)})
	}
	return plan
}

// targets returns the members of the view that Target may mean.
func (c Change) targets() []Peer {
	if len(c.Target) < minIDDigits {
		return nil
	}
	return matching(c.Target, c.View.Peers())
}

// departure is the kind of a change: the target leaves the cluster, stops, or restarts at once.
type departure int

const (
	goes departure = iota
	stops
	restarts
)

// finish applies R1, R5 and R11 to a plan that no other rule refuses.
func (c Change) finish(plan Plan, how departure) Plan {
	peers := c.View.Peers()
	isTarget := func(p Peer) bool { return plan.Target.Short != "" && p.Member.same(plan.Target.Member) }
	after := func(affected func(Peer) bool) Quorum {
		if how != goes {
			return quorumOf(peers, nil, affected)
		}
		return quorumOf(peers, affected, nil)
	}
	plan.After = after(isTarget)
	if !c.View.LeaderUp() {
		plan.After.Up = 0 // no member is known to be up
	}
	if plan.Refusal == nil {
		c.refusePending(&plan)
	}
	if plan.Refusal != nil {
		return plan
	}
	// Assume the worst outcome of each pending change: members that are up go, members that are down stay, and members
	// that an uncommitted entry has removed come back.
	worst := after(func(p Peer) bool { return isTarget(p) || (p.Up || p.OneWay) && p.isAny(c.Pending) })
	worst.Members += c.mayComeBack(peers)
	switch {
	case !c.View.working().Holds():
		plan.refuseWithoutMajority()
	case how == restarts && worst.Members == 2 && worst.Up == 1: // if either restarts, no entry is committed
	case !worst.Holds():
		plan.refuseForQuorum(worst, peers, isTarget)
	}
	if how == goes {
		plan.explain(worst)
	}
	return plan
}

// explain adds the causes of a refusal, or warnings, to the plan of a leave or kick.
func (p *Plan) explain(worst Quorum) {
	cause := finding.RemovalMayFollow
	if worst.Members > p.After.Members {
		cause = finding.RemovalMayBeUndone
	}
	n := p.After.Members
	switch {
	case p.Refusal == nil && (n < 3 || n%2 == 0):
		p.Warnings = append(p.Warnings, finding.Of(finding.FewWouldStay, p.Database,
			finding.Args{Count: n, Total: (n - 1) / 2}))
	case p.Refusal != nil && p.Refusal.Code == finding.QuorumWouldBeLost && worst != p.After:
		p.Refusal.Causes = []finding.Finding{finding.New(cause, finding.Subject{}, finding.Args{})}
	}
}

// mayComeBack counts the pending members that an uncommitted entry has removed.
func (c Change) mayComeBack(peers []Peer) (n int) {
	if c.View.Status.NotCommitted == 0 {
		return 0
	}
	for _, id := range c.Pending {
		if !slices.ContainsFunc(peers, func(p Peer) bool { return p.Is(id) }) {
			n++
		}
	}
	return n
}

// refusePending refuses while the server itself has another change under way. A joining server that still catches up
// has no vote yet and hinders no change. Only a leader's phases count: a former leader shows the phases of its last
// term for as long as it runs (raft_become_follower() and raft_run_reconfigure() in ovsdb/raft.c). Its configuration
// already has the outcome of those changes.
func (c Change) refusePending(plan *Plan) {
	s := c.View.Status
	if s.Role != Leader {
		return
	}
	for _, m := range slices.Concat(s.Removing, s.Servers) {
		if m.Phase != "" && m.Short != plan.Target.Short {
			plan.refuse(finding.ChangePending, finding.Args{
				Member: finding.Server{ID: m.Short, Address: m.Address}, Value: string(m.Phase),
			})
			return
		}
	}
}

// same reports whether two rows are of one member. Two members may share their four digits or their address.
func (m Member) same(o Member) bool {
	return m.Short == o.Short && m.Address == o.Address && m.Self == o.Self
}

// PlanStop judges the stop of a member for an unknown time. The member keeps its vote, so the remaining members that
// are up must be a majority of all (rule R1).
func PlanStop(c Change) Plan { return c.finish(c.begin(), stops) }

// PlanRestart judges a restart of this server. It stays a member, so the remaining members that are up must be a
// majority of all (rule R1). In a cluster of two, any restart causes a standstill, which is permitted while both are
// up. PlanRestart ignores Target and Permit.
func PlanRestart(c Change) Plan {
	plan := Plan{Database: c.Database, Before: c.View.Quorum()}
	s := c.View.Status
	self, member := s.self()
	plan.Target = Peer{Member: self, Up: true}
	switch {
	case s.State == JoiningCluster || s.State == LeavingCluster:
		plan.refuse(finding.NotAMember, finding.Quote(string(s.State)).Args())
	case !member:
		plan.refuse(finding.NotAMember, finding.Args{})
	case len(s.Servers) == 1:
		plan.After = Quorum{Members: 1}
		return plan
	case !c.View.LeaderUp():
		plan.refuseWithoutLeader(c.View)
	case !c.View.working().Holds():
		plan.refuseWithoutMajority()
	}
	return c.finish(plan, restarts)
}
