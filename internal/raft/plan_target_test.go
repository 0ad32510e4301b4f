package raft

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// R3: of two members that share four digits, the one that is named is judged, and
// the other one is counted.
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
	assert.Equal(t, "error MEMBER_AMBIGUOUS nb Value=a001 Count=2 Members=[a001 at tcp:10.0.0.1:6643 a001 at tcp:10.0.0.2:6643]", brief(plan))
	assert.Empty(t, plan.Target)
}

// R1: nor does a member that shares the four digits of this server take its place
// when it leaves.
func TestR1_own_leave(t *testing.T) {
	t.Parallel()
	for _, leader := range []int{0, 2} { // 1 is dead: leaving would lose the quorum
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

// The kick was resolved by what the server knows, and is judged by what the others
// have answered besides.
func TestR3_target_with_longer_ID(t *testing.T) {
	t.Parallel()
	v := viewOf(1, allUp(5))
	r, ok := Resolve(IDArgument{Text: memberID(2).Short()}, View{Status: v.Status}.Peers())
	require.True(t, ok)
	require.Len(t, r.Peers, 1)
	require.Empty(t, r.Peers[0].ID)
	plan := PlanKick(Change{Database: ovndb.NB, View: v, Target: r.Peers[0].Longest()})
	assert.Equal(t, memberID(2), plan.Target.ID)
	assert.Equal(t, finding.MemberIsLive, reason(plan))
}

func TestNobodyIsNotPlannedToGo(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"", "beef", string(memberID(5)), memberAddress(1), "A001", " a001"} {
		c := Change{Database: ovndb.NB, View: viewOf(0, allUp(5)), Target: target, Permit: PermitForce}
		assert.NotNil(t, PlanLeave(c).Refusal, "%q", target)
		assert.NotNil(t, PlanKick(c).Refusal, "%q", target)
	}
}
