//go:build programs

package ovsctl_test

import (
	"encoding/json"
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
)

const clusterTimer = 4 * time.Second

// stage stages a new cluster.
func (s *server) stage(t *testing.T) ovsctl.File {
	t.Helper()
	made, err := s.files().CreateCluster(t.Context(), s.Database, s.Address, clusterTimer)
	require.NoError(t, err)
	return made
}

// names returns the names of the files in the databases' folder.
func (s *server) names(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(s.Paths.DB)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestCreateCluster_staged_until_commit(t *testing.T) {
	t.Parallel()
	for _, d := range ovndb.Databases() {
		t.Run(d.Short(), func(t *testing.T) {
			t.Parallel()
			s := newServer(t, d, loopbacktest.Network(t)+".1")
			made := s.stage(t)
			assert.NotEmpty(t, made.Cluster)
			assert.Equal(t, string(d), made.Name)
			assert.False(t, s.inspect(t).Exists)
			staged, err := s.files().Staged(t.Context(), d)
			require.NoError(t, err)
			assert.Equal(t, made, staged)

			require.NoError(t, s.files().Commit(d))
			assert.Equal(t, made.Cluster, s.inspect(t).Cluster)
			assert.Equal(t, []string{filepath.Base(s.Paths.File(d))}, s.names(t))

			s.Start(t).Reaches(t, func(status raft.Status) bool {
				return status.Role == raft.Leader && status.ElectionTimer == clusterTimer
			}, "it leads with another election timer")
			status := s.Status(t)
			assert.Equal(t, made.Cluster, status.Cluster)
			assert.Equal(t, made.Server, status.Server)
		})
	}
}

func TestCreateCluster_keeps_staged_file(t *testing.T) {
	t.Parallel()
	s := newServer(t, ovndb.NB, "127.0.0.1")
	first := s.stage(t)
	assert.Equal(t, first, s.stage(t))
	s.Address = "tcp:127.0.0.2:6643"
	other := s.stage(t)
	assert.NotEqual(t, first.Cluster, other.Cluster)

	require.NoError(t, s.files().Discard(ovndb.NB))
	require.NoError(t, s.files().Discard(ovndb.NB))
	assert.Empty(t, s.names(t))
	staged, err := s.files().Staged(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.False(t, staged.Exists)
	require.ErrorIs(t, s.files().Commit(ovndb.NB), os.ErrNotExist)
}

func TestCreateCluster_keeps_unreadable_file(t *testing.T) {
	t.Parallel()
	s := newServer(t, ovndb.NB, "127.0.0.1")
	require.NoError(t, os.WriteFile(s.Paths.File(ovndb.NB)+".new", []byte("what is this?"), 0o600))
	_, err := s.files().CreateCluster(t.Context(), ovndb.NB, s.Address, clusterTimer)
	require.ErrorContains(t, err, s.Paths.File(ovndb.NB)+".new")
	assert.Equal(t, []string{"ovnnb_db.db.new"}, s.names(t))
}

func TestFiles_never_replace_database(t *testing.T) {
	t.Parallel()
	s := newServer(t, ovndb.SB, "127.0.0.1")
	staged := s.stage(t)
	path := s.Paths.File(ovndb.SB)
	require.NoError(t, os.WriteFile(path, []byte("copy"), 0o600))

	_, err := s.files().CreateCluster(t.Context(), ovndb.SB, s.Address, clusterTimer)
	require.ErrorIs(t, err, ovsctl.ErrFileExists)
	require.ErrorIs(t, s.files().Commit(ovndb.SB), ovsctl.ErrFileExists)
	err = s.files().JoinCluster(t.Context(), ovndb.SB, staged.Cluster, s.Address, []string{"tcp:127.0.0.2:6644"})
	require.ErrorIs(t, err, ovsctl.ErrFileExists)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "copy", string(text))
	assert.Equal(t, []string{"ovnsb_db.db", "ovnsb_db.db.new"}, s.names(t))
}

func TestJoinCluster_through_any_remote(t *testing.T) {
	t.Parallel()
	net := loopbacktest.Network(t)
	first := newServer(t, ovndb.NB, net+".1")
	cid := first.stage(t).Cluster
	require.NoError(t, first.files().Commit(ovndb.NB))
	first.Start(t)

	second := newServer(t, ovndb.NB, net+".2")
	unused := "tcp:" + net + ".9:6643"
	remotes := []string{unused, first.Address}
	require.NoError(t, second.files().JoinCluster(t.Context(), ovndb.NB, cid, second.Address, remotes))
	assert.Equal(t, []string{"ovnnb_db.db"}, second.names(t))
	assert.Equal(t, cid, second.inspect(t).Cluster)
	second.Start(t).Reaches(t, isMember, "it does not join")
}

func TestJoinCluster_other_ID_is_refused(t *testing.T) {
	t.Parallel()
	net := loopbacktest.Network(t)
	first := cluster(t, ovndb.NB, 1)[0]
	other := newServer(t, ovndb.NB, net+".2")
	wrong := raft.ID("01234567-89ab-4cde-8f01-23456789abcd")
	require.NoError(t, other.files().JoinCluster(t.Context(), ovndb.NB, wrong, other.Address, []string{first.Address}))
	other.Start(t)
	require.Eventually(t, func() bool {
		log, err := os.ReadFile(first.Log())
		return err == nil && strings.Contains(string(log), "wrong cluster")
	}, patience, 20*time.Millisecond, "the request is refused")
	assert.Equal(t, raft.JoiningCluster, other.Status(t).State)
	assert.Len(t, first.Status(t).Servers, 1)
}

func TestJoinCluster_invalid_arguments(t *testing.T) {
	t.Parallel()
	s := newServer(t, ovndb.NB, "127.0.0.1")
	const id raft.ID = "01234567-89ab-4cde-8f01-23456789abcd"
	remotes := []string{"tcp:127.0.0.2:6643"}
	for _, c := range []struct {
		id      raft.ID
		local   string
		remotes []string
	}{{"", s.Address, remotes}, {"0123", s.Address, remotes}, {id, s.Address, nil}, {id, "nonsense", remotes}} {
		require.Error(t, s.files().JoinCluster(t.Context(), ovndb.NB, c.id, c.local, c.remotes))
	}
	assert.Empty(t, s.names(t))
}

func TestCreateCluster_interrupted(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, s *server){
		"unfinished_file": func(t *testing.T, s *server) {
			whole, err := os.ReadFile(s.stage(t).Path)
			require.NoError(t, err)
			require.NoError(t, s.files().Discard(ovndb.NB))
			require.NoError(t, os.WriteFile(s.Paths.File(ovndb.NB)+".making", whole[:len(whole)/2], 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(s.Paths.DB, ".ovnnb_db.db.making.~lock~"), nil, 0o600))
		},
		"not_staged": func(t *testing.T, s *server) {
			require.NoError(t, os.Rename(s.stage(t).Path, s.Paths.File(ovndb.NB)+".making"))
		},
		"not_committed": func(t *testing.T, s *server) { s.stage(t) },
	}
	for name, interrupted := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, ovndb.NB, loopbacktest.Network(t)+".1")
			interrupted(t, s)
			made := s.stage(t)
			require.NoError(t, s.files().Commit(ovndb.NB))
			assert.Equal(t, []string{"ovnnb_db.db"}, s.names(t))
			assert.Equal(t, made.Cluster, s.Start(t).Status(t).Cluster)
		})
	}
}

