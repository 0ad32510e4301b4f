//go:build programs

package ovsctl_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

// has reports whether the status has the server with id as a member.
func has(s raft.Status, id raft.ID) bool {
	return slices.ContainsFunc(s.Servers, func(m raft.Member) bool { return m.Short == id.Short() })
}

// Four members become one: a dead one is kicked, a follower and the leader leave.
func TestControl_kick_and_leave(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 4)
	first := members[0].Status(t)
	assert.Equal(t, raft.Leader, first.Role)
	require.NotNil(t, first.Cluster)
	for _, m := range members {
		s := m.Status(t)
		assert.Equal(t, string(ovndb.NB), s.Name)
		assert.Equal(t, m.Address, s.Address)
		assert.Empty(t, s.Unknown)
		assert.Equal(t, first.Cluster, s.Cluster)
		assert.True(t, has(first, s.Server))
	}

	stays, id := members[1], members[3].Status(t).Server
	without := func(id raft.ID) {
		t.Helper()
		stays.Reaches(t, func(s raft.Status) bool { return !has(s, id) && s.HasLeader() }, "it is still a member")
	}
	members[3].Kill(t)
	require.NoError(t, stays.control().Kick(t.Context(), ovndb.NB, string(id)), "from a follower")
	without(id)
	require.ErrorIs(t, stays.control().Kick(t.Context(), ovndb.NB, string(id)), ovsctl.ErrUnknownServer)

	for _, m := range []*server{members[2], members[0]} {
		id := m.Status(t).Server
		require.NoError(t, m.control().Leave(t.Context(), ovndb.NB))
		m.gone(t)
		without(id)
		require.ErrorIs(t, m.control().Leave(t.Context(), ovndb.NB), ovsctl.ErrUnknownCluster)
		require.ErrorIs(t, m.control().Kick(t.Context(), ovndb.NB, string(first.Server)), ovsctl.ErrUnknownCluster)
	}
	s := stays.Status(t)
	assert.Equal(t, raft.Leader, s.Role)
	assert.Equal(t, raft.Self, s.Leader)
	require.Len(t, s.Servers, 1)
	assert.True(t, s.Servers[0].Self)
	polled, err := ovsctl.Control{Paths: stays.Paths}.PollStatus(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.Equal(t, s.Server, polled.Server)
	assert.False(t, polled.CutOff())
}

// statusError returns the error of the server's status.
func statusError(t *testing.T, s *server) error {
	t.Helper()
	_, err := s.control().Status(t.Context(), s.Database)
	require.Error(t, err)
	return err
}

func TestStatus_not_running(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, statusError(t, newServer(t, ovndb.NB, "127.0.0.1")), ovsctl.ErrNotRunning)
	killed := leads(t)
	killed.Kill(t)
	require.FileExists(t, killed.Paths.Control(ovndb.NB))
	require.ErrorIs(t, statusError(t, killed), ovsctl.ErrNotRunning)
	stopped := leads(t)
	require.NoError(t, stopped.Signal(syscall.SIGTERM))
	require.Eventually(t, func() bool {
		_, err := stopped.control().Status(t.Context(), ovndb.NB)
		return errors.Is(err, ovsctl.ErrNotRunning)
	}, patience, 20*time.Millisecond)
}

func TestControl_hanging_server(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.SB, 1)[0]
	require.NoError(t, s.Signal(syscall.SIGSTOP))
	limited, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	require.ErrorIs(t, s.control().Leave(limited, ovndb.SB), ovsctl.ErrHung)
	assert.Less(t, time.Since(start), 5*time.Second)

	canceled, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	_, err := s.control().Status(canceled, ovndb.SB)
	require.ErrorIs(t, err, context.Canceled)
	assert.NotErrorIs(t, err, ovsctl.ErrHung)
}

// stranger runs commands as another user, which only root can do.
type stranger struct{}

func (stranger) Run(ctx context.Context, c run.Command) ([]byte, error) {
	args := append([]string{"--reuid=65534", "--regid=65534", "--clear-groups", c.Name}, c.Args...)
	return run.Exec{}.Run(ctx, run.Command{Name: "setpriv", Args: args})
}

func TestControl_denied(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.NB, 1)[0]
	c := s.control()
	if os.Geteuid() == 0 {
		c.Runner = stranger{}
		// Only the socket itself may refuse access.
		for dir := s.Paths.Run; strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
			require.NoError(t, os.Chmod(dir, 0o755))
		}
	} else {
		require.NoError(t, os.Chmod(s.Paths.Control(ovndb.NB), 0))
	}
	require.ErrorIs(t, c.Leave(t.Context(), ovndb.NB), ovsctl.ErrDenied)
}

func TestControl_other_database(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.SB, 1)[0]
	require.NoError(t, os.Symlink(s.Paths.Control(ovndb.SB), s.Paths.Control(ovndb.NB)))
	_, err := s.control().Status(t.Context(), ovndb.NB)
	require.ErrorIs(t, err, ovsctl.ErrUnknownCluster)

	s = &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1").Standalone(t).Start(t)}
	require.ErrorIs(t, statusError(t, s), ovsctl.ErrNotClustered)
	require.ErrorIs(t, s.control().Leave(t.Context(), ovndb.NB), ovsctl.ErrNotClustered)
	require.ErrorIs(t, s.control().Kick(t.Context(), ovndb.NB, "abcd"), ovsctl.ErrNotClustered)
}

