package raft

import (
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Change is a leave or a kick of one member that is to be judged.
type Change struct {
	Database ovndb.Database
	View     View
	// Target is the ID of the member that goes, in the longest form known.
	Target string
	// UnitInModel is the unit that the target belongs to, where that unit still
	// is in the model; empty otherwise.
	UnitInModel string
	// Permit is what rule R4 otherwise refuses; it permits nothing else.
	Permit Permit
	// Pending are the IDs of members whose own leave or kick was begun by a unit
	// that did not see it end (rule R5): they are judged as if they were going. A member that
	// is taken down and comes back stands in the view.
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

// Plan is a judged change: the arithmetic before and after, and what stands
// against it. It is also what a dry run shows.
type Plan struct {
	Database      ovndb.Database
	Target        Peer
	Before, After Quorum
	Refusal       *Refusal
	// Warnings are what the operator should know but does not stop the change.
	Warnings []string
}

// PlanLeave judges the leave of a member: this server's own, or, to say what another
// unit waits for, another's (rules R1, R2, R5, R11).
func PlanLeave(c Change) Plan {
	return c.finish(c.begin("leaving"))
}

// PlanKick judges a kick of another member (rules R1 to R5, R11). The target is
// to be one that [Resolve] found in a view of the same cluster.
func PlanKick(c Change) Plan {
	plan := c.begin("kicking it")
	t := plan.Target
	switch {
	case plan.Refusal != nil:
	case t.Self:
		plan.refuse(OwnID, fmt.Sprintf("%s is this unit's own server", t.Short))
	case c.UnitInModel != "" && c.Permit == PermitNone:
		plan.refuse(UnitInModel, fmt.Sprintf("%s belongs to %s, which is still in the model", t.Short, c.UnitInModel))
	case t.Runs() && c.Permit != PermitForce:
		plan.refuse(LiveMember, t.Short+" is up, and a member that is up is kicked only with force=true")
	}
	return c.finish(plan)
}

func (p *Plan) refuse(r Reason, text string) {
	p.Refusal = &Refusal{Database: p.Database, Reason: r, Text: text}
}

// begin finds the target and judges what holds for every change: this server
// works as a member, is not the only one, and the target is exactly one.
func (c Change) begin(change string) Plan {
	plan := Plan{Database: c.Database, Before: c.View.Quorum()}
	targets := c.targets()
	if len(targets) == 1 {
		plan.Target = targets[0]
	}
	s := c.View.Status
	switch self, member := s.self(); {
	case len(s.Servers) == 1 && member:
		plan.refuse(SoleMember, fmt.Sprintf("%s is the only member, and %s would make the only copy unusable", self.Short, change))
	case s.State == JoiningCluster || s.State == LeavingCluster:
		plan.refuse(NotMember, fmt.Sprintf("this unit's server is %q", s.State))
	case !c.View.LeaderUp():
		plan.refuse(NoQuorum, c.View.noLeaderText())
	case !member:
		plan.refuse(NotMember, "this unit's server is not in the cluster's configuration")
	case len(targets) == 0:
		plan.refuse(UnknownID, fmt.Sprintf("%s is not a member", c.Target))
	case len(targets) > 1:
		plan.refuse(AmbiguousID, fmt.Sprintf("%s can mean %s", c.Target, list(targets)))
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

func (v View) noLeaderText() string {
	s := v.Status
	if leader, _ := v.Leader(); s.HasLeader() && leader.Short != "" {
		return fmt.Sprintf("its leader %s is not known to be up (%s); an election may be under way", leader.Short, leader.Why)
	}
	return fmt.Sprintf("this unit's server knows no leader (%s, %s): either a majority is down, or this unit is cut off from it", s.State, s.Role)
}

// finish applies R1, R5 and R11 to a plan that nothing else stands against.
func (c Change) finish(plan Plan) Plan {
	peers := c.View.Peers()
	isTarget := func(p Peer) bool { return plan.Target.Short != "" && p.Member.same(plan.Target.Member) }
	plan.After = quorumOf(peers, isTarget, nil)
	if !c.View.LeaderUp() {
		plan.After.Up = 0 // nothing is known from here
	}
	if plan.Refusal != nil {
		return plan
	}
	if phase := c.pendingPhase(plan.Target); phase != "" {
		plan.refuse(ChangePending, phase)
		return plan
	}
	worst := c.worst(peers, isTarget)
	switch {
	case !c.View.working().Holds():
		plan.refuse(NoQuorum, "no majority is up: "+plan.Before.String())
	case !worst.Holds():
		text := fmt.Sprintf("of %d members %d are up; without %s there would be %s",
			plan.Before.Members, plan.Before.Up, plan.Target.Short, worst)
		switch {
		case worst.Members > plan.After.Members:
			text += ", since a removal that is not committed may be undone"
		case worst != plan.After:
			text += ", since a removal that was begun earlier may still be carried out"
		}
		plan.refuse(WouldLoseQuorum, text)
		plan.Refusal.blame(peers, isTarget)
	default:
		plan.warn()
	}
	return plan
}

// worst is the configuration after the change, were every change that is pending
// to end in the way that is worse for the quorum: a member that is up goes, one
// that is down stays, and one that is absent by an entry that is not committed
// comes back.
func (c Change) worst(peers []Peer, isTarget func(Peer) bool) Quorum {
	q := quorumOf(peers, func(p Peer) bool { return isTarget(p) || (p.Up || p.OneWay) && p.isAny(c.Pending) }, nil)
	q.Members += c.mayComeBack(peers)
	return q
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

func (p *Plan) warn() {
	switch n := p.After.Members; {
	case n == 1:
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s: this leaves 1 member, the only copy; fewer than 3 members tolerate no failure", p.Database.Short()))
	case n < 3:
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s: this leaves %d members; fewer than 3 members tolerate no failure", p.Database.Short(), n))
	case n%2 == 0:
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s: this leaves %d members; an even number tolerates no more failures than %d", p.Database.Short(), n, n-1))
	}
}

// pendingPhase says what other change the server itself has under way. A server
// that joins and only catches up has no vote yet and hinders no other. Only a leader takes
// phases further and ends them: one that has lost the leadership shows those that it knew
// then for as long as it runs (raft_become_follower() and raft_run_reconfigure() in
// ovsdb/raft.c), and its configuration has what became of them.
func (c Change) pendingPhase(target Peer) string {
	s := c.View.Status
	if s.Role != Leader {
		return ""
	}
	for _, r := range s.Removing {
		if r.Short != target.Short {
			return fmt.Sprintf("the removal of %s at %s is not finished", r.Short, r.Address)
		}
	}
	for _, m := range s.Servers {
		if m.Phase != "" && m.Short != target.Short {
			return fmt.Sprintf("another change is not finished: cluster/status shows %s at %s as %q", m.Short, m.Address, m.Phase)
		}
	}
	return ""
}

// same says whether two rows are of one member. Only the row as a whole tells
// apart members that share four digits or an address.
func (m Member) same(o Member) bool {
	return m.Short == o.Short && m.Address == o.Address && m.Self == o.Self
}
