package deployment

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// After a kill another process may get the server's PID. ovn-ctl then mistakes any ovsdb-server for its own, starts
// none and reports success; and it would kill that process to stop the service.
func TestStart_pid_file_of_another_process(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 1, lab.Options{})
	u := units[0]
	other, err := os.ReadFile(filepath.Join(u.RunDir(), "ovnsb_db.pid"))
	require.NoError(t, err)
	require.NoError(t, u.Kill(lab.NB))
	pid := filepath.Join(u.RunDir(), "ovnnb_db.pid")
	require.NoError(t, os.WriteFile(pid, other, 0o600))
	c.RunUpdateStatus(u)
	now, err := os.ReadFile(pid)
	require.NoError(t, err)
	require.NotEqual(t, string(other), string(now), "the first hook starts it: %s", u.Workload().Message)
	c.Tick("all works again", c.AllActive)
	assert.Len(t, c.Raft(u, lab.SB).Servers, 1, "the other process runs on")
}
