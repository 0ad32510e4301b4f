//go:build programs

package ovsctl_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

func (s *server) inspect(t *testing.T) ovsctl.File {
	t.Helper()
	f, err := s.files().Inspect(t.Context(), s.Database)
	require.NoError(t, err)
	return f
}

func TestInspect_missing_file(t *testing.T) {
	t.Parallel()
	s := newServer(t, ovndb.NB, "127.0.0.1")
	assert.Equal(t, ovsctl.File{Path: s.Paths.File(ovndb.NB)}, s.inspect(t))

	s.Paths.DB = filepath.Join(s.Paths.DB, "no", "such", "folder")
	assert.False(t, s.inspect(t).Exists)
}

func TestInspect_standalone(t *testing.T) {
	t.Parallel()
	s := newServer(t, ovndb.SB, "127.0.0.1")
	_, err := raftfile.ReadStorage(s.Paths, ovndb.SB)
	require.ErrorIs(t, err, os.ErrNotExist)
	s.Standalone(t)
	_, err = raftfile.ReadStorage(s.Paths, ovndb.SB)
	require.Error(t, err)
	wanted := ovsctl.File{Path: s.Paths.File(ovndb.SB), Exists: true, Head: raftfile.Head{Name: "OVN_Southbound"}}
	assert.Equal(t, wanted, s.inspect(t))
}

func TestInspect_member(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.SB, 1)[0]
	status := s.Status(t)
	wanted := ovsctl.File{
		Path: s.Paths.File(ovndb.SB), Exists: true, Head: raftfile.Head{
			Clustered: true, Name: "OVN_Southbound", Address: s.Address, Server: status.Server, Cluster: status.Cluster,
		},
	}
	assert.Equal(t, wanted, s.inspect(t), "running")
	require.NoError(t, s.Signal(syscall.SIGSTOP))
	assert.Equal(t, wanted, s.inspect(t), "hanging")
	s.Kill(t)
	assert.Equal(t, wanted, s.inspect(t), "killed")
}

func TestInspect_joining_server(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1").Join(t, "tcp:127.0.0.2:6643")}
	f := s.inspect(t)
	assert.True(t, f.Clustered)
	assert.NotEmpty(t, f.Server)
	assert.Empty(t, f.Cluster)
	assert.False(t, f.Left)
	s.joined(t, false)
	s.Start(t)
	s.joined(t, false)
}

func TestInspect_left(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, going, staying *server){
		"by_leave": func(t *testing.T, going, _ *server) {
			require.NoError(t, going.control().Leave(t.Context(), ovndb.NB))
		},
		"by_kick": func(t *testing.T, going, staying *server) {
			require.NoError(t, staying.control().Kick(t.Context(), ovndb.NB, string(going.Status(t).Server)))
		},
	}
	for name, remove := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			members := cluster(t, ovndb.NB, 2)
			going, staying := members[1], members[0]
			id := going.Status(t).Server
			assert.False(t, going.inspect(t).Left)
			going.joined(t, true)
			remove(t, going, staying)
			going.gone(t)
			f := going.inspect(t)
			assert.True(t, f.Left)
			going.joined(t, false)
			assert.Equal(t, id, f.Server)
			assert.False(t, staying.inspect(t).Left)
			going.Kill(t)
			assert.True(t, going.inspect(t).Left)
		})
	}
}

func TestInspect_kicked_while_down(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 3)
	id := members[2].Status(t).Server
	members[2].Kill(t)
	require.NoError(t, members[0].control().Kick(t.Context(), ovndb.NB, string(id)))
	members[0].Reaches(t, func(s raft.Status) bool { return !has(s, id) }, "the dead member stays")
	assert.False(t, members[2].inspect(t).Left)
}

func TestInspect_other_database(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.SB, "127.0.0.1").Create(t)}
	require.NoError(t, os.Rename(s.Paths.File(ovndb.SB), s.Paths.File(ovndb.NB)))
	f, err := s.files().Inspect(t.Context(), ovndb.NB)
	require.ErrorContains(t, err, "OVN_Southbound")
	assert.Empty(t, f.Server)
}

