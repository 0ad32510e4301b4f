//go:build programs

package ovsctl_test

import (
	"crypto/sha1" //nolint:gosec // the format of OVSDB's files
	"encoding/json"
	"fmt"
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

// stage makes the file of a new cluster, which no unit commits.
func (s *server) stage(t *testing.T) ovsctl.File {
	t.Helper()
	made, err := s.files().CreateCluster(t.Context(), s.Database, s.Address, clusterTimer)
	require.NoError(t, err)
	return made
}

// names are the files in the folder of the databases.
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

func TestNewClusterIsKnownBeforeAnyServerFindsIt(t *testing.T) {
	t.Parallel()
	for _, d := range ovndb.Databases() {
		t.Run(d.Short(), func(t *testing.T) {
			t.Parallel()
			s := &server{ovsdbtest.New(t, d, loopbacktest.Network(t)+".1")}
			made := s.stage(t)
			assert.NotEmpty(t, made.Cluster)
			assert.Equal(t, string(d), made.Name)
			assert.False(t, s.inspect(t).Exists)
			staged, err := s.files().Staged(t.Context(), d)
			require.NoError(t, err)
			assert.Equal(t, made, staged)

			require.NoError(t, s.files().Commit(d))
			assert.Equal(t, made.Cluster, s.inspect(t).Cluster)
			assert.Equal(t, []string{filepath.Base(s.Paths.File(d))}, s.names(t), "nothing else is left")

			s.Start(t).Reaches(t, func(status raft.Status) bool {
				return status.Role == raft.Leader && status.ElectionTimer == clusterTimer
			}, "the server does not lead the cluster that was made, or not with its election timer")
			status := s.Status(t)
			assert.Equal(t, made.Cluster, *status.Cluster)
			assert.Equal(t, made.Server, status.Server)
		})
	}
}

func TestClusterThatWasStagedIsKeptByTheNextTry(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1")}
	first := s.stage(t)
	assert.Equal(t, first, s.stage(t), "others may know its ID")
	s.Address = "tcp:127.0.0.2:6643"
	other := s.stage(t)
	assert.NotEqual(t, first.Cluster, other.Cluster, "nobody can join at an address that is gone")

	require.NoError(t, s.files().Discard(ovndb.NB))
	require.NoError(t, s.files().Discard(ovndb.NB), "there is nothing any more")
	assert.Empty(t, s.names(t))
	staged, err := s.files().Staged(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.False(t, staged.Exists)
	require.ErrorIs(t, s.files().Commit(ovndb.NB), os.ErrNotExist)
}

func TestStagedFileThatCannotBeReadIsNotThrownAway(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1")}
	require.NoError(t, os.WriteFile(s.Paths.File(ovndb.NB)+".new", []byte("what is this?"), 0o600))
	_, err := s.files().CreateCluster(t.Context(), ovndb.NB, s.Address, clusterTimer)
	require.ErrorContains(t, err, "cannot read "+s.Paths.File(ovndb.NB)+".new")
	assert.Equal(t, []string{"ovnnb_db.db.new"}, s.names(t))
}

func TestDatabaseFileIsNeverReplaced(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.SB, "127.0.0.1")}
	staged := s.stage(t)
	path := s.Paths.File(ovndb.SB)
	require.NoError(t, os.WriteFile(path, []byte("the only copy"), 0o600))

	_, err := s.files().CreateCluster(t.Context(), ovndb.SB, s.Address, clusterTimer)
	require.ErrorIs(t, err, ovsctl.ErrFileExists)
	require.ErrorIs(t, s.files().Commit(ovndb.SB), ovsctl.ErrFileExists)
	require.ErrorIs(t, s.files().JoinCluster(t.Context(), ovndb.SB, staged.Cluster, s.Address, []string{"tcp:127.0.0.2:6644"}), ovsctl.ErrFileExists)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "the only copy", string(text))
	assert.Equal(t, []string{"ovnsb_db.db", "ovnsb_db.db.new"}, s.names(t))
}

func TestServerJoinsTheClusterOfTheIDThroughAnyRemote(t *testing.T) {
	t.Parallel()
	net := loopbacktest.Network(t)
	first := &server{ovsdbtest.New(t, ovndb.NB, net+".1")}
	cid := first.stage(t).Cluster
	require.NoError(t, first.files().Commit(ovndb.NB))
	first.Start(t)

	second := &server{ovsdbtest.New(t, ovndb.NB, net+".2")}
	nobody := "tcp:" + net + ".9:6643"
	require.NoError(t, second.files().JoinCluster(t.Context(), ovndb.NB, cid, second.Address, []string{nobody, first.Address}))
	assert.Equal(t, []string{"ovnnb_db.db"}, second.names(t))
	assert.Equal(t, cid, second.inspect(t).Cluster, "it is known before the server runs")
	second.Start(t).Reaches(t, func(s raft.Status) bool { return s.State == raft.ClusterMember && len(s.Servers) == 2 }, "it does not join")
}

