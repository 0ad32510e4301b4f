//go:build programs

package ovsctl_test

import (
	"encoding/json"
	"fmt"
	"net"
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
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

func (s *server) inspect(t *testing.T) ovsctl.File {
	t.Helper()
	f, err := s.files().Inspect(t.Context(), s.Database)
	require.NoError(t, err)
	return f
}

func TestAbsentFile(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1")}
	assert.Equal(t, ovsctl.File{Path: s.Paths.File(ovndb.NB)}, s.inspect(t))

	s.Paths.DB = filepath.Join(s.Paths.DB, "no", "such", "folder")
	assert.False(t, s.inspect(t).Exists)
}

func TestStandaloneFileHasAName(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.SB, "127.0.0.1").Standalone(t)}
	assert.Equal(t, ovsctl.File{Path: s.Paths.File(ovndb.SB), Exists: true, Name: "OVN_Southbound"}, s.inspect(t))
}

func TestMembersFileHasItsIDsWithAndWithoutAServer(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.SB, 1)[0]
	status := s.Status(t)
	wanted := ovsctl.File{
		Path: s.Paths.File(ovndb.SB), Exists: true, Clustered: true,
		Name: "OVN_Southbound", Server: status.Server, Cluster: *status.Cluster,
	}
	assert.Equal(t, wanted, s.inspect(t), "the server runs")
	require.NoError(t, s.Signal(syscall.SIGSTOP))
	assert.Equal(t, wanted, s.inspect(t), "the server hangs")
	s.Kill(t)
	assert.Equal(t, wanted, s.inspect(t), "the server is gone")
}

func TestFileThatIsToJoinHasNoClusterYet(t *testing.T) {
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

func TestFileSaysThatItsServerHasLeft(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, going, staying *server){
		"by itself": func(t *testing.T, going, _ *server) {
			require.NoError(t, going.control().Leave(t.Context(), ovndb.NB))
		},
		"since it was kicked": func(t *testing.T, going, staying *server) {
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
			assert.Equal(t, id, f.Server, "it still says who it was")
			assert.False(t, staying.inspect(t).Left)
			going.Kill(t)
			assert.True(t, going.inspect(t).Left)
		})
	}
}

func TestFileOfAServerThatWasKickedWhileDownDoesNotKnow(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 3)
	id := members[2].Status(t).Server
	members[2].Kill(t)
	require.NoError(t, members[0].control().Kick(t.Context(), ovndb.NB, string(id)))
	members[0].Reaches(t, func(s raft.Status) bool { return !has(s, id) }, "the dead member stays")
	assert.False(t, members[2].inspect(t).Left)
}

func TestFileOfTheOtherDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.SB, "127.0.0.1").Create(t)}
	require.NoError(t, os.Rename(s.Paths.File(ovndb.SB), s.Paths.File(ovndb.NB)))
	f, err := s.files().Inspect(t.Context(), ovndb.NB)
	require.ErrorContains(t, err, `holds the database "OVN_Southbound", not OVN_Northbound`)
	assert.Empty(t, f.Server, "nobody may publish it")
}

func TestFileThatIsNoDatabase(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "another kind": "#!/bin/sh\n", "cut off in the header": "OVSDB CLUSTER 300 0123\n{",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1")}
			require.NoError(t, os.WriteFile(s.Paths.File(ovndb.NB), []byte(text), 0o600))
			f, err := s.files().Inspect(t.Context(), ovndb.NB)
			require.ErrorContains(t, err, "cannot read "+s.Paths.File(ovndb.NB))
			assert.True(t, f.Exists)
			assert.Empty(t, f.Server)
		})
	}
}

func TestFolderInThePlaceOfTheFile(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1")}
	require.NoError(t, os.Mkdir(s.Paths.File(ovndb.NB), 0o755))
	_, err := s.files().Inspect(t.Context(), ovndb.NB)
	require.Error(t, err)
}

func TestFileCannotBeReadWithoutItsTool(t *testing.T) {
	s := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1").Create(t)}
	t.Setenv("PATH", t.TempDir())
	_, err := s.files().Inspect(t.Context(), ovndb.NB)
	require.True(t, run.Missing(err))
	assert.ErrorContains(t, err, "ovsdb-tool: program not found")
}

// at is a moment with a zone, which the names of files are not to show.
var at = time.Date(2026, 11, 20, 19, 4, 5, 999, time.FixedZone("", 3600))

func TestArchivedFileKeepsItsContentUnderATimedName(t *testing.T) {
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

	// The machine can host a new unit.
	s.Create(t).Start(t)
	assert.Equal(t, raft.ClusterMember, s.Status(t).State)
}

