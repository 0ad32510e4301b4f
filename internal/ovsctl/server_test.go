//go:build programs

package ovsctl_test

import (
	"context"
	"crypto/sha1" //nolint:gosec // the file format's own checksum (ovsdb(5)), no secret
	"encoding/json"
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

// patience bounds every wait for a server: an election takes about two election
// timers of 1 s, on a busy machine more.
const patience = time.Minute

// server is a real ovsdb-server, and how the charm asks it.
type server struct{ *ovsdbtest.Server }

func schema(d ovndb.Database) string { return ovndb.Paths{}.Schema(d) }

func (s *server) control() ovsctl.Control { return ovsctl.Control{Runner: run.Exec{}, Paths: s.Paths} }

func (s *server) files() ovsctl.Files { return ovsctl.Files{Runner: run.Exec{}, Paths: s.Paths} }

// joined checks whether the server is a member by its file.
func (s *server) joined(t *testing.T, wanted bool) {
	t.Helper()
	member, err := s.files().Joined(t.Context(), s.Database)
	require.NoError(t, err)
	require.Equal(t, wanted, member)
}

// gone waits until the server serves its database no more.
func (s *server) gone(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := s.control().Status(t.Context(), s.Database)
		return err != nil && strings.Contains(err.Error(), ovsctl.ErrUnknownCluster.Error())
	}, patience, 20*time.Millisecond, "the server does not go")
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

