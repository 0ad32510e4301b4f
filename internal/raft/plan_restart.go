package raft

import "github.com/ovn-central/ovn-central-operator/internal/finding"

// PlanStop judges that a member goes down for an unknown time, and keeps its vote: those that remain up must be a
// majority of all (rule R1).
func PlanStop(c Change) Plan {
	plan := c.begin()
	peers := c.View.Peers()
	isTarget := func(p Peer) bool { return plan.Target.Short != "" && p.Member.same(plan.Target.Member) }
	if plan.After = quorumOf(peers, nil, isTarget); !c.View.LeaderUp() {
		plan.After.Up = 0
	}
	if plan.Refusal != nil {
		return plan
	}
	if c.refusePending(&plan); plan.Refusal != nil {
		return plan
	}
	// these may go at any moment
	remaining := quorumOf(peers, nil, func(p Peer) bool { return isTarget(p) || p.isAny(c.Pending) })
	remaining.Members += c.mayComeBack(peers)
	switch {
	case !c.View.working().Holds():
		plan.refuseWithoutMajority()
	case !remaining.Holds():
		plan.refuseForQuorum(remaining, peers, isTarget)
	}
	return plan
}

// PlanRestart judges that this server goes down for a moment and comes back: the
// configuration stays as it is, so those that remain up must be a majority of it
// (rule R1). Of two members none can restart without a standstill; that is
// permitted while both are up. Target and Force of the change mean nothing.
func PlanRestart(c Change) Plan {
	plan := Plan{Database: c.Database, Before: c.View.Quorum()}
	s := c.View.Status
	self, member := s.self()
	plan.Target = Peer{Member: self, Up: true}
	peers := c.View.Peers()
	isSelf := func(p Peer) bool { return p.Self }
	if plan.After = quorumOf(peers, nil, isSelf); !c.View.LeaderUp() {
		plan.After.Up = 0
	}
	switch {
	case s.State == JoiningCluster || s.State == LeavingCluster:
		plan.refuse(finding.NotAMember, finding.Args{Detail: string(s.State)})
	case !member:
		plan.refuse(finding.NotAMember, finding.Args{})
	case len(s.Servers) == 1:
		return plan
	case !c.View.LeaderUp():
		plan.refuseWithoutLeader(c.View)
	case !c.View.working().Holds():
		plan.refuseWithoutMajority()
	}
	if plan.Refusal != nil {
		return plan
	}
	if c.refusePending(&plan); plan.Refusal != nil {
		return plan
	}
	// these may go at any moment
	remaining := quorumOf(peers, nil, func(p Peer) bool { return p.Self || p.isAny(c.Pending) })
	remaining.Members += c.mayComeBack(peers)
	if both := remaining.Members == 2 && remaining.Up == 1; !remaining.Holds() && !both {
		plan.refuseForQuorum(remaining, peers, isSelf)
	}
	return plan
}
