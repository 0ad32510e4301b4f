package membership

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// R8: idempotent at every point where it can be cut off.
func TestStopThatIsKilledAtAnyStepEndsWhenItRunsAgain(t *testing.T) {
	m := labtest.DeployWith(t, 4, lab.Options{JujuVersion: lab.Juju4})
	m.MakeOneLeader()
	u := m.Followers()[0]
	require.NoError(t, m.BeginRemoval(t.Context(), u))
	killed := m.KillEverywhere(1, labtest.Always, func(call int) bool {
		killed := m.KillHookAt(u, "stop", call)
		for _, db := range lab.Databases {
			assert.Contains(t, []int{3, 4}, len(m.MemberIDs(m.LeaderOf(db), db)))
		}
		return killed
	})
	assert.Greater(t, killed, 10, "there were steps to be killed at")
	m.Remove(u)
	m.RequireMembers(m.Remaining()...)
	m.RequirePutAway(u)
}

// R6: "0 entries not yet committed" is rarely seen under load.
func TestLeaveAndKickAreProvedUnderASteadyWriteLoad(t *testing.T) {
	m := labtest.Deploy(t, 5)
	leader := m.MakeOneLeader()
	followers := m.Followers()
	gone, leaver := followers[0], followers[1]
	ctx := t.Context()
	var load []*lab.Writer
	for range 4 {
		load = append(load, m.StartWriter(ctx, time.Millisecond))
	}
	m.RemoveByForce(gone)
	m.RequireDown(gone)
	m.Act(followers[2], "kick", labtest.KickArgs(m.ServerID(gone, lab.SB), m.ServerID(gone, lab.NB))...)
	m.Remove(leaver)
	m.Remove(leader)
	for _, w := range load {
		w.Stop()
		for db, writes := range m.Verify(w) {
			assert.NotZero(t, writes.Acknowledged, db)
		}
	}
	m.RequireMembers(followers[2], followers[3])
}

// R6, R9: a leave that can't end, since its server hangs, fails the hook at its deadline. The server carries out later
// what it was sent, and the next try ends.
func TestLeaveOfAServerThatHangsIsAwaitedByTheRetry(t *testing.T) {
	m := labtest.Deploy(t, 3)
	m.MakeOneLeader()
	u := m.Followers()[0]
	rest := append(m.Followers()[1:], m.LeaderOf(lab.NB))
	u.OnCall(func(call string) {
		if strings.Contains(call, "cluster/leave OVN_Northbound") {
			assert.NoError(t, u.Hang(lab.NB))
		}
	})
	said := m.RefuseRemoval(u)
	u.OnCall(nil)
	assert.Contains(t, said, "nb: the server hangs; it was told to leave, and leaves when it responds again")
	assert.NotContains(t, said, "nb: still a member, nothing was changed")
	assert.Contains(t, said, "Juju tries again")
	record, err := rest[0].Exec(t.Context(), "ovn-nbctl", "--timeout=30", "--db="+m.Remotes(lab.NB), "get", "NB_Global", ".", "external_ids")
	require.NoError(t, err)
	assert.Contains(t, record, m.ServerID(u, lab.NB), "the others reckon with it")
	require.NoError(t, u.Resume(lab.NB))
	_, err = m.RetryUntil(t.Context(), u)
	require.NoError(t, err)
	m.RequireMembers(rest...)
}
