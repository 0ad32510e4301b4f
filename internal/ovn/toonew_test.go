//go:build programs

package ovn_test

import (
	"crypto/sha1" //nolint:gosec // the format of OVSDB's files
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovn"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

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
	s := newServer(t, ovndb.NB, loopbacktest.Network(t)+".1").create(t)
	s.paths.Logs = s.paths.Run
	check := func(want bool, why string) {
		t.Helper()
		got, err := ovn.FileTooNew(s.paths, ovndb.NB)
		require.NoError(t, err)
		assert.Equal(t, want, got, why)
	}
	check(false, "there is no log")
	good := filepath.Join(s.paths.DB, "good")
	text, err := os.ReadFile(s.paths.File(ovndb.NB))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(good, text, 0o600))
	convertedByNewer(t, s.paths.File(ovndb.NB))
	cmd := exec.CommandContext(t.Context(), "ovsdb-server", "-vconsole:off", "--log-file="+s.paths.Log(ovndb.NB),
		"--unixctl="+s.paths.Control(ovndb.NB), "--remote=punix:"+s.paths.Socket(ovndb.NB), s.paths.File(ovndb.NB))
	require.Error(t, cmd.Run(), "an OVS of before 3.2, as Debian 12 has it, can't use the file")
	check(true, "it has ended so")

	padding := strings.Repeat("2026-11-22T12:00:00Z|00099|raft|INFO|nothing\n", 3000)
	text, err = os.ReadFile(s.paths.Log(ovndb.NB))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.paths.Log(ovndb.NB), append([]byte(padding), text...), 0o600))
	check(true, "the log is long")
	require.NoError(t, os.WriteFile(s.paths.Log(ovndb.NB), append(text, []byte("2026-11-22T12:00:00Z|00001|vlog|INFO|opened log file "+s.paths.Log(ovndb.NB)+"\n")...), 0o600))
	check(false, "another one has begun since")
}
