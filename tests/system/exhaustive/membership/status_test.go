package membership

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// One database's trouble doesn't hide the other, and is called by its name.
func TestClusterStatus_one_database_in_trouble(t *testing.T) {
	m := labtest.Deploy(t, 3)
	u := m.Followers()[0]
	healthy := func(results map[string]string) {
		t.Helper()
		assert.Contains(t, results["ovnsb"], "Status: cluster member")
		r, err := m.RunAction(t.Context(), u, "cluster-status", "format=json") // it fails for the other database
		require.NoError(t, err)
		assert.Contains(t, r.Results["fault-tolerance"], "sb: 1 more of 3 members may fail")
	}
	require.NoError(t, u.Hang(lab.NB))
	results := m.Act(u, "cluster-status")
	healthy(results)
	assert.Contains(t, results["ovnnb"], "the server hangs")
	require.NoError(t, u.Resume(lab.NB))

	require.NoError(t, u.Kill(lab.NB))
	refused, err := m.RunAction(t.Context(), u, "cluster-status", "format=yaml")
	require.NoError(t, err)
	assert.Equal(t, "failed", refused.Status, "a program that looks for a member's keys is told of the unit")
	assert.Contains(t, refused.Message, u.Name())
	assert.Contains(t, refused.Results["ovnnb"], "condition: down")
	require.NoError(t, m.RunHook(t.Context(), u, "update-status"))
	assert.True(t, u.Running(lab.NB), "the unit starts its server again")

	m.Eventually("a kick of it", func() bool {
		r, err := m.RunAction(t.Context(), m.LeaderOf(lab.SB), "kick", labtest.KickArgs("", m.ServerID(u, lab.NB), "force=true")...)
		require.NoError(t, err)
		return r.Status == "completed"
	})
	m.Eventually("a server that knows", func() bool {
		results = m.Act(u, "cluster-status")
		return strings.Contains(results["ovnnb"], "has left the cluster or was kicked")
	})
	healthy(results)

	// A standalone database in its place.
	require.NoError(t, u.Stop(t.Context(), lab.NB))
	labtest.Output(t, u, "rm", u.DBFile(lab.NB))
	results = m.Act(u, "cluster-status")
	assert.Contains(t, results["ovnnb"], "no database file")
	labtest.Output(t, u, "ovsdb-tool", "create", u.DBFile(lab.NB), "/usr/share/ovn/ovn-nb.ovsschema")
	results = m.Act(u, "cluster-status")
	assert.Contains(t, results["ovnnb"], "standalone", "its server is down")
	// The options of a unit would have ovn-ctl put it away and join.
	require.NoError(t, os.WriteFile(filepath.Join(u.SysconfDir(), "default", "ovn-central"), []byte("OVN_CTL_OPTS=\n"), 0o600))
	require.NoError(t, u.Start(t.Context(), lab.NB))
	results = m.Act(u, "cluster-status")
	healthy(results)
	assert.Contains(t, results["ovnnb"], "standalone")
}

// A server of the other database votes, and holds nothing.
func TestClusterStatus_member_of_wrong_database(t *testing.T) {
	m := labtest.Deploy(t, 3)
	wrong := m.AddSilent()
	require.NoError(t, wrong.JoinWith(t.Context(), lab.JoinOptions{
		DB: lab.NB, Remotes: []string{"ssl:" + m.LeaderOf(lab.SB).Address() + ":6644"},
	}))
	m.Eventually("a server that was let in", func() bool { return len(m.MemberIDs(m.LeaderOf(lab.SB), lab.SB)) == 4 })
	require.NoError(t, m.Settle(t.Context()))
	m.Finds(m.LeaderOf(lab.SB), finding.WrongDatabase, "sb")
	assert.Contains(t, m.Finds(m.LeaderOf(lab.SB), finding.ClusterElsewhere, "nb").Message, wrong.Name())
}
