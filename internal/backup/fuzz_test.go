package backup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzRead shows that the error about a manifest is short, and that an accepted manifest has plain file names and
// plausible sizes. The seeds have the right checksum.
func FuzzRead(f *testing.F) {
	hostile := strings.Repeat("h", 70_000) + "\x1b[2J\n"
	of := func(x Database) Manifest {
		return Manifest{Format: format, Unit: "ovn-central/0", Databases: []Database{x}}
	}
	for _, text := range []string{
		"", "{}", "null", `{"format":1}`, `{"checksum":"` + hostile + `"}`,
		written(f, Manifest{Format: format, Unit: hostile}), written(f, of(Database{File: "../../etc/shadow", Size: 1})),
		written(f, of(Database{File: "nb.gz", Size: -1})), written(f, of(Database{File: "nb.gz", Size: 1 << 62})),
		written(f, of(Database{File: "nb.gz", Size: 10})),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, manifestName), text, 0o600))
		m, err := Read(dir)
		if err != nil {
			require.Less(t, len(err.Error()), 1000+len(dir))
			return
		}
		for _, x := range m.Databases {
			require.Equal(t, filepath.Base(x.File), x.File)
			require.GreaterOrEqual(t, x.Size, int64(0))
			require.LessOrEqual(t, x.Size, int64(maxSize))
		}
	})
}

// written returns the text of a manifest with its checksum.
func written(f *testing.F, m Manifest) string {
	f.Helper()
	dir := f.TempDir()
	require.NoError(f, m.write(dir))
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	require.NoError(f, err)
	return string(text)
}
