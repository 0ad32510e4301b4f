package present_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/present"
)

// The agent exports when the last hook was: also of one that has found the same.
func TestSave_sets_time_without_change(t *testing.T) {
	t.Parallel()
	path, old := filepath.Join(t.TempDir(), "findings"), time.Now().Add(-time.Hour)
	for range 2 {
		require.NoError(t, present.Save(path, []present.Document{{Code: "X"}}))
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Greater(t, info.ModTime(), old)
		require.NoError(t, os.Chtimes(path, old, old))
	}
}
