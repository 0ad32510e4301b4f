// Package poll waits for conditions that can only be checked repeatedly.
package poll

import (
	"context"
	"time"
)

// Until calls look at intervals until it returns no error, or ctx ends; then it returns the last error of look.
func Until(ctx context.Context, interval time.Duration, look func() error) error {
	for {
		if err := look(); err == nil || Wait(ctx, interval) != nil {
			return err
		}
	}
}

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
