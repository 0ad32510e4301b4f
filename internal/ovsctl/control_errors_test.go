//go:build programs

package ovsctl_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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