// ovsdb-server reports entries that are whole and can't be applied, of each kind. It continues to serve with all of
// them, as a healthy member.
func TestServerSaysThatItHasNotAppliedAnEntryUntilItIsStartedAnew(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ transaction, said string }{
		"it deletes a row that is not there": {`{"_is_diff":true,"NB_Global":{"11111111-1111-4111-8111-111111111111":null}}`, "ovsdb error: inconsistent data"},
		"of a table that is not there":       {`{"_is_diff":true,"Nothing":{"11111111-1111-4111-8111-111111111111":{"name":"x"}}}`, "ovsdb error: inconsistent data"},
		"of a column that is not there":      {`{"_is_diff":true,"NB_Global":{"11111111-1111-4111-8111-111111111111":{"nothing":"x"}}}`, "ovsdb error: inconsistent data"},
		"none such":                          {`{"_is_diff":true,"Logical_Switch":{"11111111-1111-4111-8111-111111111111":{"name":"x"}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &server{ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1").Create(t)}
			file, err := os.OpenFile(s.Paths.File(ovndb.NB), os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			entry := `{"term":1,"index":2,"eid":"d38e85dc-da38-4a9e-bcee-7e5ebb69a001","data":[null,` + tt.transaction + "]}\n"
			_, err = fmt.Fprintf(file, "OVSDB CLUSTER %d %x\n%s", len(entry), sha1.Sum([]byte(entry)), entry) //nolint:gosec // see above
			require.NoError(t, err)
			require.NoError(t, file.Close())
			s.Start(t).Reaches(t, func(x raft.Status) bool { return x.Role == raft.Leader && x.Committed() >= 2 }, "a leader that has applied all")
			s.says(t, tt.said)

			require.NoError(t, s.control().Compact(t.Context(), ovndb.NB))
			// A server of 3.0 or later puts the snapshot together in a thread of its own, and answers before.
			s.Reaches(t, func(x raft.Status) bool { return x.Log.Start > 2 }, "a log without the entry")
			s.Kill(t)
			s.Start(t).Reaches(t, func(x raft.Status) bool { return x.Role == raft.Leader }, "a leader again")
			s.says(t, "")
		})
	}
}

func TestServerThatDoesNotAnswerIsNoServerInGoodOrder(t *testing.T) {
	t.Parallel()
	_, err := (&server{ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1")}).control().StorageError(t.Context(), ovndb.NB)
	require.ErrorContains(t, err, "cannot ask OVN_Northbound's server how its storage is")
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

// program runs one of OVN's, at the server's socket where it is a client.
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

// dump is all that the server serves.
func (s *server) dump(t *testing.T) string {
	t.Helper()
	text, err := s.program(t.Context(), "ovsdb-client", "--timeout=10", "--no-leader-only", "dump", s.Endpoint(), string(s.Database))
	require.NoError(t, err)
	return text
}

// servedFrom is what a server serves that is started on a standalone database's file.
func servedFrom(t *testing.T, copied string) string {
	t.Helper()
	s := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1")}
	require.NoError(t, os.Rename(copied, s.Paths.File(ovndb.NB)))
	s.Start(t)
	return s.dump(t)
}

// A member that led, wrote what no other has, died, and came back has other entries now in
// the places of those: its file has both. ovsdb-tool takes them all.
func TestStandaloneCopyHasNothingThatOthersTookThePlaceOf(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 3)
	old, others := members[0], members[1:]
	old.nbctl(t, "ls-add", "kept", "--", "ls-add", "changed", "--", "set", "Logical_Switch", "changed", "external_ids:by=all")
	for _, o := range others {
		o.Kill(t) // not stopped: what its sockets hold it would take when it continues
	}
	_, err := old.program(t.Context(), "ovn-nbctl", "ls-del", "kept", "--", "ls-add", "phantom", "--", "set", "Logical_Switch", "changed", "external_ids:by=one")
	require.Error(t, err, "it is not committed")
	old.Kill(t)
	for _, o := range others {
		o.Start(t)
	}
	others[0].Reaches(t, func(s raft.Status) bool { return s.HasLeader() }, "the others elect no leader")
	var beforeTheLast raftfile.End
	for i := range 3 {
		beforeTheLast, err = raftfile.ReadEnd(t.Context(), others[0].Paths, ovndb.NB)
		require.NoError(t, err)
		name := fmt.Sprint("new-", i)
		require.Eventually(t, func() bool {
			_, err := others[0].program(t.Context(), "ovn-nbctl", "--may-exist", "ls-add", name)
			return err == nil
		}, patience, patience/1000)
	}
	old.Start(t)
	wanted := others[0].dump(t)
	require.NotContains(t, wanted, "phantom", "the premise: no other has it")
	require.Eventually(t, func() bool { return old.dump(t) == wanted }, patience, patience/1000, "it does not catch up")

	by := filepath.Join(t.TempDir(), "by-ovsdb-tool")
	tool(t, "cluster-to-standalone", by, old.Paths.File(ovndb.NB))
	text, err := os.ReadFile(by)
	require.NoError(t, err)
	require.Contains(t, string(text), "phantom", "the premise: the file has both")

	copied := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, old.files().Extract(t.Context(), ovndb.NB, copied))
	assert.Equal(t, wanted, servedFrom(t, copied))
	last, err := old.files().ExtractUpTo(t.Context(), ovndb.NB, beforeTheLast.Index, copied)
	require.NoError(t, err)
	assert.Equal(t, beforeTheLast.Index, last)
	served := servedFrom(t, copied)
	assert.Contains(t, served, "new-1")
	assert.NotContains(t, served, "new-2")
}

// newer is the Northbound schema with one more column, and a later version.
func newer(t *testing.T) (path, text string) {
	t.Helper()
	old, err := os.ReadFile(schema(ovndb.NB))
	require.NoError(t, err)
	var all map[string]any
	require.NoError(t, json.Unmarshal(old, &all))
	all["version"] = "99.0.0"
	all["tables"].(map[string]any)["Logical_Switch"].(map[string]any)["columns"].(map[string]any)["added"] = map[string]any{"type": "string"} //nolint:forcetypeassert // a schema
	converted, err := json.Marshal(all)
	require.NoError(t, err)
	path = filepath.Join(t.TempDir(), "schema")
	require.NoError(t, os.WriteFile(path, converted, 0o600))
	return path, string(converted)
}

// logEntry is the record of an entry with a schema and a transaction.
func logEntry(index, term uint64, schema, transaction string) string {
	text := fmt.Sprintf(`{"data":[%s,%s],"eid":"e1000000-0000-4000-8000-000000000001","index":%d,"term":%d}`+"\n", schema, transaction, index, term)
	return fmt.Sprintf("OVSDB CLUSTER %d %x\n%s", len(text), sha1.Sum([]byte(text)), text) //nolint:gosec // the file format's own checksum
}

// The log records a conversion as all the data with their schema, and since Open vSwitch 3.2
// as the schema alone.
func TestStandaloneCopyHasTheSchemaThatTheDatabaseWasConvertedTo(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1").Create(t).Start(t)}
	s.Reaches(t, func(s raft.Status) bool { return s.HasLeader() }, "no leader")
	s.nbctl(t, "ls-add", "one", "--", "ls-add", "two")
	before, err := os.ReadFile(s.Paths.File(ovndb.NB))
	require.NoError(t, err)
	end, err := raftfile.ReadEnd(t.Context(), s.Paths, ovndb.NB)
	require.NoError(t, err)
	path, text := newer(t)
	_, err = s.program(t.Context(), "ovsdb-client", "--timeout=20", "convert", "unix:"+s.Paths.Socket(ovndb.NB), path)
	require.NoError(t, err)
	s.nbctl(t, "ls-del", "two")
	copied := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, s.files().Extract(t.Context(), ovndb.NB, copied))
	wanted := s.dump(t)
	require.Contains(t, wanted, "added")
	assert.Equal(t, wanted, servedFrom(t, copied))

	bare := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1")}
	records := []string{string(before), logEntry(end.Index+1, end.Term, text, "null"), logEntry(end.Index+2, end.Term, "null",
		`{"Logical_Switch":{"58fddd36-e650-4efb-bde5-9df6afd86bf8":{"name":"three","added":"yes"}},"_is_diff":true}`)}
	require.NoError(t, os.WriteFile(bare.Paths.File(ovndb.NB), []byte(strings.Join(records, "")), 0o600))
	require.NoError(t, bare.files().Extract(t.Context(), ovndb.NB, copied))
	version, err := bare.files().Load(t.Context(), ovndb.NB, copied)
	require.NoError(t, err)
	assert.Equal(t, "99.0.0", version)
	served := servedFrom(t, copied)
	for _, word := range []string{"added", "one", "two", "three", "yes"} {
		assert.Contains(t, served, word)
	}
}