func TestControl_joining_server(t *testing.T) {
	t.Parallel()
	net := loopbacktest.Network(t)
	s := &server{ovsdbtest.New(t, ovndb.NB, net+".2").Join(t, "tcp:"+net+".1:6643").Start(t)}
	assert.Equal(t, raft.JoiningCluster, s.Status(t).State)
	require.ErrorIs(t, s.control().Leave(t.Context(), ovndb.NB), ovsctl.ErrJoining)
	require.ErrorIs(t, s.control().Kick(t.Context(), ovndb.NB, "abcd"), ovsctl.ErrUnknownServer)
}

func TestLeave_twice(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.NB, 1)[0]
	require.NoError(t, s.control().Leave(t.Context(), ovndb.NB))
	require.ErrorIs(t, s.control().Leave(t.Context(), ovndb.NB), ovsctl.ErrLeaving)
	assert.Equal(t, raft.LeavingCluster, s.Status(t).State)
}

func TestKick_unknown_server_and_without_leader(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 3)
	for _, m := range members {
		require.ErrorIs(t, m.control().Kick(t.Context(), ovndb.NB, "zzzz"), ovsctl.ErrUnknownServer)
	}
	require.ErrorIs(t, members[0].control().Kick(t.Context(), ovndb.NB, ""), ovsctl.ErrUnknownServer)

	dead := members[2].Status(t).Server
	members[0].Kill(t)
	members[2].Kill(t)
	members[1].Reaches(t, func(s raft.Status) bool { return !s.HasLeader() }, "it still follows the dead leader")
	require.ErrorIs(t, members[1].control().Kick(t.Context(), ovndb.NB, string(dead)), ovsctl.ErrNoLeader)
}

func TestKick_unnamed_refusal(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 3)
	leader := members[0].slower(t).control()
	var ids []string
	for _, m := range members[1:] {
		ids = append(ids, string(m.Status(t).Server))
		require.NoError(t, m.Signal(syscall.SIGSTOP)) // the leader notices only after an election timer
	}
	require.NoError(t, leader.Kick(t.Context(), ovndb.NB, ids[0]))
	require.NoError(t, leader.Kick(t.Context(), ovndb.NB, ids[1]), "the first is not committed yet")
	err := leader.Kick(t.Context(), ovndb.NB, ids[1])
	require.Error(t, err)
	assert.Contains(t, err.Error(), "failed (in progress)")
	assert.NotContains(t, err.Error(), "ovs-appctl")
}

func TestStatus_malformed_answer(t *testing.T) {
	for _, said := range []string{"", "hello", "abcd\nName: OVN_Northbound\nClus"} {
		paths := ovndb.Paths{Run: runtest.Install(t, map[string]string{"ovs-appctl": "cat <<'END'\n" + said + "\nEND"})}
		require.NoError(t, os.WriteFile(paths.Control(ovndb.NB), nil, 0o600))
		_, err := ovsctl.Control{Runner: run.Exec{}, Paths: paths}.Status(t.Context(), ovndb.NB)
		require.ErrorAs(t, err, new(*raft.ParseError))
	}
}

func TestStatus_missing_program(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	paths := ovndb.Paths{Run: t.TempDir()}
	require.NoError(t, os.WriteFile(paths.Control(ovndb.NB), nil, 0o600))
	_, err := ovsctl.Control{Runner: run.Exec{}, Paths: paths}.Status(t.Context(), ovndb.NB)
	require.True(t, run.Missing(err))
	require.ErrorIs(t, err, ovsctl.ErrNotRunning)
}

// becomes waits until the member has the election timer.
func (s *server) becomes(t *testing.T, timer time.Duration) {
	t.Helper()
	has := func(s raft.Status) bool { return s.ElectionTimer == timer && s.ChangingTo == 0 }
	s.Reaches(t, has, "the timer does not change")
}

// slower lets a leader remain leader for 16 seconds without the others.
func (s *server) slower(t *testing.T) *server {
	t.Helper()
	for _, timer := range []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second} {
		require.NoError(t, s.control().ChangeElectionTimer(t.Context(), s.Database, timer))
		s.becomes(t, timer)
	}
	return s
}

func TestChangeElectionTimer(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 3) // 1 s
	change := func(m *server, to time.Duration) error {
		return m.control().ChangeElectionTimer(t.Context(), ovndb.NB, to)
	}
	for _, timer := range []time.Duration{0, 99e6, -time.Second, 11 * time.Minute, 2001e6} {
		require.ErrorIs(t, change(members[0], timer), ovsctl.ErrTimerRange, "%s", timer)
	}
	require.ErrorIs(t, change(members[1], 2*time.Second), ovsctl.ErrNotLeader)
	for _, timer := range []time.Duration{2 * time.Second, 4 * time.Second, time.Second} {
		require.NoError(t, change(members[0], timer))
		for _, m := range members {
			m.becomes(t, timer)
		}
	}
	require.NoError(t, change(members[0], time.Second), "the present timer")
}

func TestChangeElectionTimer_pending(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 2)
	leader := members[0].slower(t).control()
	members[1].Kill(t) // nothing more is committed
	require.NoError(t, leader.ChangeElectionTimer(t.Context(), ovndb.NB, 32*time.Second))
	assert.Equal(t, 32*time.Second, members[0].Status(t).ChangingTo)
	require.ErrorIs(t, leader.ChangeElectionTimer(t.Context(), ovndb.NB, 20*time.Second), ovsctl.ErrTimerPending)
}
