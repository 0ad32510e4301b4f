package recovery

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// addOnSmallDisk adds a unit whose databases have a disk of their own, and returns what fills it.
func addOnSmallDisk(m *labtest.Model) (u *lab.Unit, fill func()) {
	m.T.Helper()
	if os.Getuid() != 0 {
		m.T.Skip("only root can mount a small disk")
	}
	u = m.AddSilent()
	m.LimitDisk(u, "1m")
	require.NoError(m.T, u.JoinDatabases(m.T.Context()))
	require.NoError(m.T, m.Settle(m.T.Context()))
	m.Deployed = append(m.Deployed, u)
	return u, func() { m.FillDisk(u) }
}

// failLeader makes a unit lead the Northbound database until its full disk makes its server give that up.
func failLeader(m *labtest.Model, failed *lab.Unit, fill func()) (free func()) {
	m.T.Helper()
	m.MakeLeader(failed, lab.NB)
	fill()
	m.Eventually("a leader that has given up", func() bool {
		if m.Raft(failed, lab.NB).Role != raft.Leader { // an election on a busy machine
			m.MakeLeader(failed, lab.NB)
		}
		_, _ = m.Deployed[0].Exec(m.T.Context(), "ovn-nbctl", "--timeout=1", "--db="+failed.Client(lab.NB),
			"create", "DNS", "external_ids:long="+strings.Repeat("x", 8192))
		return m.Raft(failed, lab.NB).State == raft.Failed
	})
	m.Eventually("another leader", func() bool {
		s, err := m.RaftStatus(m.Deployed[0], lab.NB)
		return err == nil && s.HasLeader() && string(s.Leader) != m.ShortID(failed, lab.NB)
	})
	return func() { m.FreeDisk(failed.DBDir()) }
}

// R0: a leader that can't write a client's entry gives the database up, and continues to call itself the leader. It
// refuses to compact its file and to leave. Its own unit notices that, and restarts the server once there is space.
func TestDisk_leader_that_cannot_write_is_restarted(t *testing.T) {
	m := labtest.Deploy(t, 2)
	failed, fill := addOnSmallDisk(m)
	free := failLeader(m, failed, fill)
	require.Equal(t, raft.Leader, m.Raft(failed, lab.NB).Role, "the premise")
	_, err := failed.Appctl(t.Context(), lab.NB, "ovsdb-server/compact", "OVN_Northbound")
	require.ErrorContains(t, err, "cannot store a snapshot following failure", "the premise")
	before := m.ServerID(failed, lab.NB)

	require.NoError(t, m.UpdateStatus(t.Context()))
	m.Says(failed, "blocked")
	m.Finds(failed, finding.DiskFull, "")
	var shown struct{ Condition ovndb.Condition }
	r, err := m.RunAction(t.Context(), failed, "cluster-status", "format=json") // it fails: not all is served
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(r.Results["ovnnb"]), &shown))
	assert.Equal(t, ovndb.Failed, shown.Condition)
	for _, u := range m.Deployed[:2] {
		m.Finds(u, finding.MemberDown, "nb "+failed.Name())
	}

	free()
	m.Tick("a member again", func() bool { return failed.Workload().Status == "active" }, failed)
	assert.Equal(t, before, m.ServerID(failed, lab.NB), "the same server")
	m.RequireMembers(m.Deployed...)
	m.RequireWritable()
}

// A new cluster takes space in addition to the old file. If there is none, no unit stops its server.
func TestRecover_without_disk_space_is_refused_before_stop(t *testing.T) {
	m := labtest.Deploy(t, 1)
	u, _ := addOnSmallDisk(m)
	dir := m.Act(m.Deployed[0], "backup")["backup"]
	assert.True(t, m.RefusedRecovery(u, "restore", "from="+dir, "i-really-mean-it=true").Has(finding.RecoveryDataUnusable, "nb"))
	m.Lose(m.Deployed[0])
	assert.True(t, m.RefusedRecovery(u, "recover", "give-up="+m.Deployed[0].Name(), "i-really-mean-it=true").Has(finding.RecoveryDataUnusable, "nb"))
}
