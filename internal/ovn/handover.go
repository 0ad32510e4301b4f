package ovn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// exitPatience bounds the wait for a server that was told to exit. Handing the
// leadership over takes milliseconds; the rest is for a machine that is busy.
const exitPatience = 10 * time.Second

// exitPoll is how often the server is looked for meanwhile.
const exitPoll = 50 * time.Millisecond

// HandOver restarts the server of database d in a way that costs the cluster
// nothing: a leader hands its leadership over before it goes. It returns when
// systemd has started the server again, not when that is a member that has caught
// up. A server that does not run is started; one that hangs is stopped by force,
// as systemd does it.
func (s Services) HandOver(ctx context.Context, c Control, d raft.Database) error {
	err := c.Exit(ctx, d)
	if err == nil {
		err = awaitExit(ctx, c, d)
	}
	if err != nil && !errors.Is(err, ErrNotRunning) && !errors.Is(err, ErrHung) {
		return fmt.Errorf("cannot hand over: %w", err)
	}
	// Not start: that does nothing while systemd still thinks that the old process
	// is up.
	return s.Restart(ctx, ServerOf(d))
}

// awaitExit waits until nobody listens on the server's control socket. It gives
// up with ErrHung.
func awaitExit(ctx context.Context, c Control, d raft.Database) error {
	limited, cancel := context.WithTimeout(ctx, exitPatience)
	defer cancel()
	poll := time.NewTicker(exitPoll)
	defer poll.Stop()
	for listening(limited, c.Paths.Control(d)) {
		select {
		case <-limited.Done():
		case <-poll.C:
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return fmt.Errorf("%s's server did not exit: %w within %s", d, ErrHung, exitPatience)
	}
	return nil
}
