package recovery

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// retried retries the `stop` of a unit, as Juju does, with hooks of others between, until the unit is gone.
func retried(m *labtest.Model, u *lab.Unit, others ...*lab.Unit) {
	m.T.Helper()
	m.Eventually(u.Name()+" goes", func() bool {
		m.RunUpdateStatus(others...)
		return m.Retry(m.T.Context(), u) == nil
	})
}

// refuseStop runs the hook stop of a dying unit before any other, and requires that it is refused.
func refuseStop(m *labtest.Model, u *lab.Unit) string {
	m.T.Helper()
	require.NoError(m.T, m.Destroy(u))
	return m.HookFailed(m.RunHook(m.T.Context(), u, "stop"), "stop")
}

// Of three units one is lost, and the application's leader is being removed: its stop is refused, and is the only hook
// that it runs. It leads as long as its agent lives, so it accepts the restore and publishes the new cluster.
func TestRestore_ends_while_leader_unit_is_removed(t *testing.T) {
	m := labtest.DeployWith(t, 3, lab.Options{JujuVersion: lab.Juju3})
	asked, leads, lost := m.Deployed[0], m.Deployed[1], m.Deployed[2]
	require.NoError(t, m.SetLeader(t.Context(), leads))
	m.AddSwitch("kept", asked)
	dir := m.Act(asked, "backup")["backup"]
	m.PowerOff(lost)
	m.RequireDown(lost)
	t.Log(m.RefuseRemoval(leads))
	ended := m.WatchServed()
	request := []string{"from=" + dir, "give-up=" + labtest.Names([]*lab.Unit{leads, lost}), "i-really-mean-it=true"}
	t.Log(m.Act(asked, "restore", request...))
	require.NotEmpty(t, asked.Data()["nb-recovery"])
	assert.NotContains(t, m.Act(asked, "recover", "withdraw=true")["plan"], string(finding.NothingToTakeBack))
	require.Empty(t, asked.Data()["nb-recovery"])
	m.Act(asked, "restore", request...)
	require.True(t, asked.Running(lab.NB), "nothing is stopped before Juju's leader accepts it")

	before := m.LeaderSettings()["nb_cid"]
	retried(m, leads, asked)
	assert.NotEqual(t, before, m.LeaderSettings()["nb_cid"])
	m.Tick("the backup is served", labtest.AllMembers(m, asked), asked)
	assert.Contains(t, m.Seen(asked), "kept")
	ended()
	m.RequirePutAway(leads)
	m.RequireWritable()
}

// R9: a unit is removed while its new cluster is published and not in place. Its stop serves it, and the others join.
func TestRecover_removed_unit_serves_until_others_joined(t *testing.T) {
	a := between(t, 5)
	m, ended := a.Model, a.WatchServed()
	a.lose("kept")
	a.publishes()
	said := refuseStop(m, a.asked)
	assert.Contains(t, said, labtest.Reason(finding.SoleMember, finding.Args{}))
	assert.True(t, a.asked.Running(lab.NB) && a.asked.Running(lab.SB))
	m.Hold(false)
	m.Tick("the other one joins", labtest.AllMembers(m, a.asked, a.leads), a.leads)
	retried(m, a.asked, a.leads)
	ended()
	m.RequireMembers(a.leads)
	assert.Contains(t, m.Seen(a.leads), "kept")
	m.RequireWritable()
}

// The unit that was asked for a restore is removed while a third one is off: the restore is over for all.
func TestRestore_unit_removed_while_stopped(t *testing.T) {
	m := labtest.DeployWith(t, 3, lab.Options{JujuVersion: lab.Juju3})
	asked, other, off := m.Deployed[0], m.Deployed[1], m.Deployed[2]
	m.AddSwitch("kept")
	dir := m.Act(asked, "backup")["backup"]
	m.PowerOff(off)
	m.RequireDown(off)
	require.NoError(t, m.SetLeader(t.Context(), other))
	shown := m.Act(asked, "restore", "from="+dir, "i-really-mean-it=true")
	t.Log(shown)
	m.Tick("both are stopped", func() bool { return !asked.Running(lab.NB) && !other.Running(lab.NB) }, other)

	m.Hold(true)
	said := refuseStop(m, asked)
	t.Log(said)
	m.Hold(false)
	assert.True(t, asked.Running(lab.NB) && asked.Running(lab.SB))
	m.Tick("the other one votes too", func() bool { return m.HasLeader(other, lab.NB) }, other)
	require.NoError(t, off.PowerOn(t.Context()))
	retried(m, asked, other, off)
	m.RequireMembers(other, off)
	assert.Contains(t, m.Seen(other), "kept")
	m.RequireWritable()
}

// recoverOnTwoOfFive loses three of five units, and makes the other two, which are both asked, form one new cluster.
func recoverOnTwoOfFive(m *labtest.Model) (left, lost []*lab.Unit) {
	m.T.Helper()
	m.AddSwitch("kept")
	left, lost = m.Deployed[:2], m.Deployed[2:]
	m.Lose(lost...)
	m.RunUpdateStatus(left...)
	m.Hold(true)
	begun := 0
	for _, u := range left { // the second one may have nothing to add
		r, err := m.RunAction(m.T.Context(), u, "recover", "give-up="+labtest.Names(lost), "i-really-mean-it=true")
		require.NoError(m.T, err)
		if m.T.Log(u.Name(), r.Status, r.Message); r.Status == "completed" {
			begun++
		}
	}
	require.NotZero(m.T, begun)
	m.Hold(false)
	m.Tick("a new cluster", labtest.AllMembers(m, left...), left...)
	return left, lost
}

// The lost units are removed while their machines are off. When these boot without a start guard, they elect a leader
// of the old cluster and serve clients, until each unit's hooks archive its copy, without waiting for the others.
func TestStartGuard_old_majority_being_removed_gives_cluster_up(t *testing.T) {
	m := labtest.DeployWith(t, 5, lab.Options{JujuVersion: lab.Juju4})
	left, lost := recoverOnTwoOfFive(m)
	m.Hold(true)
	for _, u := range lost {
		require.NoError(t, m.Destroy(u))
		require.NoError(t, os.Remove(filepath.Join(u.ConfDir(), "ovn-central-start-guard.json")))
		require.NoError(t, u.PowerOn(t.Context()))
	}
	for _, db := range lab.Databases {
		m.Eventually("the old cluster is served", func() bool { return m.HasLeader(lost[0], db) })
	}
	m.Hold(false)
	for _, u := range lost {
		m.Remove(u)
		m.RequirePutAway(u)
	}
	m.RequireOneServed()
	m.RequireMembers(left...)
	m.RequireWritable()
}
