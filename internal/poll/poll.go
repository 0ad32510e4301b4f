// Package poll waits for what is seen only by asking again.
package poll

import (
	"context"
	"time"
)

// Wait returns after d, or earlier with an error if ctx ends.
func Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
