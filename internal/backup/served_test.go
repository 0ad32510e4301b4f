//go:build programs

package backup

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// The server's content is in the backup even if its file can't be copied, and the reason for asking the server is
// reported.
func TestServerIsAskedWhereItsFileCannotBeCopied(t *testing.T) {
	s := large(t, 1)
	serve(t, s.Files.Paths)
	var told []string
	s.Progress = func(_ context.Context, text string) { told = append(told, text) }
	putThirdElement(t, s.Files.Paths.File(ovndb.NB))

	dir, m, err := s.Take(t.Context(), filepath.Join(t.TempDir(), "backups"), 1)
	require.NoError(t, err)
	require.NoError(t, check(t.Context(), dir))
	nb := m.Databases[0]
	assert.Equal(t, Served, nb.Source)
	assert.NotZero(t, nb.Index)
	assert.Contains(t, told, "nb: asking the server for all of it: cannot copy the file of OVN_Northbound: entry 1: "+
		"its data are 3 elements instead of a schema and a transaction")
}

// putThirdElement replaces a cluster's file by one with an unknown third element in its first record, after schema and
// transaction. The server continues with the file that it has open.
func putThirdElement(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	head, rest, _ := bytes.Cut(text, []byte("\n"))
	var size int
	_, err = fmt.Sscanf(string(head), "OVSDB CLUSTER %d", &size)
	require.NoError(t, err)
	first := map[string]json.RawMessage{}
	require.NoError(t, json.Unmarshal(rest[:size], &first))
	var data []json.RawMessage
	require.NoError(t, json.Unmarshal(first["prev_data"], &data))
	first["prev_data"], err = json.Marshal(append(data, json.RawMessage("3")))
	require.NoError(t, err)
	record, err := json.Marshal(first)
	require.NoError(t, err)
	record = append(record, '\n')
	other := fmt.Appendf(nil, "OVSDB CLUSTER %d %x\n", len(record), sha1.Sum(record)) //nolint:gosec // the format's
	require.NoError(t, os.WriteFile(path+".other", append(append(other, record...), rest[size:]...), 0o600))
	require.NoError(t, os.Rename(path+".other", path))
}