func TestServerDoesNotJoinAClusterOfAnotherID(t *testing.T) {
	t.Parallel()
	net := loopbacktest.Network(t)
	first := cluster(t, ovndb.NB, 1)[0]
	other := &server{ovsdbtest.New(t, ovndb.NB, net+".2")}
	wrong := raft.ID("01234567-89ab-4cde-8f01-23456789abcd")
	require.NoError(t, other.files().JoinCluster(t.Context(), ovndb.NB, wrong, other.Address, []string{first.Address}))
	other.Start(t)
	// What is not to happen is not awaited but provoked: the request was refused.
	require.Eventually(t, func() bool {
		log, err := os.ReadFile(first.Log())
		return err == nil && strings.Contains(string(log), "wrong cluster")
	}, patience, 20*time.Millisecond, "the cluster was not asked")
	assert.Equal(t, raft.JoiningCluster, other.Status(t).State)
	assert.Len(t, first.Status(t).Servers, 1)
}

func TestNobodyJoinsWithoutAnIDOrARemote(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1")}
	const id = "01234567-89ab-4cde-8f01-23456789abcd"
	require.ErrorContains(t, s.files().JoinCluster(t.Context(), ovndb.NB, "", s.Address, []string{"tcp:127.0.0.2:6643"}), "takes a cluster ID")
	require.ErrorContains(t, s.files().JoinCluster(t.Context(), ovndb.NB, "0123", s.Address, []string{"tcp:127.0.0.2:6643"}), "takes a cluster ID")
	require.ErrorContains(t, s.files().JoinCluster(t.Context(), ovndb.NB, id, s.Address, nil), "at least one remote")
	require.Error(t, s.files().JoinCluster(t.Context(), ovndb.NB, id, "nonsense", []string{"tcp:127.0.0.2:6643"}))
	assert.Empty(t, s.names(t))
}

func TestWhatWasInterruptedIsTakenUp(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, s *server){
		"while the file was written": func(t *testing.T, s *server) {
			whole, err := os.ReadFile(s.stage(t).Path)
			require.NoError(t, err)
			require.NoError(t, s.files().Discard(ovndb.NB))
			require.NoError(t, os.WriteFile(s.Paths.File(ovndb.NB)+".making", whole[:len(whole)/2], 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(s.Paths.DB, ".ovnnb_db.db.making.~lock~"), nil, 0o600))
		},
		"before it was staged": func(t *testing.T, s *server) {
			require.NoError(t, os.Rename(s.stage(t).Path, s.Paths.File(ovndb.NB)+".making"))
		},
		"before it was committed": func(t *testing.T, s *server) { s.stage(t) },
	}
	for name, interrupted := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &server{ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1")}
			interrupted(t, s)
			made := s.stage(t)
			require.NoError(t, s.files().Commit(ovndb.NB))
			assert.Equal(t, []string{"ovnnb_db.db"}, s.names(t))
			assert.Equal(t, made.Cluster, *s.Start(t).Status(t).Cluster)
		})
	}
}

func TestCommitThatWasInterruptedIsFinished(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.SB, "127.0.0.1")}
	made := s.stage(t)
	require.NoError(t, os.Link(made.Path, s.Paths.File(ovndb.SB)))
	require.NoError(t, s.files().Commit(ovndb.SB))
	assert.Equal(t, []string{"ovnsb_db.db"}, s.names(t))
	require.NoError(t, s.files().Commit(ovndb.SB), "it is done")
	assert.Equal(t, made.Cluster, s.inspect(t).Cluster)
}

func TestFullDiskLeavesNothingHalfWritten(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a small disk")
	}
	s := &server{ovsdbtest.New(t, ovndb.SB, "127.0.0.1")}
	s.Paths.DB = t.TempDir()
	require.NoError(t, syscall.Mount("tmpfs", s.Paths.DB, "tmpfs", 0, "size=12k"))
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(s.Paths.DB, syscall.MNT_DETACH)) })

	_, err := s.files().CreateCluster(t.Context(), ovndb.SB, s.Address, clusterTimer)
	require.ErrorContains(t, err, "cannot make the database file of OVN_Southbound")
	assert.Empty(t, s.names(t), "the schema alone is larger than the disk")

	require.NoError(t, syscall.Mount("tmpfs", s.Paths.DB, "tmpfs", syscall.MS_REMOUNT, "size=1m"))
	s.stage(t)
	require.NoError(t, s.files().Commit(ovndb.SB))
}

