package poll_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

func TestAwait(t *testing.T) {
	for name, c := range map[string]struct{ after, patience, took time.Duration }{
		"immediate":   {0, time.Minute, 0},
		"later":       {1500 * time.Millisecond, time.Minute, 2 * time.Second},
		"timeout":     {time.Minute, 2500 * time.Millisecond, 2500 * time.Millisecond},
		"no_patience": {time.Minute, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, looks, reported := time.Now(), 0, 0
				met := poll.Await(t.Context(), c.patience, time.Second, func() { reported++ }, func() bool {
					looks++
					return time.Since(start) >= c.after
				})
				assert.Equal(t, c.after < c.patience, met)
				assert.Equal(t, c.took, time.Since(start))
				assert.Equal(t, int((c.took+time.Second-1)/time.Second), reported)
				assert.Positive(t, looks)
			})
		})
	}
}

func TestUntil_returns_last_error(t *testing.T) {
	for name, c := range map[string]struct {
		fit   int
		looks int
		after time.Duration
	}{
		"immediate": {1, 1, 0},
		"later":     {3, 3, 2 * time.Second},
		"timeout":   {9, 4, 3500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
				defer cancel()
				start, looks, missing := time.Now(), 0, errors.New("not there yet")
				err := poll.Until(ctx, time.Second, func() error {
					if looks++; looks < c.fit {
						return missing
					}
					return nil
				})
				if c.fit == c.looks {
					require.NoError(t, err)
				} else {
					require.Equal(t, missing, err)
				}
				assert.Equal(t, c.looks, looks)
				assert.Equal(t, c.after, time.Since(start))
			})
		})
	}
}
