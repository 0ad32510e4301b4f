//go:build programs

package ovsctl_test

import (
	"crypto/sha1" //nolint:gosec // the format of OVSDB's files
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
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