func TestCommit_interrupted(t *testing.T) {
	t.Parallel()
	s := newServer(t, ovndb.SB, "127.0.0.1")
	made := s.stage(t)
	require.NoError(t, os.Link(made.Path, s.Paths.File(ovndb.SB)))
	require.NoError(t, s.files().Commit(ovndb.SB))
	assert.Equal(t, []string{"ovnsb_db.db"}, s.names(t))
	require.NoError(t, s.files().Commit(ovndb.SB))
	assert.Equal(t, made.Cluster, s.inspect(t).Cluster)
}

// A server starts on the committed file before the next call of Commit, and may compact it.
func TestStaged_interrupted_commit(t *testing.T) {
	t.Parallel()
	s := newServer(t, ovndb.NB, loopbacktest.Network(t)+".1")
	made := s.stage(t)
	require.NoError(t, os.Link(made.Path, s.Paths.File(ovndb.NB)))
	leads := func(status raft.Status) bool { return status.Role == raft.Leader }
	s.Start(t).Reaches(t, leads, "it leads")
	require.NoError(t, s.control().Compact(t.Context(), ovndb.NB))
	require.Eventually(t, func() bool { // the server may replace the file a moment later
		old, missing := os.Stat(made.Path)
		placed, err := os.Stat(s.Paths.File(ovndb.NB))
		return missing == nil && err == nil && !os.SameFile(old, placed)
	}, 20*time.Second, 10*time.Millisecond)

	staged, err := s.files().Staged(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.False(t, staged.Exists, "it is committed")
	assert.NotContains(t, s.names(t), "ovnnb_db.db.new")
	assert.Equal(t, made.Server, s.inspect(t).Server)
}

func TestCreateCluster_full_disk(t *testing.T) {
	require.Zero(t, os.Geteuid(), "only root can mount a small disk")
	s := newServer(t, ovndb.SB, "127.0.0.1")
	s.Paths.DB = t.TempDir()
	require.NoError(t, syscall.Mount("tmpfs", s.Paths.DB, "tmpfs", 0, "size=12k"))
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(s.Paths.DB, syscall.MNT_DETACH)) })

	_, err := s.files().CreateCluster(t.Context(), ovndb.SB, s.Address, clusterTimer)
	require.Error(t, err)
	assert.Empty(t, s.names(t))

	require.NoError(t, syscall.Mount("tmpfs", s.Paths.DB, "tmpfs", syscall.MS_REMOUNT, "size=1m"))
	s.stage(t)
	require.NoError(t, s.files().Commit(ovndb.SB))
}

