package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDayOf(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ date, epoch, want string }{
		"given":                       {"2026-11-29", "0", "2026-11-29"},
		"SOURCE_DATE_EPOCH, at night": {"", "1764460799", "2025-11-29"},
	} {
		day, err := dayOf(test.date, test.epoch)
		require.NoError(t, err, name)
		assert.Equal(t, test.want, day.Format(time.DateOnly), name)
	}
	for _, wrong := range [][2]string{{"29.11.2026", ""}, {"", "yesterday"}} {
		_, err := dayOf(wrong[0], wrong[1])
		assert.Error(t, err, wrong)
	}
}
