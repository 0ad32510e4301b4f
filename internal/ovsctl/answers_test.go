//go:build programs

package ovsctl_test

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// counted runs programs and counts them.
type counted struct{ calls int }

// Run implements run.Runner.
func (c *counted) Run(ctx context.Context, command run.Command) ([]byte, error) {
	c.calls++
	return run.Exec{}.Run(ctx, command)
}

func TestStateCache_file_changes(t *testing.T) {
	t.Parallel()
	s, calls := newServer(t, ovndb.NB, loopbacktest.Network(t)+".1"), new(counted)
	files := s.files()
	files.Runner, files.Answers = calls, new(ovsctl.StateCache)
	made, err := files.CreateCluster(t.Context(), ovndb.NB, s.Address, time.Second)
	require.NoError(t, err)
	before := calls.calls

	require.NoError(t, files.Commit(ovndb.NB))
	file, err := files.Inspect(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.Equal(t, before+1, calls.calls, "whether its server has left")
	again, err := files.Inspect(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.Equal(t, file, again)
	assert.Equal(t, before+1, calls.calls)
	made.Path = file.Path
	assert.Equal(t, made, file)

	// A server writes to it.
	s.Start(t)
	require.Eventually(t, func() bool { return s.Status(t).HasLeader() }, patience, 10*time.Millisecond)
	s.Kill(t)
	_, err = files.Inspect(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.Greater(t, calls.calls, before)

	// Another file gets its name.
	_, err = files.Archive(ovndb.NB, time.Now())
	require.NoError(t, err)
	_, err = files.CreateCluster(t.Context(), ovndb.NB, s.Address, time.Second)
	require.NoError(t, err)
	require.NoError(t, files.Commit(ovndb.NB))
	file, err = files.Inspect(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.NotEqual(t, made.Server, file.Server)
}

func TestStateCache_keeps_no_cut_off_answer(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1").Standalone(t)}
	files := s.files()
	files.Answers = new(ovsctl.StateCache)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := files.Inspect(over, ovndb.NB)
	require.Error(t, err)
	file, err := files.Inspect(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.Equal(t, "OVN_Northbound", file.Name)
}

// limitFileSize limits the length of files that the process writes, as a quota does.
func limitFileSize(t *testing.T, process int, bytes uint64) {
	t.Helper()
	limit := unix.Rlimit{Cur: bytes, Max: ^uint64(0)}
	require.NoError(t, unix.Prlimit(process, unix.RLIMIT_FSIZE, &limit, nil))
}

const unlimited = ^uint64(0)

// size is that of a server's file.
func size(t *testing.T, s *server) uint64 {
	t.Helper()
	info, err := os.Stat(s.File())
	require.NoError(t, err)
	return uint64(info.Size())
}

// A quota and a read-only disk have the effect of a full disk: lost entries are found, and the file is rewritten once
// that is possible. The test uses a limit of the length of files as the quota, and a mount over the folder, which
// prevents new files.
func TestReadLog_entries_lost_by_quota(t *testing.T) {
	t.Parallel()
	servers := ovsdbtest.Several(t, ovndb.NB, 3)
	servers[2].Prefix = []string{"env", "--ignore-signal=SIGXFSZ"} // otherwise it ends at once
	members := all(ovsdbtest.Form(t, servers...))
	leader, third := members[0], members[2]
	write(t, leader, 10)
	follow(t, third, leader)
	log, end := stored(t, third)
	require.Equal(t, raftfile.Log{End: end}, log)

	limitFileSize(t, third.Pid, size(t, third)+100)
	write(t, leader, 4096)
	third.Reaches(t, func(s raft.Status) bool { return s.Log.End >= leader.Status(t).Log.End }, "it does not follow")
	log, end = stored(t, third)
	assert.Less(t, log.End, end, "the server acknowledges it")
	limitFileSize(t, third.Pid, unlimited)
	write(t, leader, 10)
	require.Eventually(t, func() bool { log, _ = stored(t, third); return log.Damage != "" }, patience, pollEvery)

	require.NoError(t, syscall.Mount(third.Paths.DB, third.Paths.DB, "", syscall.MS_BIND, ""))
	mounted := true
	t.Cleanup(func() {
		if mounted {
			assert.NoError(t, syscall.Unmount(third.Paths.DB, syscall.MNT_DETACH))
		}
	})
	require.NoError(t, syscall.Mount("", third.Paths.DB, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""))
	refused := new(ovsctl.ServerError)
	if err := third.control().Compact(t.Context(), ovndb.NB); err != nil { // or a later iteration tries
		require.ErrorAs(t, err, &refused)
		assert.Contains(t, refused.Text, "Read-only file system")
	}
	again, err := raftfile.ReadLog(t.Context(), ovndb.Paths{Run: t.TempDir(), DB: third.Paths.DB}, ovndb.NB)
	require.NoError(t, err)
	assert.Equal(t, log.Damage, again.Damage)
	assert.Equal(t, raft.ClusterMember, third.Status(t).State)
	require.NoError(t, syscall.Unmount(third.Paths.DB, syscall.MNT_DETACH))
	mounted = false

	require.Eventually(t, func() bool {
		_ = third.control().Compact(t.Context(), ovndb.NB) // refused if there is nothing to do
		log, end = stored(t, third)
		return log == raftfile.Log{End: end}
	}, patience, pollEvery)
	third.Kill(t)
	third.Start(t)
	third.Reaches(t, func(s raft.Status) bool { return s.HasLeader() }, "it does not come back")
	assert.Len(t, rows(t, third), 3)
}

// A server that compacts a large database is silent for long.
func TestStatus_large_database_gets_more_time(t *testing.T) {
	t.Parallel()
	s := leads(t, ovndb.NB)
	require.NoError(t, s.Signal(syscall.SIGSTOP))
	begun := time.Now()
	_, err := s.control().Status(t.Context(), ovndb.NB)
	require.ErrorIs(t, err, ovsctl.ErrHung)
	require.ErrorContains(t, err, "within 5s")
	require.Less(t, time.Since(begun), patience)

	// The server has read its file already.
	require.NoError(t, os.Truncate(s.Paths.File(ovndb.NB), 160<<20))
	resumed := time.AfterFunc(8*time.Second, func() { _ = s.Signal(syscall.SIGCONT) })
	defer resumed.Stop()
	begun = time.Now()
	_, err = s.control().Status(t.Context(), ovndb.NB)
	require.NoError(t, err)
	require.Greater(t, time.Since(begun), 5*time.Second)
}
