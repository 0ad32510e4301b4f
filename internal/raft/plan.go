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
	// UnitInModel is the unit that the target belongs to, if that unit still
	// is in the model; empty otherwise.
	UnitInModel string
	// Permit is what rule R4 otherwise refuses; it permits nothing else.
	Permit Permit
	// Pending are the IDs of members whose own leave or kick was begun by a unit
	// that did not see it end (rule R5): they are judged as if they were leaving. A member that
	// is taken down and comes back is in the view instead.
	Pending []ID
}

// Permit is the parameter by which an operator permits a kick that rule R4 refuses.
type Permit string

// The values of Permit, each of which permits what the one before does, too.
const (
	// PermitNone: only a member that is down, and that belongs to no unit of the model.
	PermitNone Permit = ""
	// PermitUnitInModel: a member that is down.
	PermitUnitInModel Permit = "unit-in-model"
	// PermitForce: a member that is up, too.
	PermitForce Permit = "force"
)

// WeakestPermit is the least that a kick needs, for a command that is printed: once a member that was down is back, the
// command removes it no more. ok is false if no permit is enough.
func WeakestPermit(c Change) (p Permit, ok bool) {
	for _, c.Permit = range []Permit{PermitNone, PermitUnitInModel, PermitForce} {
		if PlanKick(c).Refusal == nil {
			return c.Permit, true
		}
	}
	return PermitForce, false
}

// Stronger is the one of two permits that permits more.
func (p Permit) Stronger(o Permit) Permit {
	if o == PermitForce || p == PermitNone {
		return o
	}
	return p
}

// Plan is a judged change: the arithmetic before and after, and why the change
// is refused, if it is. A dry run shows the plan.
type Plan struct {
	Database      ovndb.Database
	Target        Peer
	Before, After Quorum
	// Refusal is why the change must not be made; nil if it may.
	Refusal *finding.Finding
	// Blockers are the members whose being down is in the way.
	Blockers []Peer
	// Warnings are what the operator should know but does not stop the change.
	Warnings []finding.Finding
}

// PlanLeave judges the leave of a member: this server's own or, to explain what another unit waits for, another's
// (rules R1, R2, R5, R11).
func PlanLeave(c Change) Plan {
	return c.finish(c.begin(), goes)
}

// PlanKick judges a kick of another member (rules R1 to R5, R11). The target is
// to be one that [Resolve] found in a view of the same cluster.
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

// begin finds the target and judges what holds for every change: this server
// works as a member, is not the only one, and the target is exactly one.
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
		plan.refuse(finding.NotAMember, finding.Args{Detail: string(s.State)})
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

// targets are the members of the view that Target can mean.
func (c Change) targets() []Peer {
	if len(c.Target) < minIDDigits {
		return nil
	}
	return matching(c.Target, c.View.Peers())
}

// departure is what happens to the target: it goes for good, stops, or restarts at once. Unless it goes, it stays a
// member.
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
		plan.After.Up = 0 // nothing is known from here
	}
	if plan.Refusal == nil {
		c.refusePending(&plan)
	}
	if plan.Refusal != nil {
		return plan
	}
	// Every pending change may end in the way that is worse for the quorum: a member that is up goes, one that is down
	// stays, and one that is absent by an entry that is not committed comes back.
	worst := after(func(p Peer) bool { return isTarget(p) || (p.Up || p.OneWay) && p.isAny(c.Pending) })
	worst.Members += c.mayComeBack(peers)
	switch {
	case !c.View.working().Holds():
		plan.refuseWithoutMajority()
	case how == restarts && worst.Members == 2 && worst.Up == 1: // neither of two can restart without a standstill
	case !worst.Holds():
		plan.refuseForQuorum(worst, peers, isTarget)
	}
	if how == goes {
		plan.explain(worst)
	}
	return plan
}

// explain adds to a plan by which a member goes for good the causes of its refusal, or warnings.
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

// mayComeBack counts the pending members that are absent by an entry that is not
// committed yet.
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

// refusePending refuses while the server itself has another change under way. A server
// that joins and only catches up has no vote yet and hinders no other. Only a leader takes
// phases further and ends them: one that has lost the leadership shows those that it knew
// then for as long as it runs (raft_become_follower() and raft_run_reconfigure() in
// ovsdb/raft.c), and its configuration has what became of them.
func (c Change) refusePending(plan *Plan) {
	s := c.View.Status
	if s.Role != Leader {
		return
	}
	for _, r := range s.Removing {
		if r.Short != plan.Target.Short {
			plan.refuse(finding.ChangePending, finding.Args{
				Member: finding.Server{ID: r.Short, Address: r.Address},
				Value:  string(r.Phase),
			})
			return
		}
	}
	for _, m := range s.Servers {
		if m.Phase != "" && m.Short != plan.Target.Short {
			plan.refuse(finding.ChangePending, finding.Args{Member: Peer{Member: m}.server(), Value: string(m.Phase)})
			return
		}
	}
}

// same reports whether two rows are of one member. Only the row as a whole tells
// apart members that share four digits or an address.
func (m Member) same(o Member) bool {
	return m.Short == o.Short && m.Address == o.Address && m.Self == o.Self
}
