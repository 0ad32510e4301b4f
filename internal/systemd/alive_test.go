//go:build programs

package systemd_test

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// systemctl simulates systemctl for OVN's services, with this main process of nb.
type systemctl string

func (s systemctl) Run(context.Context, run.Command) ([]byte, error) {
	const stopped = "nb.service\nLoadState=loaded\nActiveState=inactive\nUnitFileState=disabled\nMainPID=0"
	running := strings.NewReplacer("inactive", "active", "MainPID=0", "MainPID="+string(s)).Replace(stopped)
	return []byte(strings.Replace(string(runtest.Stopped()), stopped, running, 1)), nil
}

// writePID writes a pid file.
func writePID(t *testing.T, path string, pid int) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(strconv.Itoa(pid)), 0o600))
}

// daemon starts a process with that pid file, which runs until end is called.
func daemon(t *testing.T, pidFile string) (end func()) {
	t.Helper()
	process := exec.CommandContext(t.Context(), "sh", "-c", "read _", "sh", "--pidfile="+pidFile)
	in, err := process.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	writePID(t, pidFile, process.Process.Pid)
	return func() { _ = in.Close(); _ = process.Wait() }
}

// R1, R9: each kind of evidence is enough by itself, since each can be lost.
func TestAlive(t *testing.T) {
	t.Parallel()
	s := ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1").Create(t)
	pid := s.Paths.PID(ovndb.NB)
	alive := func(mainPID string) string {
		evidence, err := systemd.Services{Runner: systemctl(mainPID)}.Alive(t.Context(), s.Paths, ovndb.NB)
		require.NoError(t, err)
		return evidence
	}
	assert.Empty(t, alive("0"))
	assert.Contains(t, alive("4711"), "4711")

	s.Start(t)
	require.NoError(t, os.Remove(s.Paths.Control(ovndb.NB)))
	assert.Contains(t, alive("0"), s.File(), "by its lock")
	s.Kill(t)
	assert.Empty(t, alive("0"), "the lock's file stays")

	writePID(t, pid, os.Getpid())
	assert.Empty(t, alive("0"), "another process has the number")
	end := daemon(t, pid)
	assert.Contains(t, alive("0"), pid)
	end()
	assert.Empty(t, alive("0"))
}

// A server opens its control socket after it has read its file.
func TestStarting(t *testing.T) {
	t.Parallel()
	s := ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1").Create(t)
	starting := func(age time.Duration) bool {
		return systemd.Starting(s.Paths, ovndb.NB, time.Now().Add(age), time.Minute)
	}
	assert.True(t, starting(time.Hour), "no process has its file open yet")
	s.Start(t)
	assert.False(t, starting(0), "it has its file open, and no pid file")
	end := daemon(t, s.Paths.PID(ovndb.NB))
	assert.True(t, starting(30*time.Second))
	assert.False(t, starting(2*time.Minute))
	end()
}

func TestAlive_unknown_state_is_error(t *testing.T) {
	t.Parallel()
	s := ovsdbtest.New(t, ovndb.NB, "127.0.0.1")
	runner := runtest.New(t, showAll().Writes("nonsense"))
	_, err := systemd.Services{Runner: runner}.Alive(t.Context(), s.Paths, ovndb.NB)
	require.Error(t, err)
}

// After a reboot another process may have the server's process ID. Then ovn-ctl would take any ovsdb-server for its
// own, or kill the process to stop the service.
func TestServices_remove_foreign_pid_file(t *testing.T) {
	t.Parallel()
	s := ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1").Create(t)
	pid := s.Paths.PID(ovndb.NB)
	services := systemd.Services{Runner: systemctl("0"), Paths: s.Paths}
	for name, act := range map[string]func(context.Context, ...ovndb.Service) error{
		"start": services.Start, "stop": services.Stop, "restart": services.Restart,
	} {
		writePID(t, pid, os.Getpid())
		foreign, err := systemd.ForeignPID(s.Paths, ovndb.NorthboundServer)
		require.NoError(t, err)
		assert.Contains(t, foreign, strconv.Itoa(os.Getpid()))
		require.NoError(t, act(t.Context(), ovndb.Umbrella, ovndb.SouthboundServer))
		assert.FileExists(t, pid, "of another service")
		require.NoError(t, act(t.Context(), ovndb.NorthboundServer))
		assert.NoFileExists(t, pid, name)
	}
	writePID(t, pid, 4194304) // no process has that number
	require.NoError(t, services.Start(t.Context(), ovndb.NorthboundServer))
	assert.FileExists(t, pid)
	end := daemon(t, pid)
	require.NoError(t, services.Stop(t.Context(), ovndb.NorthboundServer))
	assert.FileExists(t, pid, "the service's own")
	end()
}
