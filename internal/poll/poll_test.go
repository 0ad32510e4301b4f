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
		"at once":  {0, time.Minute, 0},
		"soon":     {1500 * time.Millisecond, time.Minute, 2 * time.Second},
		"too late": {time.Minute, 2500 * time.Millisecond, 2500 * time.Millisecond},
		"only one": {time.Minute, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun, looks, told := time.Now(), 0, 0
				met := poll.Await(t.Context(), c.patience, time.Second, func() { told++ }, func() bool {
					looks++
					return time.Since(begun) >= c.after
				})
				assert.Equal(t, c.after < c.patience, met)
				assert.Equal(t, c.took, time.Since(begun))
				assert.Equal(t, int((c.took+time.Second-1)/time.Second), told)
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
		"at once":  {1, 1, 0},
		"soon":     {3, 3, 2 * time.Second},
		"too late": {9, 4, 3500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
				defer cancel()
				begun, looks, missing := time.Now(), 0, errors.New("not there yet")
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
				assert.Equal(t, c.after, time.Since(begun))
			})
		})
	}
}
