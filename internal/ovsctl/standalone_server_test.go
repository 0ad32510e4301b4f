//go:build programs

package ovsctl_test

import (
	"context"
	"crypto/sha1" //nolint:gosec // the file format's own checksum, no secret
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

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
