//go:build programs

package ovsctl_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// restarter is a Runner that replaces systemctl for a server of the test, and runs other programs.
type restarter struct {
	t      *testing.T
	server *server
	calls  []string
	// exited reports whether the server had exited when systemd was called.
	exited bool
	// late is the error of begin from its second call on.
	late error
}

func (r *restarter) Run(ctx context.Context, c run.Command) ([]byte, error) {
	if c.Name != "systemctl" {
		return run.Exec{}.Run(ctx, c)
	}
	if c.Args[0] == "show" {
		return (&masks{how: "enabled"}).Run(ctx, c)
	}
	r.calls = append(r.calls, c.String())
	_, err := r.server.control().Status(ctx, r.server.Database)
	r.exited = errors.Is(err, ovsctl.ErrNotRunning)
	_ = r.server.Signal(syscall.SIGKILL) // most servers have exited already
	_ = r.server.Wait(r.t)
	r.server.Start(r.t)
	return nil, nil
}

func (r *restarter) handOver() error {
	c := r.server.control()
	c.Runner = r
	asked := 0
	return c.HandOver(r.t.Context(), systemd.Services{Runner: r}, r.server.Database, func() (time.Time, error) {
		if asked++; asked > 1 && r.late != nil {
			return time.Time{}, r.late
		}
		return inAMinute()
	})
}

func inAMinute() (time.Time, error) { return time.Now().Add(time.Minute), nil }

// slowTimer is longer than any wait of these tests, so that no member notices when a leader exits.
const slowTimer = 30 * time.Second

// slowCluster starts n members with slowTimer as election timer. The first leads them.
func slowCluster(t *testing.T, d ovndb.Database, n int) []*server {
	t.Helper()
	members := ovsdbtest.Several(t, d, n)
	members[0].Timer = slowTimer
	return all(ovsdbtest.Form(t, members...))
}

func TestHandOver_leader(t *testing.T) {
	t.Parallel()
	members := slowCluster(t, ovndb.NB, 3)
	r := &restarter{t: t, server: members[0]}
	require.Equal(t, raft.Leader, members[0].Status(t).Role)
	require.NoError(t, r.handOver())
	assert.True(t, r.exited)
	assert.Equal(t, []string{"systemctl restart ovn-ovsdb-server-nb"}, r.calls)
	members[1].Reaches(t, func(s raft.Status) bool {
		return s.HasLeader() && s.Leader != raft.Ref(members[0].Status(t).Server.Short())
	}, "no member has taken over before the election timer")
	returned := func(s raft.Status) bool { return s.Role == raft.Follower && s.HasLeader() }
	members[0].Reaches(t, returned, "it does not come back")
}

func TestHandOver_server_down(t *testing.T) {
	t.Parallel()
	s := slowCluster(t, ovndb.SB, 1)[0]
	s.Kill(t)
	r := &restarter{t: t, server: s}
	require.NoError(t, r.handOver())
	assert.Equal(t, []string{"systemctl restart ovn-ovsdb-server-sb"}, r.calls)
	assert.Equal(t, raft.Leader, s.Status(t).Role)
}

func TestHandOver_server_hangs(t *testing.T) {
	t.Parallel()
	s := slowCluster(t, ovndb.NB, 1)[0]
	require.NoError(t, s.Signal(syscall.SIGSTOP))
	r := &restarter{t: t, server: s}
	require.NoError(t, r.handOver())
	assert.False(t, r.exited)
	assert.Equal(t, raft.Leader, s.Status(t).Role)
}

// R5: a unit that has lost the lock neither tells the server to exit nor kills it.
func TestHandOver_begin_refuses(t *testing.T) {
	t.Parallel()
	s := slowCluster(t, ovndb.NB, 1)[0]
	closed := errors.New("too late")
	r := &restarter{t: t, server: s}
	begin := func() (time.Time, error) { return time.Time{}, closed }
	require.ErrorIs(t, s.control().HandOver(t.Context(), systemd.Services{Runner: r}, ovndb.NB, begin), closed)
	assert.Equal(t, raft.Leader, s.Status(t).Role)

	require.NoError(t, s.Signal(syscall.SIGSTOP))
	r.late = closed
	require.ErrorIs(t, r.handOver(), closed)
	assert.Empty(t, r.calls)
	require.NoError(t, s.Signal(syscall.SIGCONT))
}