// oldSchema makes a schema of NB as an earlier release may have had it: without a column
// of today's, and with a lower version.
func oldSchema(t *testing.T, version string) (dir string) {
	t.Helper()
	text, err := os.ReadFile(schema(ovndb.NB))
	require.NoError(t, err)
	var all map[string]any
	require.NoError(t, json.Unmarshal(text, &all))
	all["version"] = version
	delete(all, "cksum")
	switches := all["tables"].(map[string]any)["Logical_Switch"].(map[string]any)["columns"].(map[string]any)
	require.Contains(t, switches, "other_config")
	delete(switches, "other_config")
	text, err = json.Marshal(all)
	require.NoError(t, err)
	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(schema(ovndb.NB))), text, 0o600))
	return dir
}

// A database of an older release is converted once, in the whole cluster, by any
// member, and keeps its rows; one that is newer than the packages is left alone.
func TestOlderSchemaIsConvertedAndNewerOneIsLeftAlone(t *testing.T) {
	t.Parallel()
	// The first digits decide, as numbers and not as text.
	old := oldSchema(t, "6.10.0")
	net := loopbacktest.Network(t)
	first := &server{ovsdbtest.New(t, ovndb.NB, net+".1")}
	first.Schema = filepath.Join(old, "ovn-nb.ovsschema")
	first.Create(t).Start(t)
	second := &server{ovsdbtest.New(t, ovndb.NB, net+".2").Join(t, first.Address).Start(t)}
	second.Reaches(t, func(s raft.Status) bool { return s.State == raft.ClusterMember && s.HasLeader() }, "it does not join")
	query(t, second, `{"op":"insert","table":"Logical_Switch","row":{"name":"net"}}`)

	require.True(t, needsConversion(t, first.files()))
	require.NoError(t, second.files().Convert(t.Context(), ovndb.NB, patience))
	for _, s := range []*server{first, second} {
		require.Eventually(t, func() bool { return !needsConversion(t, s.files()) }, patience, 20*time.Millisecond)
		out := query(t, s, `{"op":"select","table":"Logical_Switch","where":[],"columns":["name","other_config"]}`)
		assert.Contains(t, out, `"net"`, "the row is still there, and has the new column")
	}
	newer := first.files()
	newer.Paths.Data = oldSchema(t, "6.9.9")
	assert.False(t, needsConversion(t, newer), "packages that are older do not convert it back")
	newer.Paths.Data = oldSchema(t, "10.0.0")
	assert.True(t, needsConversion(t, newer))
}

func TestSchemaThatIsNoneIsAnError(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1").Create(t)}
	_, err := s.files().NeedsConversion(t.Context(), ovndb.NB)
	require.ErrorContains(t, err, "cannot find the version of the schema of OVN_Northbound: ", "no server runs")
	s.Start(t)
	files := s.files()
	files.Paths.Data = oldSchema(t, "soon")
	_, err = files.NeedsConversion(t.Context(), ovndb.NB)
	require.ErrorContains(t, err, "cannot find the version of the packages' schema of OVN_Northbound: ")
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

// convertedByNewer appends to a file what a leader of OVS 3.2 or later stores when it
// converts: the schema, and no data.
func convertedByNewer(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(schema(ovndb.NB))
	require.NoError(t, err)
	record, err := json.Marshal(map[string]any{
		"term": 1, "index": 2, "eid": "11111111-2222-4333-8444-555555555555", "data": []any{json.RawMessage(text), nil},
	})
	require.NoError(t, err)
	record = append(record, '\n')
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = fmt.Fprintf(f, "OVSDB CLUSTER %d %x\n%s", len(record), sha1.Sum(record), record) //nolint:gosec // as above
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// An old server ends on a file that a newer one has converted; that it did is in its
// log, until one is started that doesn't.
func TestServerThatEndsOnAFileOfANewerOneIsKnownByItsLog(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1").Create(t)}
	s.Paths.Logs = s.Paths.Run
	check := func(want bool, why string) {
		t.Helper()
		got, err := ovsctl.FileTooNew(s.Paths, ovndb.NB)
		require.NoError(t, err)
		assert.Equal(t, want, got, why)
	}
	check(false, "there is no log")
	good := filepath.Join(s.Paths.DB, "good")
	text, err := os.ReadFile(s.Paths.File(ovndb.NB))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(good, text, 0o600))
	convertedByNewer(t, s.Paths.File(ovndb.NB))
	require.Error(t, s.Begin(t).Wait(t), "an OVS of before 3.2, as Debian 12 has it, can't use the file")
	check(true, "it has ended so")

	padding := strings.Repeat("2026-11-22T12:00:00Z|00099|raft|INFO|nothing\n", 3000)
	text, err = os.ReadFile(s.Paths.Log(ovndb.NB))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.Paths.Log(ovndb.NB), append([]byte(padding), text...), 0o600))
	check(true, "the log is long")
	require.NoError(t, os.WriteFile(s.Paths.Log(ovndb.NB), append(text, []byte("2026-11-22T12:00:00Z|00001|vlog|INFO|opened log file "+s.Paths.Log(ovndb.NB)+"\n")...), 0o600))
	check(false, "another one has begun since")
}
