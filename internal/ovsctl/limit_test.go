//go:build programs

package ovsctl_test

import (
	"os"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

// limitFileSize sets how long files may become that the process writes: as a quota
// does, and seen by it as one error of write() of many.
func limitFileSize(t *testing.T, process int, bytes uint64) {
	t.Helper()
	limit := syscall.Rlimit{Cur: bytes, Max: ^uint64(0)}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(process), syscall.RLIMIT_FSIZE, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	require.Zero(t, errno)
}

const unlimited = ^uint64(0)

// size is that of a server's file.
func size(t *testing.T, s *server) uint64 {
	t.Helper()
	info, err := os.Stat(s.File())
	require.NoError(t, err)
	return uint64(info.Size())
}

// A quota and a read-only disk have the effect of a full disk: the entries that a failed
// write has lost are found, and the file is rewritten once that is possible. The test uses a
// limit of the process for the length of its files instead of a quota, and a mount over the folder,
// which prevents new files but not writes to the one that is open.
func TestEntriesThatAQuotaHasLostAreFoundAndAReadOnlyDiskHindersOnlyTheMending(t *testing.T) {
	t.Parallel()
	servers := ovsdbtest.Several(t, ovndb.NB, 3)
	servers[2].Prefix = []string{"env", "--ignore-signal=SIGXFSZ"} // else it ends at once, as by kill
	members := all(ovsdbtest.Form(t, servers...))
	leader, third := members[0], members[2]
	write(t, leader, 10)
	third.Reaches(t, func(s raft.Status) bool { return s.Committed() == leader.Status(t).Committed() }, "it does not follow")
	log, end := stored(t, third)
	require.Equal(t, raftfile.Log{End: end}, log)

	limitFileSize(t, third.Pid, size(t, third)+100)
	write(t, leader, 4096)
	third.Reaches(t, func(s raft.Status) bool { return s.Log.End >= leader.Status(t).Log.End }, "it does not follow")
	log, end = stored(t, third)
	assert.Less(t, log.End, end, "the server believes to have stored it")
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
	if err := third.control().Compact(t.Context(), ovndb.NB); err != nil { // else a later turn tries
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
		_ = third.control().Compact(t.Context(), ovndb.NB) // the second time there may be nothing to do
		log, end = stored(t, third)
		return log == raftfile.Log{End: end}
	}, patience, pollEvery)
	third.Kill(t)
	third.Start(t)
	third.Reaches(t, func(s raft.Status) bool { return s.HasLeader() }, "it does not come back")
	assert.Len(t, rows(t, third), 3)
}