func TestInspect_malformed_file(t *testing.T) {
	t.Parallel()
	s := newServer(t, ovndb.NB, "127.0.0.1")
	for _, text := range []string{"", "#!/bin/sh\n", "OVSDB CLUSTER 300 0123\n{"} {
		require.NoError(t, os.WriteFile(s.File(), []byte(text), 0o600))
		f, err := s.files().Inspect(t.Context(), ovndb.NB)
		require.ErrorContains(t, err, s.File())
		assert.Equal(t, ovsctl.File{Path: s.File(), Exists: true}, f)
	}
	require.NoError(t, os.Remove(s.File()))
	require.NoError(t, os.Mkdir(s.File(), 0o755))
	_, err := s.files().Inspect(t.Context(), ovndb.NB)
	require.Error(t, err)
}

func TestInspect_missing_program(t *testing.T) {
	s := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1").Create(t)}
	t.Setenv("PATH", t.TempDir())
	_, err := s.files().Inspect(t.Context(), ovndb.NB)
	require.True(t, run.Missing(err))
}

// at is a time in a zone other than UTC.
var at = time.Date(2026, 11, 20, 19, 4, 5, 999, time.FixedZone("", 3600))

func TestArchive_renames_file(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1").Create(t)}
	before, err := os.ReadFile(s.Paths.File(ovndb.NB))
	require.NoError(t, err)

	name, err := s.files().Archive(ovndb.NB, at)
	require.NoError(t, err)
	assert.Equal(t, s.Paths.File(ovndb.NB)+".left-20261120T180405Z", name)
	after, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, before, after)
	assert.NoFileExists(t, s.Paths.File(ovndb.NB))

	// The machine can host a new unit now.
	s.Create(t).Start(t)
	assert.Equal(t, raft.ClusterMember, s.Status(t).State)
}

func TestArchive_same_second(t *testing.T) {
	t.Parallel()
	s := newServer(t, ovndb.SB, "127.0.0.1")
	_, err := s.files().Archive(ovndb.SB, at)
	require.ErrorIs(t, err, os.ErrNotExist)
	for text, suffix := range []string{"", ".1", ".2", ".3"} {
		require.NoError(t, os.WriteFile(s.File(), []byte{byte(text)}, 0o600))
		name, err := s.files().Archive(ovndb.SB, at)
		require.NoError(t, err)
		assert.Equal(t, s.File()+".left-20261120T180405Z"+suffix, name)
	}
	for text, suffix := range []string{"", ".1", ".2", ".3"} {
		got, err := os.ReadFile(s.File() + ".left-20261120T180405Z" + suffix)
		require.NoError(t, err)
		assert.Equal(t, []byte{byte(text)}, got)
	}
}

func storage(t *testing.T, s *server) raftfile.Storage {
	t.Helper()
	found, err := raftfile.ReadStorage(s.Paths, s.Database)
	require.NoError(t, err)
	stat, err := os.Stat(s.File())
	require.NoError(t, err)
	assert.Equal(t, stat.Size(), found.Size)
	return found
}

func TestCompact_shrinks_file(t *testing.T) {
	t.Parallel()
	began := time.Now().Add(-time.Second) // file systems round times
	s := leads(t)
	before := storage(t, s)
	write(t, s, 100_000)
	after := storage(t, s)
	assert.Equal(t, before.Compacted, after.Compacted)
	assert.GreaterOrEqual(t, after.Grown(), before.Grown()+100_000)
	assert.Equal(t, before.Written, after.Written)
	require.False(t, after.Written.IsZero())
	assert.True(t, after.Written.After(began))

	require.NoError(t, s.control().TrimMemory(t.Context(), ovndb.NB))
	require.NoError(t, s.control().TrimMemory(t.Context(), ovndb.NB))
	require.NoError(t, s.control().Compact(t.Context(), ovndb.NB))
	require.Eventually(t, func() bool { return storage(t, s).Compacted > 100_000 }, patience, 20*time.Millisecond)
	compacted := storage(t, s)
	assert.Less(t, compacted.Grown(), int64(10_000))
	assert.False(t, compacted.Written.Before(after.Written))
}