func TestArchivesOfOneSecondDoNotOverwriteEachOther(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.SB, "127.0.0.1")}
	var names []string
	for _, text := range []string{"a", "b", "c", "d"} {
		require.NoError(t, os.WriteFile(s.Paths.File(ovndb.SB), []byte(text), 0o600))
		name, err := s.files().Archive(ovndb.SB, at)
		require.NoError(t, err)
		names = append(names, filepath.Base(name))
	}
	assert.Equal(t, []string{
		"ovnsb_db.db.left-20261120T180405Z", "ovnsb_db.db.left-20261120T180405Z.1",
		"ovnsb_db.db.left-20261120T180405Z.2", "ovnsb_db.db.left-20261120T180405Z.3",
	}, names)
	for i, text := range []string{"a", "b", "c", "d"} {
		got, err := os.ReadFile(filepath.Join(s.Paths.DB, names[i]))
		require.NoError(t, err)
		assert.Equal(t, text, string(got))
	}
}

func TestArchiveOfNoFileSaysSo(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1")}
	_, err := s.files().Archive(ovndb.NB, at)
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "cannot archive")
	left, err := os.ReadDir(s.Paths.DB)
	require.NoError(t, err)
	assert.Empty(t, left)
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

func TestFileOfARealServerGrowsUntilItIsCompacted(t *testing.T) {
	t.Parallel()
	began := time.Now().Add(-time.Second) // file systems count in ticks
	s := &server{ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1").Create(t).Start(t)}
	s.Reaches(t, func(s raft.Status) bool { return s.HasLeader() }, "no leader")
	before := storage(t, s)
	write(t, s, 100_000)
	after := storage(t, s)
	assert.Equal(t, before.Compacted, after.Compacted)
	assert.GreaterOrEqual(t, after.Grown(), before.Grown()+100_000)
	assert.Equal(t, before.Written, after.Written, "it is the same file")
	require.False(t, after.Written.IsZero(), "the file system of this machine says when")
	assert.True(t, after.Written.After(began))

	require.NoError(t, s.control().TrimMemory(t.Context(), ovndb.NB), "a server takes it, whether or not it is on already")
	require.NoError(t, s.control().TrimMemory(t.Context(), ovndb.NB))
	require.NoError(t, s.control().Compact(t.Context(), ovndb.NB))
	require.Eventually(t, func() bool { return storage(t, s).Compacted > 100_000 }, patience, 20*time.Millisecond, "what was written is in the snapshot")
	compacted := storage(t, s)
	assert.Less(t, compacted.Grown(), int64(10_000))
	assert.False(t, compacted.Written.Before(after.Written))
}

func TestFileThatIsNoClustersHasNoStorage(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1")}
	_, err := raftfile.ReadStorage(s.Paths, ovndb.NB)
	require.ErrorIs(t, err, os.ErrNotExist)
	s.Standalone(t)
	_, err = raftfile.ReadStorage(s.Paths, ovndb.NB)
	require.ErrorContains(t, err, "invalid header")
}

// insert has the server store so many rows in one transaction, which is one turn of its
// main loop.
func insert(t *testing.T, s *server, rows int) {
	t.Helper()
	client, err := new(net.Dialer).DialContext(t.Context(), "unix", s.Paths.Socket(s.Database))
	require.NoError(t, err)
	defer client.Close()
	row := `,{"op":"insert","table":"DNS","row":{"external_ids":["map",[["a","b"],["c","d"]]]}}`
	_, err = fmt.Fprintf(client, `{"id":1,"method":"transact","params":["%s"%s]}`, s.Database, strings.Repeat(row, rows))
	require.NoError(t, err)
	require.NoError(t, client.SetReadDeadline(time.Now().Add(3*patience)))
	var answer struct{ Error any }
	require.NoError(t, json.NewDecoder(client).Decode(&answer))
	require.Nil(t, answer.Error)
}

func TestARealServerThatWasSilentSaysSoInItsLog(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1").Create(t).Start(t)}
	s.Reaches(t, func(s raft.Status) bool { return s.HasLeader() }, "no leader")
	s.Paths.Logs = s.Paths.Run
	since := time.Now().Add(-time.Minute)
	for rows := 20_000; rows <= 640_000; rows *= 2 { // what takes a second depends on the machine
		began := time.Now()
		insert(t, s, rows)
		took := time.Since(began)
		found, err := ovsctl.ReadLongPolls(s.Paths, ovndb.NB, since)
		require.NoError(t, err)
		if found.Count > 0 {
			assert.GreaterOrEqual(t, found.Longest, time.Second)
			assert.LessOrEqual(t, found.Longest, took+time.Second)
			return
		}
	}
	require.Fail(t, "no turn took a second")
}
