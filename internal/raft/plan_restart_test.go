package raft

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// idsOf returns the IDs of the members whose bits are set.
func idsOf(bits, n int) (ids []ID) {
	for i, isSet := range pattern(bits, n) {
		if isSet {
			ids = append(ids, memberID(i))
		}
	}
	return ids
}

// R5: a pending removal may or may not take effect while the server is down.
func TestR5_restart_survives_pending_changes(t *testing.T) {
	t.Parallel()
	refused, permitted := 0, 0
	everyView(5, func(v View, leader int, up []bool) {
		n := len(up)
		if n < 3 || leader == noLeader || !up[leader] || 2*count(up) <= n {
			return
		}
		for pending := range 1 << n {
			if pending&1 != 0 {
				continue // its own leave is pending: it goes anyway
			}
			plan := PlanRestart(Change{Database: ovndb.NB, View: v, Pending: idsOf(pending, n)})
			if plan.Refusal != nil {
				refused++
				continue
			}
			permitted++
			for going := range 1 << n {
				if going&^pending == 0 {
					require.True(t, survives(append([]bool{false}, up[1:]...), going), "%v, pending %b, %b go", up, pending, going)
				}
			}
		}
	})
	assert.Positive(t, refused)
	assert.Positive(t, permitted)
}

// R5: the next leader may undo a removal that is in the log, but not committed. Then there is one more member, and it
// is down.
func TestR5_uncommitted_removal_may_be_undone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		judge   func(Change) Plan
		up      []bool
		pending ID
		after   finding.Tally
	}{
		"restart": {PlanRestart, allUp(3), memberID(3), finding.Tally{Up: 2, Members: 4}},
		"leave":   {PlanLeave, allUp(4, 3), memberID(4), finding.Tally{Up: 2, Members: 4}},
	} {
		change := Change{View: viewOf(0, c.up), Target: string(memberID(0)), Pending: []ID{c.pending}}
		require.Nil(t, c.judge(change).Refusal, "%s: all is committed", name)
		change.View.Status.NotCommitted = 1
		plan := c.judge(change)
		require.Equal(t, finding.QuorumWouldBeLost, reason(plan), name)
		assert.Equal(t, c.after, plan.Refusal.Args.After, name)
		assert.Equal(t, name == "leave", finding.Has(plan.Refusal.Causes, finding.RemovalMayBeUndone))
		change.Pending = nil
		assert.Nil(t, c.judge(change).Refusal, "%s: under load something is never committed", name)
	}
}

func TestRestart_non_member(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*Status)
		want   string
	}{
		"joining": {
			func(s *Status) { s.State = JoiningCluster }, "error NOT_A_MEMBER nb Detail=joining cluster",
		},
		"leaving": {
			func(s *Status) { s.State = LeavingCluster }, "error NOT_A_MEMBER nb Detail=leaving cluster",
		},
		"not in the configuration": {func(s *Status) { s.Servers = s.Servers[1:] }, "error NOT_A_MEMBER nb"},
		"another one is being removed": {
			func(s *Status) {
				s.Removing = []Member{{Short: "a004", Address: "tcp:10.0.0.4:6643", Phase: RemovingPhase}}
			},
			"waiting CHANGE_PENDING nb Value=removing Member=a004 at tcp:10.0.0.4:6643",
		},
		"another one is being added": {
			func(s *Status) { s.Servers[2].Phase = AddingCommitting },
			"waiting CHANGE_PENDING nb Value=adding: committing Member=a002 at tcp:10.0.0.2:6643",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := viewOf(0, allUp(3))
			tt.change(&v.Status)
			plan := PlanRestart(Change{Database: ovndb.NB, View: v})
			assert.Equal(t, tt.want, brief(plan))
		})
	}
}

