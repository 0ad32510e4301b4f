package backup

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
)

func TestProblem(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 22, 0, 0, 0, time.UTC)
	const interval = 6 * time.Hour
	long := now.Add(-48 * time.Hour)
	for name, tt := range map[string]struct {
		state Summary
		every time.Duration
		since time.Time
		// want is the code of the problem, with the failure of the last backup.
		want string
	}{
		"no_interval":    {Summary{Failure: "x"}, 0, long, ""},
		"in_time":        {Summary{Newest: now.Add(-12 * time.Hour)}, interval, long, ""},
		"too_old":        {Summary{Newest: now.Add(-12*time.Hour - time.Second)}, interval, long, "BACKUPS_LATE"},
		"none_yet":       {Summary{}, interval, now.Add(-time.Hour), ""},
		"new_interval":   {Summary{Newest: long}, interval, now.Add(-time.Hour), ""},
		"none":           {Summary{}, interval, long, "NO_BACKUP"},
		"failed":         {Summary{Newest: now, Failure: "disk full"}, interval, long, "QUOTED disk full"},
		"clock_set_back": {Summary{Newest: now.Add(time.Hour)}, interval, now.Add(time.Hour), ""},
	} {
		assert.Equal(t, tt.want, findingtest.Reasons(tt.state.Problem(tt.every, tt.since, now)), name)
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 22, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		newest time.Time
		every  time.Duration
		want   string
	}{
		"no_interval":     {now.Add(-time.Hour), 0, ""},
		"no_backup":       {time.Time{}, time.Hour, ""},
		"just taken":      {now.Add(-time.Hour + time.Second), time.Hour, "NEW_BACKUP"},
		"an hour":         {now.Add(-time.Hour), time.Hour, "BACKUP_HOURS 1"},
		"almost two days": {now.Add(-48*time.Hour + time.Second), time.Hour, "BACKUP_HOURS 47"},
		"two days":        {now.Add(-48 * time.Hour), time.Hour, "BACKUP_DAYS 2"},
		"clock_set_back":  {now.Add(time.Hour), time.Hour, "NEW_BACKUP"},
	} {
		assert.Equal(t, tt.want, findingtest.Reasons(Summary{Newest: tt.newest}.Age(tt.every, now)), name)
	}
}

// The failure stays until a backup succeeds.
func TestTakeScheduled_keeps_failure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "20261123T100000Z"), 0o700))
	unlock, err := lock(filepath.Join(dir, lockName))
	require.NoError(t, err)
	_, err = new(Service).TakeScheduled(t.Context(), dir, 1)
	require.ErrorIs(t, err, ErrBusy)
	unlock()
	found, err := Observe(dir)
	require.NoError(t, err)
	assert.Empty(t, found.Failure)

	_, err = new(Service).TakeScheduled(t.Context(), dir, 0)
	require.Error(t, err)
	found, err = Observe(dir)
	require.NoError(t, err)
	assert.Equal(t, time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC), found.Newest)
	assert.Contains(t, found.Failure, dir)
}
