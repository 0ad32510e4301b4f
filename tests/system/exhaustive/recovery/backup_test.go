package recovery

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// A backup under load is restored into another empty application, on all units, without effect on the first one.
func TestRestore_into_another_empty_application(t *testing.T) {
	m := labtest.Deploy(t, 1)
	w := m.StartWriter(t.Context(), 0)
	m.Eventually("writes", func() bool { return w.Acknowledged(lab.NB) > 5 && w.Acknowledged(lab.SB) > 5 })
	dir := m.Act(m.Deployed[0], "backup")["backup"]
	rows := lab.Written.FindAllString(m.Switches(dir), -1)
	require.NotEmpty(t, rows)
	m.AddSwitch("after")
	m.Verify(w)
	taken := m.Raft(m.Deployed[0], lab.NB)
	moved := filepath.Join(t.TempDir(), "moved")
	labtest.Output(t, m, "cp", "-r", dir, moved)

	other := labtest.New(t, 3, lab.Options{ElectionTimer: time.Second})
	u := other.Deployed[2]
	require.Empty(t, strings.TrimSpace(other.Seen(u)))
	empty := other.Raft(u, lab.NB)
	shown := other.Act(u, "restore", "from="+moved, "i-really-mean-it=true")
	assert.Contains(t, shown["plan"], labtest.Stated(finding.BackupTaken, m.Deployed[0].Name()))
	other.Tick("all serve the backup", func() bool {
		return labtest.AllMembers(other, other.Deployed...)() && strings.Contains(other.Seen(u), rows[0])
	}, other.Deployed...)
	restored := other.Raft(u, lab.NB)
	assert.NotEqual(t, empty.Cluster, restored.Cluster)
	assert.NotEqual(t, taken.Cluster, restored.Cluster)
	for _, u := range other.Deployed {
		serves := other.Seen(u)
		for _, row := range rows {
			assert.Contains(t, serves, row, u.Name())
		}
		assert.NotContains(t, serves, "after")
		assert.Equal(t, "active", u.Workload().Status, u.Workload().Message)
	}
	other.RequireProof(u, other.Deployed...)
	other.RequireWritable()

	require.True(t, labtest.AllMembers(m, m.Deployed...)())
	for _, u := range m.Deployed {
		now := m.Raft(u, lab.NB)
		assert.Equal(t, taken.Cluster, now.Cluster)
		assert.Contains(t, m.Seen(u), "after")
	}
}