func TestReadLongPolls_of_server(t *testing.T) {
	t.Parallel()
	s := leads(t)
	s.Paths.Logs = s.Paths.Run
	since := time.Now().Add(-time.Minute)
	row := object{"op": "insert", "table": "DNS", "row": object{"external_ids": json.RawMessage(`["map",[["a","b"],["c","d"]]]`)}}
	for rows := 20_000; rows <= 640_000; rows *= 2 { // until it takes a second on this machine
		began := time.Now()
		// One transaction is one iteration of the server's main loop.
		require.NoError(t, s.Transact(3*patience, slices.Repeat([]any{row}, rows)...))
		took := time.Since(began)
		found, err := ovsctl.ReadLongPolls(s.Paths, ovndb.NB, since)
		require.NoError(t, err)
		if found.Count > 0 {
			assert.GreaterOrEqual(t, found.Longest, time.Second)
			assert.LessOrEqual(t, found.Longest, took+time.Second)
			return
		}
	}
	require.Fail(t, "no iteration took a second")
}

// limitFileSize limits the length of files that the process writes, as a quota does.
func limitFileSize(t *testing.T, process int, bytes uint64) {
	t.Helper()
	limit := unix.Rlimit{Cur: bytes, Max: ^uint64(0)}
	require.NoError(t, unix.Prlimit(process, unix.RLIMIT_FSIZE, &limit, nil))
}

const unlimited = ^uint64(0)

// size returns the size of a server's file.
func size(t *testing.T, s *server) uint64 {
	t.Helper()
	info, err := os.Stat(s.File())
	require.NoError(t, err)
	return uint64(info.Size())
}

// A quota and a read-only disk have the effect of a full disk: lost entries are found, and the file is rewritten once
// that is possible. As the quota, the test uses a limit of the length of files; a mount over the folder prevents new
// files.
func TestReadLog_entries_lost_by_quota(t *testing.T) {
	t.Parallel()
	servers := ovsdbtest.Several(t, ovndb.NB, 3)
	servers[2].Prefix = []string{"env", "--ignore-signal=SIGXFSZ"} // otherwise SIGXFSZ kills it
	members := all(ovsdbtest.Form(t, servers...))
	leader, third := members[0], members[2]
	write(t, leader, 10)
	follow(t, third, leader)
	log, end := stored(t, third)
	require.True(t, holds(log, end))

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
	if err := third.control().Compact(t.Context(), ovndb.NB); err != nil { // a later iteration tries again
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
		return holds(log, end)
	}, patience, pollEvery)
	third.Kill(t)
	third.Start(t)
	third.Reaches(t, func(s raft.Status) bool { return s.HasLeader() }, "it does not come back")
	assert.Len(t, rows(t, third), 3)
}

// A server that compacts a large database does not answer for a long time.
func TestStatus_large_database_gets_more_time(t *testing.T) {
	t.Parallel()
	s := leads(t)
	require.NoError(t, s.Signal(syscall.SIGSTOP))
	start := time.Now()
	_, err := s.control().Status(t.Context(), ovndb.NB)
	require.ErrorIs(t, err, ovsctl.ErrHung)
	require.ErrorContains(t, err, "within 5s")
	require.Less(t, time.Since(start), patience)

	// The server has read its file already.
	require.NoError(t, os.Truncate(s.Paths.File(ovndb.NB), 160<<20))
	resumed := time.AfterFunc(8*time.Second, func() { _ = s.Signal(syscall.SIGCONT) })
	defer resumed.Stop()
	start = time.Now()
	_, err = s.control().Status(t.Context(), ovndb.NB)
	require.NoError(t, err)
	require.Greater(t, time.Since(start), 5*time.Second)
}
