package raft

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// largest is the size up to which plans are tried out in every case.
const largest = 7

// everyView calls try with each cluster of up to most members in each state of
// health, as a leader sees it, a follower of each member, and one without leader.
func everyView(most int, try func(v View, leader int, up []bool)) {
	for n := 1; n <= most; n++ {
		for bits := range 1 << n {
			up := pattern(bits, n)
			for leader := noLeader; leader < n; leader++ {
				// A member that has a leader is up, and a member that is up has a leader.
				if up[0] == (leader != noLeader) {
					try(viewOf(leader, up), leader, up)
				}
			}
		}
	}
}

// count is how many of up are true, but for those that are without.
func count(up []bool, without ...int) (sum int) {
	for i, isUp := range up {
		gone := false
		for _, w := range without {
			gone = gone || i == w
		}
		if isUp && !gone {
			sum++
		}
	}
	return sum
}

// R1, R2: a change is allowed if more than half of the members are up now, and
// more than half of those that remain will be; and never in a cluster of one.
func TestR1_matches_formula(t *testing.T) {
	t.Parallel()
	everyView(largest, func(v View, leader int, up []bool) {
		n := len(up)
		led := leader != noLeader && up[leader]
		for target := range n {
			now, then := 2*count(up) > n, 2*count(up, target) > n-1
			want := map[bool]finding.Code{true: "", false: finding.QuorumWouldBeLost}[then]
			switch {
			case n == 1:
				want = finding.SoleMember
			case !led, !now:
				want = finding.NoQuorum
			}
			c := Change{Database: ovndb.NB, View: v, Target: v.Peers()[target].Longest(), Permit: PermitForce}
			plans := map[string]Plan{"leave": PlanLeave(c)}
			if target != 0 {
				plans["kick"] = PlanKick(c)
			}
			for what, plan := range plans {
				if got := reason(plan); got != want {
					require.Failf(t, "wrong verdict", "%s of %d of %v, leader %d: %q instead of %q", what, target, up, leader, got, want)
				}
				require.Equal(t, memberAddress(target), plan.Target.Address)
				before, after := Quorum{Members: n, Up: count(up)}, Quorum{Members: n - 1, Up: count(up, target)}
				if !led {
					before.Up, after.Up = 0, 0 // no member is known to be up
				}
				require.Equal(t, before, plan.Before)
				require.Equal(t, after, plan.After)
			}
		}
	})
}

func reason(p Plan) finding.Code {
	if p.Refusal == nil {
		return ""
	}
	if p.NoQuorum() {
		return finding.NoQuorum // in whichever way
	}
	return p.Refusal.Code
}

func brief(p Plan) string { return findingtest.Brief(*p.Refusal) }

// R1: without a quorum it may be this unit that is cut off.
func TestR1_without_quorum_names_no_dead_member(t *testing.T) {
	t.Parallel()
	everyView(5, func(v View, _ int, up []bool) {
		for target := range up {
			plan := PlanLeave(Change{Database: ovndb.SB, View: v, Target: string(memberID(target))})
			if reason(plan) != finding.NoQuorum {
				continue
			}
			for i, p := range v.Peers() {
				if string(v.Status.Leader) != p.Short {
					require.NotContains(t, brief(plan), p.Short, "member %d of %v", i, up)
				}
			}
			require.Empty(t, plan.Refusal.Args.Down)
			require.Empty(t, plan.Blockers)
		}
	})
}

// R1: if a quorum would be lost, the refusal names exactly the members that are down.
func TestR1WhoIsInTheWayIsNamed(t *testing.T) {
	t.Parallel()
	seen := 0
	everyView(largest, func(v View, _ int, up []bool) {
		for target := range up {
			c := Change{Database: ovndb.SB, View: v, Target: v.Peers()[target].Longest()}
			plan := PlanLeave(c)
			if reason(plan) != finding.QuorumWouldBeLost {
				continue
			}
			seen++
			var down []string
			for i, p := range plan.Blockers {
				down = append(down, p.Short)
				require.Equal(t, p.server(), plan.Refusal.Args.Down[i])
			}
			var want []string
			for i, isUp := range up {
				if !isUp && i != target {
					want = append(want, memberID(i).Short())
				}
			}
			require.Equal(t, want, down)
			a := plan.Refusal.Args
			require.Equal(t, []any{len(up), count(up), plan.Target.server()}, []any{a.Total, a.Count, a.Member})
			require.Equal(t, finding.Tally{Up: plan.After.Up, Members: plan.After.Members}, a.After)
		}
	})
	assert.Positive(t, seen)
}

// R2: a kick or a leave of the only member is never sent, whatever is asked for.
func TestR2_sole_member(t *testing.T) {
	t.Parallel()
	targets := []string{"", "z", "zzzz", "a", "a000", string(memberID(0)), "a000" + strings.Repeat("f", 32), string(memberID(1))}
	for _, target := range targets {
		for flags := range 1 << 2 {
			c := Change{Database: ovndb.NB, View: viewOf(0, allUp(1)), Target: target, Permit: []Permit{PermitNone, PermitForce}[flags&1]}
			if flags&2 != 0 {
				c.UnitInModel = "ovn-central/0"
			}
			assert.Equal(t, finding.SoleMember, reason(PlanLeave(c)), "leave of %q", target)
			assert.NotNil(t, PlanKick(c).Refusal, "kick of %q", target)
		}
	}
	assert.Equal(t, finding.SoleMember, reason(PlanKick(Change{View: viewOf(0, allUp(1)), Target: string(memberID(0))})))
	for _, file := range []string{"nb-single-server", "nb-single-after-leave", "nb-ssl-single-after-two-left", "ovs36-nb-single-leaving"} {
		s := captureStatus(t, file)
		c := Change{Database: ovndb.NB, View: View{Status: s}, Target: string(s.Server), Permit: PermitForce}
		assert.NotNil(t, PlanLeave(c).Refusal, file)
		assert.NotNil(t, PlanKick(c).Refusal, file)
	}
}
