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

// has reports whether the server with id is a member as the status has it.
func has(s raft.Status, id raft.ID) bool {
	return slices.ContainsFunc(s.Servers, func(m raft.Member) bool { return m.Short == id.Short() })
}

// Four members become one: a dead one is kicked, a follower and the leader leave.
func TestMembersAreToldKickedAndLeave(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 4)
	first := members[0].Status(t)
	assert.Equal(t, raft.Leader, first.Role)
	require.NotNil(t, first.Cluster)
	for _, m := range members {
		s := m.Status(t)
		assert.Equal(t, string(ovndb.NB), s.Name)
		assert.Equal(t, m.Address, s.Address)
		assert.Empty(t, s.Unknown, "the parser knows every line of this version")
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

// statusError is how the server fails to say its status.
func statusError(t *testing.T, s *server) error {
	t.Helper()
	_, err := s.control().Status(t.Context(), s.Database)
	require.Error(t, err)
	return err
}

func TestServerThatWasNeverStartedIsNotRunning(t *testing.T) {
	t.Parallel()
	err := statusError(t, &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1")})
	require.ErrorIs(t, err, ovsctl.ErrNotRunning)
	assert.EqualError(t, err, "cannot ask OVN_Northbound's server for cluster/status: server is not running")
}

func TestServerThatWasKilledIsNotRunningThoughItsSocketStays(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.NB, 1)[0]
	s.Kill(t)
	require.FileExists(t, s.Paths.Control(ovndb.NB))
	require.ErrorIs(t, statusError(t, s), ovsctl.ErrNotRunning)
}

func TestServerThatWasStoppedIsNotRunning(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.NB, 1)[0]
	require.NoError(t, s.Signal(syscall.SIGTERM))
	require.Eventually(t, func() bool {
		_, err := s.control().Status(t.Context(), ovndb.NB)
		return errors.Is(err, ovsctl.ErrNotRunning)
	}, patience, 20*time.Millisecond)
	assert.NoFileExists(t, s.Paths.Control(ovndb.NB))
}

func TestServerThatHangsIsGivenUpAfterFiveSeconds(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.SB, 1)[0]
	require.NoError(t, s.Signal(syscall.SIGSTOP))
	begun := time.Now()
	require.ErrorIs(t, statusError(t, s), ovsctl.ErrHung)
	took := time.Since(begun)
	assert.GreaterOrEqual(t, took, 5*time.Second)
	assert.Less(t, took, patience)
}

func TestDeadlineOfTheCallerEndsTheCall(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.SB, 1)[0]
	require.NoError(t, s.Signal(syscall.SIGSTOP))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begun := time.Now()
	require.ErrorIs(t, s.control().Leave(ctx, ovndb.SB), ovsctl.ErrHung)
	assert.Less(t, time.Since(begun), 5*time.Second, "earlier than by its own deadline")
}

func TestCallThatIsInterruptedIsNotTakenForAServerThatHangs(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.SB, 1)[0]
	require.NoError(t, s.Signal(syscall.SIGSTOP))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	_, err := s.control().Status(ctx, ovndb.SB)
	require.ErrorIs(t, err, context.Canceled)
	assert.NotErrorIs(t, err, ovsctl.ErrHung)
}

// stranger runs commands as a user who owns nothing. Only root can become one.
type stranger struct{}

func (stranger) Run(ctx context.Context, c run.Command) ([]byte, error) {
	args := append([]string{"--reuid=65534", "--regid=65534", "--clear-groups", c.Name}, c.Args...)
	return run.Exec{}.Run(ctx, run.Command{Name: "setpriv", Args: args})
}

func TestSocketOfAnotherUserIsDenied(t *testing.T) {
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

func TestServerOfTheOtherDatabaseServesNotThisOne(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.SB, 1)[0]
	// The socket of the one in the place of the other's.
	require.NoError(t, os.Symlink(s.Paths.Control(ovndb.SB), s.Paths.Control(ovndb.NB)))
	_, err := s.control().Status(t.Context(), ovndb.NB)
	require.ErrorIs(t, err, ovsctl.ErrUnknownCluster)
}

func TestStandaloneDatabaseIsNotClustered(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1").Standalone(t).Start(t)}
	require.ErrorIs(t, statusError(t, s), ovsctl.ErrNotClustered)
	require.ErrorIs(t, s.control().Leave(t.Context(), ovndb.NB), ovsctl.ErrNotClustered)
	require.ErrorIs(t, s.control().Kick(t.Context(), ovndb.NB, "abcd"), ovsctl.ErrNotClustered)
}

func TestServerThatJoinsCanNeitherLeaveNorTellItsCluster(t *testing.T) {
	t.Parallel()
	net := loopbacktest.Network(t)
	s := &server{ovsdbtest.New(t, ovndb.NB, net+".2").Join(t, "tcp:"+net+".1:6643").Start(t)}
	assert.Equal(t, raft.JoiningCluster, s.Status(t).State)
	require.ErrorIs(t, s.control().Leave(t.Context(), ovndb.NB), ovsctl.ErrJoining)
	require.ErrorIs(t, s.control().Kick(t.Context(), ovndb.NB, "abcd"), ovsctl.ErrUnknownServer)
}

func TestLeaveThatCannotEndIsAlreadyUnderWay(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.NB, 1)[0]
	require.NoError(t, s.control().Leave(t.Context(), ovndb.NB))
	require.ErrorIs(t, s.control().Leave(t.Context(), ovndb.NB), ovsctl.ErrLeaving)
	assert.Equal(t, raft.LeavingCluster, s.Status(t).State)
}

