package backup

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
)

// listed makes a backup of both databases with these schemas in dir.
func listed(t *testing.T, dir, name, schema string) (path string) {
	t.Helper()
	path = filepath.Join(dir, name)
	require.NoError(t, os.Rename(whole(t), path))
	m, err := Read(path)
	require.NoError(t, err)
	m.Databases = append(m.Databases, m.Databases[0])
	m.Databases[1].Name = ovndb.SB
	for i := range m.Databases {
		m.Databases[i].Schema, m.Databases[i].Cluster = schema, "1a2b0000"
	}
	require.NoError(t, m.write(path))
	return path
}

func TestList(t *testing.T) {
	t.Parallel()
	dir, share := t.TempDir(), t.TempDir()
	paths := ovndb.Paths{Data: share}
	for _, d := range ovndb.Databases() {
		require.NoError(t, os.WriteFile(paths.Schema(d), []byte(`{"name":"x","version":"7.1.0"}`), 0o600))
	}
	s := &Service{Files: ovsctl.Files{Paths: paths}}
	newer := listed(t, dir, "20261124T100000Z", "7.2.0")
	damaged := listed(t, dir, "20261123T100000Z", "7.0.0")
	good := listed(t, dir, "20261122T100000Z", "7.0.0")
	unreadable := filepath.Join(dir, "20261121T100000Z")
	require.NoError(t, os.Mkdir(unreadable, 0o700))
	copied := filepath.Join(damaged, "ovnnb_db.db.gz")
	text, err := os.ReadFile(copied)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(copied, flip(30)(text), 0o600))

	all, err := s.List(t.Context(), dir)
	require.NoError(t, err)
	require.Len(t, all, 4)
	for i, path := range []string{newer, damaged, good, unreadable} {
		assert.Equal(t, path, all[i].Path)
		assert.Equal(t, path == good, all[i].Loads)
		assert.Equal(t, path == good, all[i].Problem == "")
	}
	assert.Equal(t, []Copy{{ovndb.NB, "1a2b0000", "7.0.0"}, {ovndb.SB, "1a2b0000", "7.0.0"}}, all[2].Databases)
	assert.EqualValues(t, 2*1485, all[2].Size)

	for text, want := range map[string]string{
		damaged: good, "/nope/20261122T10000Z": good, "/nope": good, filepath.Join(good, "ovnnb_db.db.gz"): good,
		good: newer, // no other one loads
	} {
		assert.Equal(t, want, Nearest(all, text), text)
	}
	assert.Empty(t, Nearest(nil, "/nope"))
}

// A second backup in the same second waits for the next second.
func TestMoment_waits_for_free_second(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &Service{Now: time.Now}
		dir, start := t.TempDir(), time.Now()
		for n := range 3 {
			taken, err := s.moment(t.Context(), dir)
			require.NoError(t, err)
			assert.Equal(t, start.UTC().Truncate(time.Second).Add(time.Duration(n)*time.Second), taken)
			require.NoError(t, os.Mkdir(filepath.Join(dir, taken.Format(nameLayout)), 0o700))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := s.moment(ctx, dir)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// The clock was ahead when a backup was made: the newest backup by name is not the last one made.
func TestSurplus_keeps_new_backup_for_any_clock(t *testing.T) {
	t.Parallel()
	const old, made, ahead = "20261122T100000Z", "20261123T100000Z", "20270101T000000Z"
	for keep, want := range map[int][]string{1: {made}, 2: {made, ahead}, 3: {old, made, ahead}} {
		dir := t.TempDir()
		for _, name := range []string{old, made, ahead} {
			require.NoError(t, os.Rename(whole(t), filepath.Join(dir, name)))
		}
		planned := t.TempDir() // before the new backup is made
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

func TestCheckNeeds(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for name, tt := range map[string]struct{ free, available, small, large int64 }{
		"empty databases":     {64 * mib, 64 * mib, 0, 0},
		"just enough":         {264 * mib, 704 * mib, 40 * mib, 80 * mib},
		"more than is needed": {1 << 40, 1 << 40, 40 * mib, 80 * mib},
	} {
		require.NoError(t, checkNeeds("/backups", tt.free, tt.available, tt.small, tt.large), name)
	}
	require.Error(t, checkNeeds("/backups", 264*mib-1, 704*mib, 40*mib, 80*mib))
	assert.Error(t, checkNeeds("/backups", 264*mib, 704*mib-1, 40*mib, 80*mib))
}
