//go:build programs

package systemd_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
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

// systemctl answers for OVN's services, and knows a main process of nb's or none.
type systemctl string

func (s systemctl) Run(context.Context, run.Command) ([]byte, error) {
	return []byte(strings.Replace(string(runtest.Stopped()), "nb.service\nLoadState=loaded\nActiveState=inactive\nUnitFileState=disabled\nMainPID=0",
		"nb.service\nLoadState=loaded\nActiveState=active\nUnitFileState=disabled\nMainPID="+string(s), 1)), nil
}

// R1, R9: any one of them is enough, for each alone can be lost.
func TestServerIsAliveByItsPidFileItsLockOrSystemd(t *testing.T) {
	t.Parallel()
	s := ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1").Create(t)
	alive := func(mainPID string, p ovndb.Paths) string {
		evidence, err := systemd.Services{Runner: systemctl(mainPID)}.Alive(t.Context(), p, ovndb.NB)
		require.NoError(t, err)
		return evidence
	}
	assert.Empty(t, alive("0", s.Paths), "nothing runs")
	assert.Contains(t, alive("4711", s.Paths), "process 4711 of service ovn-ovsdb-server-nb runs")

	s.Start(t)
	require.NoError(t, os.Remove(s.Paths.Control(ovndb.NB)))
	assert.Contains(t, alive("0", s.Paths), s.Paths.File(ovndb.NB)+" open", "it has no pid file, and systemd has not started it")
	s.Kill(t)
	assert.Empty(t, alive("0", s.Paths), "its lock's file is left behind")

	require.NoError(t, os.WriteFile(s.Paths.PID(ovndb.NB), []byte(strconv.Itoa(os.Getpid())), 0o600))
	assert.Empty(t, alive("0", s.Paths), "another process has got its number")
	other := exec.CommandContext(t.Context(), "sh", "-c", "read _", "sh", "--pidfile="+s.Paths.PID(ovndb.NB))
	in, err := other.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, other.Start())
	require.NoError(t, os.WriteFile(s.Paths.PID(ovndb.NB), []byte(strconv.Itoa(other.Process.Pid)), 0o600))
	assert.Contains(t, alive("0", s.Paths), "of "+s.Paths.PID(ovndb.NB)+" runs", "it was started with that pid file")
	require.NoError(t, in.Close())
	_ = other.Wait()
	assert.Empty(t, alive("0", s.Paths), "it has ended")
}

// A server opens its control socket after it has read its file, and what starts it on a
// machine that was just turned on may be at work before that.
func TestServerIsStartingUntilItMayHaveReadItsFile(t *testing.T) {
	t.Parallel()
	s := ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1").Create(t)
	starting := func(age time.Duration) bool {
		return systemd.Starting(s.Paths, ovndb.NB, time.Now().Add(age), time.Minute)
	}
	assert.True(t, starting(time.Hour), "no process has its file open yet")
	s.Start(t)
	assert.False(t, starting(0), "it has its file open, and its pid file was removed")
	other := exec.CommandContext(t.Context(), "sh", "-c", "read _", "sh", "--pidfile="+s.Paths.PID(ovndb.NB))
	in, err := other.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, other.Start())
	require.NoError(t, os.WriteFile(s.Paths.PID(ovndb.NB), []byte(strconv.Itoa(other.Process.Pid)), 0o600))
	assert.True(t, starting(30*time.Second))
	assert.False(t, starting(2*time.Minute), "it has had its time: its socket was removed")
	require.NoError(t, in.Close())
	_ = other.Wait()
}

// What can't be found out is not dead.
func TestServerOfWhichSystemdSaysNothingIsNotKnownToBeDead(t *testing.T) {
	t.Parallel()
	s := ovsdbtest.New(t, ovndb.NB, "127.0.0.1")
	refused := runtest.Expect("systemctl", "show", "--property=Id,LoadState,ActiveState,UnitFileState,MainPID,InvocationID",
		"ovn-northd.service", "ovn-ovsdb-server-nb.service", "ovn-ovsdb-server-sb.service", "ovn-central.service")
	_, err := systemd.Services{Runner: runtest.New(t, refused.Writes("nonsense"))}.Alive(t.Context(), s.Paths, ovndb.NB)
	require.ErrorContains(t, err, "cannot ask systemd about the services")
}

// After a kill and a restart of the machine another process may have the server's number: ovn-ctl would take an
// ovsdb-server for its own and start none, or kill the process to stop the service.
func TestPidFileOfAnotherProcessIsRemovedBeforeAStartAndAStop(t *testing.T) {
	t.Parallel()
	s := ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1").Create(t)
	pid := s.Paths.PID(ovndb.NB)
	services := systemd.Services{Runner: systemctl("0"), Paths: s.Paths}
	for name, act := range map[string]func(context.Context, ...ovndb.Service) error{"start": services.Start, "stop": services.Stop, "restart": services.Restart} {
		require.NoError(t, os.WriteFile(pid, []byte(strconv.Itoa(os.Getpid())), 0o600))
		foreign, err := systemd.ForeignPID(s.Paths, ovndb.NorthboundServer)
		require.NoError(t, err)
		assert.Contains(t, foreign, filepath.Base(pid)+" is of ")
		assert.Contains(t, foreign, strconv.Itoa(os.Getpid()))
		require.NoError(t, act(t.Context(), ovndb.Umbrella, ovndb.SouthboundServer))
		assert.FileExists(t, pid, "it is not of these services")
		require.NoError(t, act(t.Context(), ovndb.NorthboundServer))
		assert.NoFileExists(t, pid, name)
	}
	require.NoError(t, os.WriteFile(pid, []byte("4194304\n"), 0o600))
	require.NoError(t, services.Start(t.Context(), ovndb.NorthboundServer))
	assert.FileExists(t, pid, "no process has that number")
	own := exec.CommandContext(t.Context(), "sh", "-c", "read _", "sh", "--pidfile="+pid)
	in, err := own.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, own.Start())
	require.NoError(t, os.WriteFile(pid, []byte(strconv.Itoa(own.Process.Pid)), 0o600))
	require.NoError(t, services.Stop(t.Context(), ovndb.NorthboundServer))
	assert.FileExists(t, pid, "it is the service's")
	require.NoError(t, in.Close())
	_ = own.Wait()
}
