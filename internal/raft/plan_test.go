package raft

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// largest is the size of the largest cluster whose states are all tried.
const largest = 7

// everyView calls try with each state of each cluster of up to most members: as the leader sees it, as a follower of
// each member sees it, and without a leader.
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

// count returns the number of members that are up, except those in without.
func count(up []bool, without ...int) (sum int) {
	for i, isUp := range up {
		if isUp && !slices.Contains(without, i) {
			sum++
		}
	}
	return sum
}

// R1, R2: a change is permitted if a majority is up before and after it. A member that leaves or is kicked no longer
// counts; one that stops or restarts does. In a cluster of two, each may restart. A sole member may only restart.
func TestR1_matches_formula(t *testing.T) {
	t.Parallel()
	permitted := map[string]int{}
	everyView(largest, func(v View, leader int, up []bool) {
		n := len(up)
		led := leader != noLeader && up[leader]
		for target := range n {
			remain := count(up, target)
			c := Change{Database: ovndb.NB, View: v, Target: v.Peers()[target].Longest(), Permit: PermitForce}
			for what, x := range map[string]struct {
				judge           func(Change) Plan
				members         int
				applies, enough bool
			}{
				"leave":   {PlanLeave, n - 1, true, 2*remain > n-1},
				"kick":    {PlanKick, n - 1, target != 0, 2*remain > n-1},
				"stop":    {PlanStop, n, true, 2*remain > n},
				"restart": {PlanRestart, n, target == 0, 2*remain > n || n == 2 && remain == 1},
			} {
				if !x.applies {
					continue
				}
				want := finding.Code("")
				switch {
				case n == 1 && what == "restart":
				case n == 1:
					want = finding.SoleMember
				case !led, 2*count(up) <= n:
					want = finding.NoQuorum
				case !x.enough:
					want = finding.QuorumWouldBeLost
				default:
					permitted[what]++
				}
				plan := x.judge(c)
				if got := reason(plan); got != want {
					require.Failf(t, "wrong verdict", "%s of %d of %v, leader %d: %q instead of %q", what, target, up, leader, got,
						want)
				}
				require.Equal(t, memberAddress(target), plan.Target.Address)
				before, after := Quorum{Members: n, Up: count(up)}, Quorum{Members: x.members, Up: remain}
				if !led {
					before.Up, after.Up = 0, 0 // no member is known to be up
				}
				require.Equal(t, before, plan.Before, what)
				require.Equal(t, after, plan.After, what)
			}
		}
	})
	assert.Len(t, permitted, 4)
}

func reason(p Plan) finding.Code {
	if p.Refusal == nil {
		return ""
	}
	if p.NoQuorum() {
		return finding.NoQuorum // whatever the cause
	}
	return p.Refusal.Code
}

func brief(p Plan) string { return findingtest.Brief(*p.Refusal) }

// R1: without a quorum, this unit may be cut off.
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

// R1: if a quorum would be lost, the refusal names all members that are down, and no others.
func TestR1_blockers_are_the_down_members(t *testing.T) {
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

// R2: a kick or a leave of the only member is always refused.
func TestR2_sole_member(t *testing.T) {
	t.Parallel()
	targets := []string{
		"", "z", "zzzz", "a", "a000", string(memberID(0)), "a000" + strings.Repeat("f", 32), string(memberID(1)),
	}
	for _, target := range targets {
		for flags := range 1 << 2 {
			c := Change{
				Database: ovndb.NB, View: viewOf(0, allUp(1)), Target: target, Permit: []Permit{PermitNone, PermitForce}[flags&1],
			}
			if flags&2 != 0 {
				c.UnitInModel = "ovn-central/0"
			}
			assert.Equal(t, finding.SoleMember, reason(PlanLeave(c)), "leave of %q", target)
			assert.NotNil(t, PlanKick(c).Refusal, "kick of %q", target)
		}
	}
	assert.Equal(t, finding.SoleMember, reason(PlanKick(Change{View: viewOf(0, allUp(1)), Target: string(memberID(0))})))
	for _, file := range []string{
		"nb-single-server", "nb-single-after-leave", "nb-ssl-single-after-two-left", "ovs36-nb-single-leaving",
	} {
		s := captureStatus(t, file)
		c := Change{Database: ovndb.NB, View: View{Status: s}, Target: string(s.Server), Permit: PermitForce}
		assert.NotNil(t, PlanLeave(c).Refusal, file)
		assert.NotNil(t, PlanKick(c).Refusal, file)
	}
}

// R3: if two members share four digits, the named one is judged, and the other one counts.
func TestR3_plan_with_shared_digits(t *testing.T) {
	t.Parallel()
	v, answering, silent := twins(3)
	plan := PlanKick(Change{Database: ovndb.NB, View: v, Target: string(silent)})
	require.Nil(t, plan.Refusal)
	assert.Equal(t, memberAddress(2), plan.Target.Address)
	assert.Equal(t, Quorum{Members: 4, Up: 3}, plan.Before)
	assert.Equal(t, Quorum{Members: 3, Up: 3}, plan.After)

	plan = PlanKick(Change{Database: ovndb.NB, View: v, Target: string(answering)})
	require.Equal(t, finding.MemberIsLive, reason(plan), "it is not judged as the other, which is down")
	assert.Equal(t, answering, plan.Target.ID)

	plan = PlanKick(Change{Database: ovndb.NB, View: v, Target: answering.Short(), Permit: PermitForce})
	assert.Equal(t,
		"error MEMBER_AMBIGUOUS nb Value=a001 Count=2 Members=[a001 at tcp:10.0.0.1:6643 a001 at tcp:10.0.0.2:6643]",
		brief(plan))
	assert.Empty(t, plan.Target)
}

// R1: a member that shares its four digits with this server is not mistaken for it.
func TestR1_own_leave(t *testing.T) {
	t.Parallel()
	for _, leader := range []int{0, 2} { // 1 is dead: a leave would lose the quorum
		for _, swapped := range []bool{false, true} {
			v := viewOf(leader, allUp(3, 1))
			rows := v.Status.Servers
			rows[1].Short = memberID(0).Short()
			if swapped {
				rows[0], rows[1] = rows[1], rows[0]
			}
			plan := PlanLeave(Change{Database: ovndb.NB, View: v, Target: string(v.Status.Server)})
			assert.True(t, plan.Target.Self)
			assert.Equal(t, finding.QuorumWouldBeLost, reason(plan))
		}
	}
}

func TestPlan_unknown_target(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"", "beef", string(memberID(5)), memberAddress(1), "A001", " a001"} {
		c := Change{Database: ovndb.NB, View: viewOf(0, allUp(5)), Target: target, Permit: PermitForce}
		assert.NotNil(t, PlanLeave(c).Refusal, "%q", target)
		assert.NotNil(t, PlanKick(c).Refusal, "%q", target)
	}
}
