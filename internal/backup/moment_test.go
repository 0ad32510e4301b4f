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
)

// A second backup within a second waits for the next one that is free, in played time.
func TestBackupWaitsForASecondThatNoOtherIsNamedAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &Service{Now: time.Now}
		dir, begun := t.TempDir(), time.Now()
		for n := range 3 {
			taken, err := s.moment(t.Context(), dir)
			require.NoError(t, err)
			assert.Equal(t, begun.UTC().Truncate(time.Second).Add(time.Duration(n)*time.Second), taken)
			require.NoError(t, os.Mkdir(filepath.Join(dir, taken.Format(nameLayout)), 0o700))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := s.moment(ctx, dir)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}
