package raft

import "github.com/ovn-central/ovn-central-operator/internal/finding"

// PlanStop judges that a member goes down for an unknown time, and keeps its vote: those that remain up must be a
// majority of all (rule R1).
func PlanStop(c Change) Plan { return c.finish(c.begin(), stops) }

// PlanRestart judges that this server goes down for a moment and comes back: the configuration stays as it is, so those
// that remain up must be a majority of it (rule R1). Of two members neither can restart without a standstill; that is
// permitted while both are up. Target and Permit of the change are ignored.
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
