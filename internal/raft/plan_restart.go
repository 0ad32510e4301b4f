package raft

import (
	"fmt"
	"slices"
)

// PlanRestart judges that this server goes down for a moment and comes back: the
// configuration stays as it is, so those that remain up must be a majority of it
// (rule R1). Of two members none can restart without a standstill; that is
// permitted while both are up. Target and Force of the change mean nothing.
func PlanRestart(c Change) Plan {
	plan := Plan{Database: c.Database, Before: c.View.Quorum()}
	s := c.View.Status
	self, member := s.self()
	plan.Target = Peer{Member: self, Up: true}
	plan.After = plan.Before
	if i := slices.IndexFunc(c.View.Peers(), func(p Peer) bool { return p.Self }); i >= 0 && c.View.Peers()[i].Up {
		plan.After.Up = max(0, plan.Before.Up-1)
	}
	switch {
	case s.State == JoiningCluster || s.State == LeavingCluster:
		plan.refuse(NotMember, fmt.Sprintf("this unit's server is %q", s.State))
	case !member:
		plan.refuse(NotMember, "this unit's server is not in the cluster's configuration")
	case len(s.Servers) == 1:
		return plan
	case !c.View.LeaderUp():
		plan.refuse(NoQuorum, c.View.noLeaderText())
	case !plan.Before.Holds():
		plan.refuse(NoQuorum, "no majority is up: "+plan.Before.String())
	}
	if plan.Refusal != nil {
		return plan
	}
	if phase := c.pendingPhase(plan.Target); phase != "" {
		plan.refuse(ChangePending, phase)
		return plan
	}
	remaining := plan.After
	remaining.Members += c.mayComeBack(c.View.Peers())
	var down []Peer
	for _, p := range c.View.Peers() {
		switch {
		case p.Self:
		case !p.Up:
			down = append(down, p)
		case p.isAny(c.Pending): // it may go at any moment
			remaining.Up--
		}
	}
	if both := remaining.Members == 2 && remaining.Up == 1; !remaining.Holds() && !both {
		plan.refuse(WouldLoseQuorum, fmt.Sprintf("of %d members %d are up; while this unit's server is down there would be %s",
			plan.Before.Members, plan.Before.Up, remaining))
		if plan.Refusal.Blockers = down; len(down) > 0 {
			plan.Refusal.Text += "; down: " + list(down)
		}
	}
	return plan
}
