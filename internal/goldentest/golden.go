// Package goldentest compares what people and programs read with files that a person has
// looked at.
package goldentest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

// Equal fails the test where the text is not that of a file below testdata. With -update
// it writes the file.
func Equal(t *testing.T, file, text string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	wanted, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(wanted), text)
}
