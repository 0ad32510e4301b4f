package recovery

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// The Southbound files of two of three units are destroyed, while clients write to both databases. Only the
// Southbound database is recovered; the servers of the other are not touched.
func TestRecover_one_database_while_other_is_served(t *testing.T) {
	m := labtest.Deploy(t, 3)
	kept, damaged := m.Deployed[0], m.Deployed[1:]
	give, processes := "give-up=", map[*lab.Unit]int{}
	members := m.MemberIDs(kept, lab.NB)
	for _, u := range m.Deployed {
		pid, err := u.ServerPID(lab.NB)
		require.NoError(t, err)
		processes[u] = pid
	}
	old := m.Raft(kept, lab.SB)
	ended := m.WatchServed()
	w := m.StartWriter(t.Context(), time.Second)
	m.Eventually("writes", func() bool { return w.Acknowledged(lab.NB) > 3 && w.Acknowledged(lab.SB) > 3 })

	m.Hold(true)
	stored := m.StoredByMost(kept)
	for _, u := range damaged {
		give += m.ShortID(u, lab.SB) + " "
		require.NoError(t, u.Kill(lab.SB))
		require.NoError(t, os.Remove(u.DBFile(lab.SB)))
	}
	m.Eventually("no quorum", func() bool {
		s, err := m.RaftStatus(kept, lab.SB)
		return err == nil && !s.HasLeader()
	})
	before := map[lab.DB]int{lab.NB: w.Acknowledged(lab.NB), lab.SB: w.Acknowledged(lab.SB)}
	var begun lab.ActionResult
	m.Eventually("the server takes itself for cut off, after a second election that came to nothing", func() bool {
		var err error
		begun, err = m.RunAction(t.Context(), kept, "recover", give, "i-really-mean-it=true")
		require.NoError(t, err)
		return begun.Status == "completed"
	})
	assert.NotContains(t, begun.Results["plan"], "nb:")
	m.Hold(false)
	require.NoError(t, m.Settle(t.Context()))
	m.Tick("all are members", labtest.AllMembers(m, m.Deployed...), m.Deployed...)
	shown := m.Act(kept, "recovery-status")
	for _, u := range m.Deployed {
		assert.Contains(t, shown["proof"], "sb: "+u.Name()+" ")
	}
	assert.NotContains(t, shown["proof"], "nb:")

	now := m.Raft(kept, lab.SB)
	assert.NotEqual(t, old.Cluster, now.Cluster)
	assert.ElementsMatch(t, members, m.MemberIDs(kept, lab.NB))
	for u, pid := range processes {
		still, err := u.ServerPID(lab.NB)
		require.NoError(t, err)
		assert.Equal(t, pid, still, "the Northbound server of %s runs on", u.Name())
	}
	ended()
	m.RequireKept(w, stored, before)
	assert.False(t, slices.ContainsFunc(damaged, func(u *lab.Unit) bool { return !u.Running(lab.SB) }))
	writes, err := w.Verify(t.Context())
	require.NoError(t, err)
	assert.Zero(t, writes[lab.NB].Lost, "acknowledged writes to the database that was not recovered")
}
