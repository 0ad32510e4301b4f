package backup

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBackupIsMissedOnceTwiceTheIntervalIsOver(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 22, 0, 0, 0, time.UTC)
	const interval = 6 * time.Hour
	long := now.Add(-48 * time.Hour)
	for name, tt := range map[string]struct {
		state Summary
		every time.Duration
		since time.Time
		want  string
	}{
		"none is asked for":          {Summary{Failure: "x"}, 0, long, ""},
		"one in time":                {Summary{Newest: now.Add(-12 * time.Hour)}, interval, long, ""},
		"one too old":                {Summary{Newest: now.Add(-12*time.Hour - time.Second)}, interval, long, "overdue"},
		"none yet, just asked for":   {Summary{}, interval, now.Add(-time.Hour), ""},
		"an old one, just asked for": {Summary{Newest: long}, interval, now.Add(-time.Hour), ""},
		"none at all":                {Summary{}, interval, long, "none"},
		"the last one failed":        {Summary{Newest: now, Failure: "cannot back up: no"}, interval, long, "cannot back up: no"},
		"a clock that went back":     {Summary{Newest: now.Add(time.Hour)}, interval, now.Add(time.Hour), ""},
	} {
		assert.Equal(t, tt.want, tt.state.Problem(tt.every, tt.since, now), name)
	}
}

func TestAgeOfTheNewestBackupIsToldInHoursAndDays(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 22, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		newest time.Time
		every  time.Duration
		want   string
	}{
		"none is asked for":   {now.Add(-time.Hour), 0, ""},
		"there is none":       {time.Time{}, time.Hour, ""},
		"just taken":          {now.Add(-time.Hour + time.Second), time.Hour, "newest backup less than 1 h old"},
		"an hour":             {now.Add(-time.Hour), time.Hour, "newest backup 1 h old"},
		"almost two days":     {now.Add(-48*time.Hour + time.Second), time.Hour, "newest backup 47 h old"},
		"two days":            {now.Add(-48 * time.Hour), time.Hour, "newest backup 2 d old"},
		"a clock that is off": {now.Add(time.Hour), time.Hour, "newest backup less than 1 h old"},
	} {
		assert.Equal(t, tt.want, Summary{Newest: tt.newest}.Age(tt.every, now), name)
	}
}

// A directory that can't be backed up to is a failure that is found again, until one was made.
func TestFailureOfAScheduledBackupIsKept(t *testing.T) {
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
	assert.Empty(t, found.Failure, "another one was being made")

	_, err = new(Service).TakeScheduled(t.Context(), dir, 0)
	require.Error(t, err)
	found, err = Observe(dir)
	require.NoError(t, err)
	assert.Equal(t, time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC), found.Newest)
	assert.Contains(t, found.Failure, "cannot back up to")
}
