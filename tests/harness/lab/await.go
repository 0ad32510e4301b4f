package lab

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// poll is how often the lab looks whether something has happened.
const poll = 25 * time.Millisecond

// limit bounds each wait. A join of a healthy server takes 50 ms, on a
// machine that has nothing else to do.
const limit = 3 * time.Minute

// await polls until done says so, at most for limit or as long as ctx lasts. The
// error then carries the last one of done.
func await(ctx context.Context, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		ok, err := done()
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			if err == nil {
				err = errors.New("it didn't happen")
			}
			return fmt.Errorf("%w (waited: %w)", err, context.Cause(ctx))
		case <-ticker.C:
		}
	}
}
