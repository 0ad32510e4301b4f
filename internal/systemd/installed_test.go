package systemd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// The packages' programs are replaced by others of the same name, and what runs is deleted.
func TestProcessRunsWhatIsInstalledUntilThatIsReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	paths := ovndb.Paths{Run: dir}
	shell, err := exec.LookPath("sh")
	require.NoError(t, err)
	text, err := os.ReadFile(shell)
	require.NoError(t, err)
	program := filepath.Join(dir, "ovsdb-server")
	require.NoError(t, os.WriteFile(program, text, 0o700))
	server := exec.CommandContext(t.Context(), program, "-c", "read _", "sh", "--pidfile="+paths.PID(ovndb.NB))
	in, err := server.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(func() { _ = in.Close(); _ = server.Wait() })
	installed := func() [3]bool {
		state := systemd.Properties{MainPID: server.Process.Pid}
		return [3]bool{
			systemd.RunsInstalled(paths, ovndb.NorthboundServer, state), systemd.RunsInstalled(paths, ovndb.Northd, state),
			systemd.RunsInstalled(paths, ovndb.Northd, systemd.Properties{}) || systemd.RunsInstalled(paths, ovndb.SouthboundServer, state),
		}
	}
	assert.Equal(t, [3]bool{false, true, false}, installed(), "a shell may be the main process of a server")
	require.NoError(t, os.WriteFile(paths.PID(ovndb.NB), []byte(strconv.Itoa(server.Process.Pid)), 0o600))
	assert.Equal(t, [3]bool{true, true, false}, installed())
	require.NoError(t, os.WriteFile(program+".dpkg-new", text, 0o700))
	require.NoError(t, os.Rename(program+".dpkg-new", program))
	assert.Equal(t, [3]bool{}, installed())
}
