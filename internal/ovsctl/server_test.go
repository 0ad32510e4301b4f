//go:build programs

package ovsctl_test

import (
	"context"
	"crypto/sha1" //nolint:gosec // the file format's own checksum (ovsdb(5)), no secret
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// patience bounds every wait for a server: an election takes about two election timers of 1 s, more on a busy
// machine.
const patience = time.Minute

// server is a real ovsdb-server.
type server struct{ *ovsdbtest.Server }

func newServer(t testing.TB, d ovndb.Database, host string) *server {
	t.Helper()
	return &server{ovsdbtest.New(t, d, host)}
}

// leads starts the only member of a new cluster.
func leads(t testing.TB) *server {
	t.Helper()
	s := newServer(t, ovndb.NB, loopbacktest.Network(t)+".1")
	s.Create(t).Start(t).Reaches(t, isMember, "it does not lead")
	return s
}

func isMember(s raft.Status) bool { return s.State == raft.ClusterMember && s.HasLeader() }

// record returns a record of a database's file (ovsdb(5)).
func record(text string) string {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // the format's own checksum
	return fmt.Sprintf("OVSDB CLUSTER %d %x\n%s", len(text), sum, text)
}

// appendTo appends a record to the server's file.
func (s *server) appendTo(t testing.TB, text string) {
	t.Helper()
	file, err := os.OpenFile(s.File(), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString(record(text))
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

type object = map[string]any

// edited writes a changed copy of the packages' schema.
func edited(t testing.TB, d ovndb.Database, version string, change func(tables object)) (path string) {
	t.Helper()
	return ovsdbtest.EditSchema(t, d, func(schema, tables object) {
		schema["version"] = version
		change(tables)
	})
}

func schema(d ovndb.Database) string { return ovndb.Paths{}.Schema(d) }

func (s *server) control() ovsctl.Control { return ovsctl.Control{Runner: run.Exec{}, Paths: s.Paths} }

func (s *server) files() ovsctl.Files { return ovsctl.Files{Runner: run.Exec{}, Paths: s.Paths} }

// joined asserts whether the server is a member by its file.
func (s *server) joined(t *testing.T, wanted bool) {
	t.Helper()
	member, err := s.files().Joined(t.Context(), s.Database)
	require.NoError(t, err)
	require.Equal(t, wanted, member)
}

// gone waits until the server no longer serves its database.
func (s *server) gone(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := s.control().Status(t.Context(), s.Database)
		return err != nil && strings.Contains(err.Error(), ovsctl.ErrUnknownCluster.Error())
	}, patience, 20*time.Millisecond, "the server still serves the database")
}

// cluster starts n members of one cluster; the first leads it.
func cluster(t testing.TB, d ovndb.Database, n int) []*server {
	t.Helper()
	return all(ovsdbtest.Cluster(t, d, n))
}

func all(members []*ovsdbtest.Server) (servers []*server) {
	for _, s := range members {
		servers = append(servers, &server{s})
	}
	return servers
}

func tool(t testing.TB, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := run.Exec{}.Run(ctx, run.Command{Name: "ovsdb-tool", Args: args})
	require.NoError(t, err)
}

// If ovsdb-server can't apply an entry, it reports that until it is restarted without the entry, and serves
// meanwhile.
func TestStorageError_unapplied_entry(t *testing.T) {
	t.Parallel()
	const row, inconsistent = `{"11111111-1111-4111-8111-111111111111":`, "ovsdb error: inconsistent data"
	for transaction, said := range map[string]string{
		`"NB_Global":` + row + `null}`:              inconsistent, // the row does not exist
		`"Nothing":` + row + `{"name":"x"}}`:        inconsistent,
		`"NB_Global":` + row + `{"nothing":"x"}}`:   inconsistent,
		`"Logical_Switch":` + row + `{"name":"x"}}`: "",
	} {
		t.Run(transaction, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, ovndb.NB, loopbacktest.Network(t)+".1")
			s.Create(t)
			s.appendTo(t, `{"term":1,"index":2,"eid":"d38e85dc-da38-4a9e-bcee-7e5ebb69a001",`+
				`"data":[null,{"_is_diff":true,`+transaction+"}]}\n")
			applied := func(x raft.Status) bool { return x.Role == raft.Leader && x.Committed() >= 2 }
			s.Start(t).Reaches(t, applied, "it does not apply the log")
			s.says(t, said)

			require.NoError(t, s.control().Compact(t.Context(), ovndb.NB))
			// An ovsdb-server since 3.0 makes the snapshot in another thread, and answers before it is made.
			s.Reaches(t, func(x raft.Status) bool { return x.Log.Start > 2 }, "a log without the entry")
			restart(t, s)
			s.Reaches(t, isMember, "a leader again")
			s.says(t, "")
		})
	}
}

func restart(t *testing.T, s *server) {
	t.Helper()
	s.Kill(t)
	s.Start(t)
}

func TestStorageError_server_down(t *testing.T) {
	t.Parallel()
	s := newServer(t, ovndb.NB, loopbacktest.Network(t)+".1")
	_, err := s.control().StorageError(t.Context(), ovndb.NB)
	require.Error(t, err)
}

// says waits until the server reports this state of its storage.
func (s *server) says(t *testing.T, wanted string) {
	t.Helper()
	var said string
	assert.Eventually(t, func() bool {
		var err error
		said, err = ovsctl.Control{Paths: s.Paths}.StorageError(t.Context(), s.Database)
		require.NoError(t, err)
		return said == wanted
	}, 10*time.Second, 5*time.Millisecond)
	assert.Equal(t, wanted, said)
}

