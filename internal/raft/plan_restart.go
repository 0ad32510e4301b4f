package raft

import "github.com/ovn-central/ovn-central-operator/internal/finding"

// PlanStop judges the stop of a member for an unknown time. It keeps its vote, so the members that remain up must be a
// majority of all (rule R1).
func PlanStop(c Change) Plan { return c.finish(c.begin(), stops) }

// PlanRestart judges a restart of this server. It stays a member, so the members that remain up must be a majority of
// all (rule R1). Neither of two members can restart without a standstill, which is permitted while both are up. Target
// and Permit of the change are ignored.
func PlanRestart(c Change) Plan {
	plan := Plan{Database: c.Database, Before: c.View.Quorum()}
	s := c.View.Status
	self, member := s.self()
	plan.Target = Peer{Member: self, Up: true}
	switch {
	case s.State == JoiningCluster || s.State == LeavingCluster:
		plan.refuse(finding.NotAMember, finding.Args{Detail: string(s.State)})
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
