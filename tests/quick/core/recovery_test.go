package core

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// R15: a lost quorum stays lost whatever hooks run, until a person recovers it. Then an earlier backup replaces the
// served data.
func TestRecovery(t *testing.T) {
	m := labtest.Deploy(t, 3)
	u, lost := m.Deployed[0], m.Deployed[1:]
	m.AddSwitch("kept", u)
	backup := m.Act(u, "backup")["backup"]
	m.AddSwitch("later", u)
	old, err := m.RaftStatus(u, lab.NB)
	require.NoError(t, err)
	m.Lose(lost...)
	require.NoError(t, m.RunHook(t.Context(), u, "update-status"))
	require.NoError(t, m.RunHook(t.Context(), u, "ovsdb-peer-relation-departed", "JUJU_REMOTE_UNIT="+lost[0].Name()))
	still, err := m.RaftStatus(u, lab.NB)
	require.NoError(t, err)
	assert.False(t, still.HasLeader(), "R15")
	assert.Equal(t, old.Cluster, still.Cluster, "R15")
	assert.Len(t, still.Servers, 3, "R15: no member is removed")
	assert.Empty(t, m.PutAway(u), "R15: no file is put away")

	assert.NotContains(t, m.Act(m.Deployed[0], "recovery-status"), "proof", "there was none")

	give := "give-up=" + labtest.Names(lost)
	served := m.WatchServed()
	m.RefusedRecovery(u, "recover", "i-really-mean-it=true") // without give-up
	m.RefusedRecovery(u, "recover", give)                    // without a confirmation
	m.Act(u, "recover", give, "i-really-mean-it=true")
	m.Tick("a new cluster", labtest.AllMembers(m, u), u)
	m.RequireProof(u, u)
	now, err := m.RaftStatus(u, lab.NB)
	require.NoError(t, err)
	assert.NotEqual(t, old.Cluster, now.Cluster)
	assert.Contains(t, m.Seen(u), "later")
	for _, back := range lost {
		require.NoError(t, back.PowerOn(t.Context()))
	}
	m.Tick("the lost units join", labtest.AllMembers(m, m.Deployed...), m.Deployed...)
	served()

	m.Act(u, "restore", "from="+backup, "i-really-mean-it=true")
	m.Tick("all serve the backup", func() bool {
		return labtest.AllMembers(m, m.Deployed...)() && !strings.Contains(m.Seen(m.Deployed[2]), "later")
	}, m.Deployed...)
	for _, u := range m.Deployed {
		assert.Contains(t, m.Seen(u), "kept")
		assert.NotContains(t, m.Seen(u), "later")
	}
	m.RequireWritable()
}