func TestKickOfNoMember(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.SB, 3)
	for i, m := range members {
		require.ErrorIs(t, m.control().Kick(t.Context(), ovndb.SB, "zzzz"), ovsctl.ErrUnknownServer, "member %d", i)
	}
	require.ErrorIs(t, members[0].control().Kick(t.Context(), ovndb.SB, ""), ovsctl.ErrUnknownServer, "it can be all of them")
}

func TestKickWithoutALeader(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 3)
	dead := members[2].Status(t).Server
	members[0].Kill(t)
	members[2].Kill(t)
	members[1].Reaches(t, func(s raft.Status) bool { return !s.HasLeader() }, "the survivor believes in a dead leader")
	require.ErrorIs(t, members[1].control().Kick(t.Context(), ovndb.NB, string(dead)), ovsctl.ErrNoLeader)
}

func TestRefusalThatHasNoNameHereIsTheServersOwnLine(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 3)
	leader := members[0].slower(t).control()
	var ids []string
	for _, m := range members[1:] {
		ids = append(ids, string(m.Status(t).Server))
		require.NoError(t, m.Signal(syscall.SIGSTOP)) // the leader does not notice for an election timer
	}
	require.NoError(t, leader.Kick(t.Context(), ovndb.NB, ids[0]))
	require.NoError(t, leader.Kick(t.Context(), ovndb.NB, ids[1]), "it waits for the first to be committed")
	err := leader.Kick(t.Context(), ovndb.NB, ids[1])
	require.Error(t, err)
	assert.Contains(t, err.Error(), "failed (in progress)")
	assert.NotContains(t, err.Error(), "ovs-appctl", "nor is the program that asked of interest")
}

func TestAnswerThatIsNoStatus(t *testing.T) {
	for name, said := range map[string]string{"nothing": "", "another text": "hello", "cut off": "abcd\nName: OVN_Northbound\nClus"} {
		t.Run(name, func(t *testing.T) {
			dir := runtest.Install(t, map[string]string{"ovs-appctl": "cat <<'END'\n" + said + "\nEND"})
			paths := ovndb.Paths{Run: dir}
			require.NoError(t, os.WriteFile(paths.Control(ovndb.NB), nil, 0o600))
			_, err := ovsctl.Control{Runner: run.Exec{}, Paths: paths}.Status(t.Context(), ovndb.NB)
			require.ErrorAs(t, err, new(*raft.ParseError))
		})
	}
}

func TestMissingProgramIsNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	paths := ovndb.Paths{Run: t.TempDir()}
	require.NoError(t, os.WriteFile(paths.Control(ovndb.NB), nil, 0o600))
	_, err := ovsctl.Control{Runner: run.Exec{}, Paths: paths}.Status(t.Context(), ovndb.NB)
	require.True(t, run.Missing(err))
	assert.EqualError(t, err, "cannot ask OVN_Northbound's server for cluster/status: server is not running: ovs-appctl: program not found")
}

// slower has a member that leads continue to do so for 16 seconds without the others.
func (s *server) slower(t *testing.T) *server {
	t.Helper()
	for _, timer := range []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second} {
		require.NoError(t, s.control().ChangeElectionTimer(t.Context(), s.Database, timer))
		s.Reaches(t, func(s raft.Status) bool { return s.ElectionTimer == timer && s.ChangingTo == 0 }, "the timer does not change")
	}
	return s
}

func TestElectionTimerGoesUpTwofoldAndDownAtOnce(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 3) // 1 s
	leader := members[0]
	change := func(to time.Duration) error { return leader.control().ChangeElectionTimer(t.Context(), ovndb.NB, to) }
	becomes := func(wanted time.Duration) {
		t.Helper()
		for _, m := range members {
			m.Reaches(t, func(s raft.Status) bool { return s.ElectionTimer == wanted && s.ChangingTo == 0 }, "the timer does not change")
		}
	}
	require.ErrorIs(t, change(2001*time.Millisecond), ovsctl.ErrTimerRange)
	require.NoError(t, change(2*time.Second))
	becomes(2 * time.Second)
	require.NoError(t, change(4*time.Second))
	becomes(4 * time.Second)
	require.NoError(t, change(time.Second))
	becomes(time.Second)
	require.NoError(t, change(time.Second), "it is so already")
}

func TestElectionTimerHasBounds(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.SB, 1)[0]
	for _, timer := range []time.Duration{0, 99 * time.Millisecond, -time.Second, 11 * time.Minute} {
		require.ErrorIs(t, s.control().ChangeElectionTimer(t.Context(), ovndb.SB, timer), ovsctl.ErrTimerRange, "%s", timer)
	}
	assert.Equal(t, time.Second, s.Status(t).ElectionTimer)
}

func TestElectionTimerIsTheLeadersBusiness(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.SB, 2)
	err := members[1].control().ChangeElectionTimer(t.Context(), ovndb.SB, 2*time.Second)
	require.ErrorIs(t, err, ovsctl.ErrNotLeader)
	assert.EqualError(t, err, "cannot ask OVN_Southbound's server for cluster/change-election-timer: server is not the leader")
}

func TestElectionTimerWaitsForTheEarlierChange(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 2)
	leader := members[0].slower(t).control()
	members[1].Kill(t) // nothing is committed any more
	require.NoError(t, leader.ChangeElectionTimer(t.Context(), ovndb.NB, 32*time.Second))
	assert.Equal(t, 32*time.Second, members[0].Status(t).ChangingTo)
	require.ErrorIs(t, leader.ChangeElectionTimer(t.Context(), ovndb.NB, 20*time.Second), ovsctl.ErrTimerPending)
}
