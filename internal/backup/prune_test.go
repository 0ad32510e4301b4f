package backup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The clock was ahead when a backup was made, and was set back since: the newest by its name is
// not the one that was just made.
func TestSurplus_keeps_new_backup_for_any_clock(t *testing.T) {
	t.Parallel()
	const old, made, ahead = "20261122T100000Z", "20261123T100000Z", "20270101T000000Z"
	for keep, want := range map[int][]string{1: {made}, 2: {made, ahead}, 3: {old, made, ahead}} {
		dir := t.TempDir()
		for _, name := range []string{old, made, ahead} {
			require.NoError(t, os.Rename(whole(t), filepath.Join(dir, name)))
		}
		planned := t.TempDir() // what a plan says before there is the new one
		for _, name := range []string{old, ahead} {
			require.NoError(t, os.Rename(whole(t), filepath.Join(planned, name)))
		}
		removed, err := surplus(planned, keep, "")
		require.NoError(t, err)
		assert.Len(t, removed, 3-keep, keep)

		require.NoError(t, prune(dir, keep, filepath.Join(dir, made)))
		left, err := list(dir)
		require.NoError(t, err)
		for i, path := range left {
			left[i] = filepath.Base(path)
		}
		assert.Equal(t, want, left, keep)
	}
}