// R5: a pending removal may or may not take effect. A change is permitted only if the quorum survives every
// combination of outcomes.
func TestR5_pending_changes_count_at_worst(t *testing.T) {
	t.Parallel()
	everyView(5, func(v View, leader int, up []bool) {
		n := len(up)
		if leader > 1 || leader == noLeader || !up[leader] || 2*count(up) <= n || n == 1 {
			return
		}
		for target := range n {
			for pending := range 1 << n {
				want := true
				for going := range 1 << n {
					if going&^pending == 0 && going&(1<<target) == 0 {
						want = want && survives(up, going|1<<target)
					}
				}
				plan := PlanLeave(Change{
					Database: ovndb.NB, View: v, Target: v.Peers()[target].Longest(), Permit: PermitForce,
					Pending: idsOf(pending, n),
				})
				require.Equal(t, want, plan.Refusal == nil, "target %d, pending %b of %v", target, pending, up)
				if !want {
					require.Equal(t, finding.QuorumWouldBeLost, plan.Refusal.Code)
				}
			}
		}
	})
}

// R5: a former leader shows a member as being added for as long as it runs. If that counted, its unit could never be
// removed (found by the soak).
func TestR5_phases_count_on_leader_only(t *testing.T) {
	t.Parallel()
	for leader, want := range map[int]finding.Code{0: finding.ChangePending, 1: ""} {
		for _, phase := range []Phase{AddingCommitting, RemovingPhase} {
			v := viewOf(leader, allUp(4))
			v.Status.Servers[3].Phase = phase
			c := Change{Database: ovndb.NB, View: v, Target: string(memberID(0)), Permit: PermitForce}
			assert.Equal(t, want, reason(PlanLeave(c)), "leader %d, %s", leader, phase)
			c.Target = string(memberID(2))
			assert.Equal(t, want, reason(PlanKick(c)), "leader %d, %s", leader, phase)
			assert.Equal(t, want, reason(PlanRestart(c)), "leader %d, %s", leader, phase)
		}
	}
}

// survives reports whether a majority of the members that are not in going is up.
func survives(up []bool, going int) bool {
	members, alive := 0, 0
	for i, isUp := range up {
		if going&(1<<i) != 0 {
			continue
		}
		members++
		if isUp {
			alive++
		}
	}
	return 2*alive > members
}

// R5, measured: each of two leaves would be permitted alone.
func TestR5_four_members_one_down_two_leave(t *testing.T) {
	t.Parallel()
	for leader := range 3 {
		v := viewOf(leader, allUp(4, 3))
		first := Change{Database: ovndb.NB, View: v, Target: string(memberID(0))}
		require.Nil(t, PlanLeave(first).Refusal)

		second := first
		second.Pending = []ID{memberID(1)}
		plan := PlanLeave(second)
		require.Equal(t, finding.QuorumWouldBeLost, reason(plan))
		assert.Equal(t,
			"error QUORUM_WOULD_BE_LOST nb Count=3 Total=4 After=1/2 Member=a000 at tcp:10.0.0.0:6643 "+
				"Down=[a003 at tcp:10.0.0.3:6643] <- info REMOVAL_MAY_FOLLOW", brief(plan))
		assert.Equal(t, Quorum{Members: 3, Up: 2}, plan.After, "what is shown is the change itself")

		// A member whose own leave is pending may continue it.
		own := first
		own.Pending = []ID{memberID(0)}
		require.Nil(t, PlanLeave(own).Refusal)
	}
}

// R5: the target is not a blocker, even if it is down.
func TestR5_down_target_is_no_blocker(t *testing.T) {
	t.Parallel()
	c := Change{
		Database: ovndb.NB, View: viewOf(0, allUp(5, 3, 4)), Target: string(memberID(4)),
		Pending: []ID{memberID(1), memberID(2)},
	}
	c.View.Names = []ID{memberID(4)}
	plan := PlanKick(c)
	require.Equal(t, finding.QuorumWouldBeLost, reason(plan))
	assert.Equal(t, finding.RemovalMayFollow, plan.Refusal.Causes[0].Code)
	require.Len(t, plan.Blockers, 1)
	assert.Equal(t, memberAddress(3), plan.Blockers[0].Address)
}
