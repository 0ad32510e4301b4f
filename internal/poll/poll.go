// Package poll waits for conditions that can only be checked repeatedly.
package poll

import (
	"context"
	"time"
)

// Until calls look at intervals until it returns nil or ctx ends. It returns the last error of look.
func Until(ctx context.Context, interval time.Duration, look func() error) error {
	for {
		if err := look(); err == nil || Wait(ctx, interval) != nil {
			return err
		}
	}
}

// Await calls condition at intervals, at least once, until it is true, the patience is over or ctx ends. It reports
// whether the condition was true. It calls progress before each pause, unless progress is nil.
func Await(ctx context.Context, patience, interval time.Duration, progress func(), condition func() bool) bool {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for !condition() {
		if limited.Err() != nil {
			return false
		}
		if progress != nil {
			progress()
		}
		if Wait(limited, interval) != nil {
			return false
		}
	}
	return true
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
