package raft

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// R0: a member that has lost entries acknowledges them, and is down for all.
func TestR0_lost_entries_is_down(t *testing.T) {
	t.Parallel()
	up := []bool{true, true, true}
	for name, leader := range map[string]int{"on the leader": 0, "on a follower": 1, "on a follower of the member itself": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := viewOf(leader, up)
			v.Lost = []ID{memberID(2)}
			p := v.Peers()[2]
			assert.False(t, p.Up)
			assert.Equal(t, "its file lacks entries of its log", p.Why)
			assert.Equal(t, Quorum{Members: 3, Up: 2}, v.Quorum(), "there still is a leader")
			assert.Zero(t, v.Quorum().Tolerance())

			// No other member may leave or stop; this one may, if told to.
			require.NotNil(t, PlanLeave(Change{View: v, Target: string(memberID(1))}).Refusal)
			restart := PlanRestart(Change{View: v})
			require.NotNil(t, restart.Refusal)
			assert.Equal(t, finding.QuorumWouldBeLost, restart.Refusal.Code)
			kick := PlanKick(Change{View: v, Target: string(memberID(2))})
			require.NotNil(t, kick.Refusal)
			assert.Equal(t, finding.MemberIsLive, kick.Refusal.Code, "it still is one that others may count on")
			assert.Nil(t, PlanKick(Change{View: v, Target: string(memberID(2)), Permit: PermitForce}).Refusal)
		})
	}
	own := viewOf(1, up)
	own.Lost = []ID{memberID(0)}
	assert.Equal(t, Quorum{Members: 3, Up: 2}, own.Quorum(), "its own unit says the same")
	assert.Nil(t, PlanLeave(Change{View: own, Target: string(memberID(0))}).Refusal)
	assert.Equal(t, Quorum{Members: 3, Up: 2}, PlanRestart(Change{View: own}).After, "it is not taken down twice")

	dead := viewOf(0, []bool{true, true, false})
	dead.Lost = []ID{memberID(2)}
	assert.Nil(t, PlanKick(Change{View: dead, Target: string(memberID(2))}).Refusal, "one that is dead as well needs no force")
}