// program runs a program; ovn-nbctl is connected to the server.
func (s *server) program(ctx context.Context, name string, args ...string) (string, error) {
	if name == "ovn-nbctl" {
		args = append([]string{"--no-leader-only", "--timeout=3", "--db=unix:" + s.Paths.Socket(s.Database)}, args...)
	}
	out, err := run.Exec{}.Run(ctx, run.Command{Name: name, Args: args})
	return string(out), err
}

func (s *server) nbctl(t *testing.T, args ...string) {
	t.Helper()
	_, err := s.program(t.Context(), "ovn-nbctl", args...)
	require.NoError(t, err)
}

// dump returns everything that the server serves.
func (s *server) dump(t *testing.T) string {
	t.Helper()
	text, err := s.program(t.Context(), "ovsdb-client", "--timeout=10", "--no-leader-only", "dump", s.Endpoint(),
		string(s.Database))
	require.NoError(t, err)
	return text
}

// servedFrom returns everything that a server of a standalone database's file serves.
func servedFrom(t *testing.T, copied string) string {
	t.Helper()
	s := newServer(t, ovndb.NB, "127.0.0.1")
	require.NoError(t, os.Rename(copied, s.Paths.File(ovndb.NB)))
	s.Start(t)
	return s.dump(t)
}

// If a leader wrote uncommitted entries, died and came back, its file has both these entries and those that replaced
// them. ovsdb-tool copies both.
func TestExtract_replaced_entries_are_left_out(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 3)
	old, others := members[0], members[1:]
	old.nbctl(t, "ls-add", "kept", "--", "ls-add", "changed", "--",
		"set", "Logical_Switch", "changed", "external_ids:by=all")
	for _, o := range others {
		o.Kill(t) // a stopped server would read its sockets when it continues
	}
	_, err := old.program(t.Context(), "ovn-nbctl", "ls-del", "kept", "--", "ls-add", "phantom", "--",
		"set", "Logical_Switch", "changed", "external_ids:by=one")
	require.Error(t, err, "it is not committed")
	old.Kill(t)
	for _, o := range others {
		o.Start(t)
	}
	others[0].Reaches(t, func(s raft.Status) bool { return s.HasLeader() }, "the others elect no leader")
	var beforeTheLast raftfile.Log
	for i := range 3 {
		beforeTheLast, err = raftfile.ReadLog(t.Context(), others[0].Paths, ovndb.NB)
		require.NoError(t, err)
		name := fmt.Sprint("new-", i)
		require.Eventually(t, func() bool {
			_, err := others[0].program(t.Context(), "ovn-nbctl", "--may-exist", "ls-add", name)
			return err == nil
		}, patience, patience/1000)
	}
	old.Start(t)
	wanted := others[0].dump(t)
	require.NotContains(t, wanted, "phantom")
	require.Eventually(t, func() bool { return old.dump(t) == wanted }, patience, patience/1000, "it does not catch up")

	by := filepath.Join(t.TempDir(), "by-ovsdb-tool")
	tool(t, "cluster-to-standalone", by, old.Paths.File(ovndb.NB))
	text, err := os.ReadFile(by)
	require.NoError(t, err)
	require.Contains(t, string(text), "phantom", "the file has both")

	copied := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, old.files().Extract(t.Context(), ovndb.NB, copied))
	assert.Equal(t, wanted, servedFrom(t, copied))
	last, err := old.files().ExtractUpTo(t.Context(), ovndb.NB, beforeTheLast.End-1, copied)
	require.NoError(t, err)
	assert.Equal(t, beforeTheLast.End-1, last)
	served := servedFrom(t, copied)
	assert.Contains(t, served, "new-1")
	assert.NotContains(t, served, "new-2")
}

// The log records a conversion as all the data with their schema, and since Open vSwitch 3.2 as the schema alone.
func TestExtract_converted_schema(t *testing.T) {
	t.Parallel()
	s := leads(t)
	s.nbctl(t, "ls-add", "one", "--", "ls-add", "two")
	before, err := os.ReadFile(s.Paths.File(ovndb.NB))
	require.NoError(t, err)
	log, err := raftfile.ReadLog(t.Context(), s.Paths, ovndb.NB)
	require.NoError(t, err)
	path := edited(t, ovndb.NB, "99.0.0", func(tables object) {
		ovsdbtest.ColumnsOf(tables, "Logical_Switch")["added"] = object{"type": "string"}
	})
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	_, err = s.program(t.Context(), "ovsdb-client", "--timeout=20", "convert", "unix:"+s.Paths.Socket(ovndb.NB), path)
	require.NoError(t, err)
	s.nbctl(t, "ls-del", "two")
	copied := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, s.files().Extract(t.Context(), ovndb.NB, copied))
	wanted := s.dump(t)
	require.Contains(t, wanted, "added")
	assert.Equal(t, wanted, servedFrom(t, copied))

	bare := newServer(t, ovndb.NB, "127.0.0.1")
	require.NoError(t, os.WriteFile(bare.File(), before, 0o600))
	for n, data := range []string{string(text) + ",null", `null,{"_is_diff":true,"Logical_Switch":` +
		`{"58fddd36-e650-4efb-bde5-9df6afd86bf8":{"name":"three","added":"yes"}}}`} {
		bare.appendTo(t, fmt.Sprintf(`{"data":[%s],"eid":"e1000000-0000-4000-8000-000000000001","index":%d,"term":%d}`+"\n",
			data, log.End+uint64(n), log.Term))
	}
	require.NoError(t, bare.files().Extract(t.Context(), ovndb.NB, copied))
	version, err := bare.files().Load(t.Context(), ovndb.NB, copied)
	require.NoError(t, err)
	assert.Equal(t, "99.0.0", version)
	served := servedFrom(t, copied)
	for _, word := range []string{"added", "one", "two", "three", "yes"} {
		assert.Contains(t, served, word)
	}
}
