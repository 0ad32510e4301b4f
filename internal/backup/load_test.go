//go:build programs

package backup

import (
	"crypto/sha1"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// A file each of whose records is whole, and on which no server could be started with all of it,
// becomes no backup: the copy is loaded, and what is wrong with it is said.
func TestCopyThatNoServerCouldLoadIsNoBackup(t *testing.T) {
	s := large(t, 1)
	file, err := os.OpenFile(s.Files.Paths.File(ovndb.NB), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	entry := `{"term":1,"index":2,"eid":"d38e85dc-da38-4a9e-bcee-7e5ebb69a001","data":[null,{"No_Such_Table":{"11111111-1111-4111-8111-111111111112":{"name":"x"}}}]}` + "\n"
	_, err = fmt.Fprintf(file, "OVSDB CLUSTER %d %x\n%s", len(entry), sha1.Sum([]byte(entry)), entry) //nolint:gosec // the format's own checksum
	require.NoError(t, err)
	require.NoError(t, file.Close())

	dir := filepath.Join(t.TempDir(), "backups")
	_, _, err = s.Take(t.Context(), dir, 1)
	require.ErrorContains(t, err, "cannot load "+dir)
	require.ErrorContains(t, err, "No table named No_Such_Table")
	left, err := filepath.Glob(filepath.Join(dir, "*2*")) // with the time in its name
	require.NoError(t, err)
	assert.Empty(t, left, "nothing of it stays")
}