// oldSchema writes a schema of NB that lacks a column, to a folder of its own.
func oldSchema(t *testing.T, version string) (dir string) {
	t.Helper()
	return filepath.Dir(edited(t, ovndb.NB, version, func(tables object) {
		delete(ovsdbtest.ColumnsOf(tables, "Logical_Switch"), "other_config")
	}))
}

// Any member can convert the whole cluster. The rows stay.
func TestConvert_older_schema_only(t *testing.T) {
	t.Parallel()
	old := oldSchema(t, "6.10.0")
	net := loopbacktest.Network(t)
	first := newServer(t, ovndb.NB, net+".1")
	first.Schema = filepath.Join(old, "ovn-nb.ovsschema")
	first.Create(t).Start(t)
	second := newServer(t, ovndb.NB, net+".2")
	second.Join(t, first.Address).Start(t).Reaches(t, isMember, "it does not join")
	query(t, second, `{"op":"insert","table":"Logical_Switch","row":{"name":"net"}}`)

	require.True(t, needsConversion(t, first.files()))
	require.NoError(t, second.files().Convert(t.Context(), ovndb.NB, patience))
	for _, s := range []*server{first, second} {
		require.Eventually(t, func() bool { return !needsConversion(t, s.files()) }, patience, 20*time.Millisecond)
		out := query(t, s, `{"op":"select","table":"Logical_Switch","where":[],"columns":["name","other_config"]}`)
		assert.Contains(t, out, `"net"`)
	}
	newer := first.files()
	newer.Paths.Data = oldSchema(t, "6.9.9")
	assert.False(t, needsConversion(t, newer))
	newer.Paths.Data = oldSchema(t, "10.0.0")
	assert.True(t, needsConversion(t, newer))
}

func TestNeedsConversion_unknown_version(t *testing.T) {
	t.Parallel()
	s := newServer(t, ovndb.NB, loopbacktest.Network(t)+".1")
	_, err := s.files().NeedsConversion(t.Context(), ovndb.NB)
	require.Error(t, err, "no server runs")
	s.Create(t).Start(t)
	files := s.files()
	files.Paths.Data = oldSchema(t, "soon")
	_, err = files.NeedsConversion(t.Context(), ovndb.NB)
	require.Error(t, err)
}

func needsConversion(t *testing.T, f ovsctl.Files) bool {
	t.Helper()
	needed, err := f.NeedsConversion(t.Context(), ovndb.NB)
	require.NoError(t, err)
	return needed
}

func query(t *testing.T, s *server, operation string) string {
	t.Helper()
	out, err := run.Exec{}.Run(t.Context(), run.Command{Name: "ovsdb-client", Args: []string{
		"--timeout=10", "transact", "unix:" + s.Paths.Socket(ovndb.NB), `["OVN_Northbound",` + operation + `]`,
	}})
	require.NoError(t, err)
	return string(out)
}

// An ovsdb-server older than OVS 3.2, such as Debian 12's, exits if a newer one has converted its file: the newer
// leader stores the schema without data.
func TestFileTooNew(t *testing.T) {
	t.Parallel()
	s := newServer(t, ovndb.NB, loopbacktest.Network(t)+".1")
	s.Create(t)
	s.Paths.Logs = s.Paths.Run
	check := func(want bool, when string) {
		t.Helper()
		got, err := ovsctl.FileTooNew(s.Paths, ovndb.NB)
		require.NoError(t, err)
		assert.Equal(t, want, got, when)
	}
	check(false, "no log")
	text, err := os.ReadFile(schema(ovndb.NB))
	require.NoError(t, err)
	entry, err := json.Marshal(object{
		"term": 1, "index": 2, "eid": "11111111-2222-4333-8444-555555555555", "data": []any{json.RawMessage(text), nil},
	})
	require.NoError(t, err)
	s.appendTo(t, string(entry)+"\n")
	require.Error(t, s.Begin(t).Wait(t))
	check(true, "ended")

	ended, err := os.ReadFile(s.Paths.Log(ovndb.NB))
	require.NoError(t, err)
	write := func(parts ...string) {
		require.NoError(t, os.WriteFile(s.Paths.Log(ovndb.NB), []byte(strings.Join(parts, "")), 0o600))
	}
	write(strings.Repeat("2026-11-22T12:00:00Z|00099|raft|INFO|nothing\n", 3000), string(ended))
	check(true, "a long log")
	write(string(ended), "2026-11-22T12:00:00Z|00001|vlog|INFO|opened log file "+s.Paths.Log(ovndb.NB)+"\n")
	check(false, "another server has started")
}
