package recovery

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// R0: an fsync that fails once is never tried again. A sole member then commits nothing more but reports itself as a
// healthy leader, and its file reads as whole.
func TestDisk_failed_fsync_rewrites_file_in_next_hook(t *testing.T) {
	m := labtest.Deploy(t, 1)
	u := m.Deployed[0]
	write := func(name string) error {
		_, err := u.Exec(t.Context(), "ovn-nbctl", "--timeout=3", "--db="+u.Client(lab.NB), "ls-add", name)
		return err
	}
	require.NoError(t, write("before"))
	end := m.FailOnce(u, "fsync,fdatasync", "EIO")
	require.Error(t, write("failed"))
	end()
	require.Error(t, write("later"))
	s := m.Raft(u, lab.NB)
	require.Equal(t, []any{raft.ClusterMember, raft.Leader, uint64(1)}, []any{s.State, s.Role, s.NotCommitted}, "the premise")
	require.NoError(t, m.RunHook(t.Context(), u, "update-status"))
	require.NoError(t, write("after"))
	assert.Equal(t, "active", u.Workload().Status, u.Workload().Message)
}