// A server that does not answer, as during a compaction of a large database, is not killed: it exits when it
// continues.
func TestHandOver_large_database_gets_more_time(t *testing.T) {
	t.Parallel()
	s := slowCluster(t, ovndb.NB, 1)[0]
	r := &restarter{t: t, server: s}
	c := s.control()
	c.Runner, c.Timeout, c.Paths.DB = r, time.Second, t.TempDir()
	large, err := os.Create(c.Paths.File(ovndb.NB)) // replace the server's own file, which can't be made longer
	require.NoError(t, err)
	require.NoError(t, large.Truncate(160<<20))
	require.NoError(t, large.Close())
	require.NoError(t, s.Signal(syscall.SIGSTOP))
	silent := time.AfterFunc(3*time.Second, func() { _ = s.Signal(syscall.SIGCONT) })
	defer silent.Stop()
	require.NoError(t, c.HandOver(t.Context(), systemd.Services{Runner: r}, ovndb.NB, inAMinute))
	assert.True(t, r.exited)
}

func TestHandOver_canceled(t *testing.T) {
	t.Parallel()
	s := slowCluster(t, ovndb.NB, 1)[0]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := &restarter{t: t, server: s}
	err := s.control().HandOver(ctx, systemd.Services{Runner: r}, ovndb.NB, inAMinute)
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, r.calls)
	assert.Equal(t, raft.Leader, s.Status(t).Role)
}

// startNorthd runs a real ovn-northd on the databases of two servers, as ovn-ctl starts it, and returns its Control.
func startNorthd(t *testing.T, nb, sb *server) ovsctl.Control {
	t.Helper()
	c := nb.control()
	c.Paths.Run = t.TempDir()
	ovsdbtest.Run(t, []string{"OVN_RUNDIR=" + c.Paths.Run}, "ovn-northd", "-vconsole:off",
		"--pidfile="+c.Paths.NorthdPID(), "--log-file="+filepath.Join(c.Paths.Run, "log"),
		"--ovnnb-db="+nb.Endpoint(), "--ovnsb-db="+sb.Endpoint())
	return c
}

func isNorthd(t *testing.T, c ovsctl.Control, wanted ovndb.NorthdHealth) {
	t.Helper()
	require.Eventually(t, func() bool {
		state, err := c.NorthdStatus(t.Context())
		return err == nil && state == wanted
	}, patience, 20*time.Millisecond, "ovn-northd is not %s", wanted)
}

func TestNorthdStatus_active_standby_paused(t *testing.T) {
	t.Parallel()
	nb, sb := cluster(t, ovndb.NB, 1)[0], cluster(t, ovndb.SB, 1)[0]
	first := startNorthd(t, nb, sb)
	isNorthd(t, first, ovndb.NorthdActive)
	second := startNorthd(t, nb, sb)
	isNorthd(t, second, ovndb.NorthdStandby)

	require.NoError(t, first.NorthdExit(t.Context()))
	isNorthd(t, second, ovndb.NorthdActive)
	require.Eventually(t, func() bool {
		_, err := first.NorthdStatus(t.Context())
		return errors.Is(err, ovsctl.ErrNotRunning)
	}, patience, 10*time.Millisecond)

	pid, err := os.ReadFile(second.Paths.NorthdPID())
	require.NoError(t, err)
	socket := filepath.Join(second.Paths.Run, "ovn-northd."+strings.TrimSpace(string(pid))+".ctl")
	require.NoError(t, exec.CommandContext(t.Context(), "ovs-appctl", "-T", "5", "-t", socket, "pause").Run())
	isNorthd(t, second, ovndb.NorthdPaused)
}

func TestNorthdStatus_not_running(t *testing.T) {
	t.Parallel()
	s := newServer(t, ovndb.NB, "127.0.0.1")
	_, err := s.control().NorthdStatus(t.Context())
	require.ErrorIs(t, err, ovsctl.ErrNotRunning)
	require.NoError(t, os.WriteFile(s.Paths.NorthdPID(), []byte("4194304\n"), 0o600)) // larger than any process ID
	_, err = s.control().NorthdStatus(t.Context())
	require.ErrorIs(t, err, ovsctl.ErrNotRunning)
	require.NoError(t, os.WriteFile(s.Paths.NorthdPID(), []byte("\n"), 0o600))
	_, err = s.control().NorthdStatus(t.Context())
	require.ErrorContains(t, err, s.Paths.NorthdPID())
}
