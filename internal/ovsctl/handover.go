package ovsctl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// exitPatience bounds the wait for a server to exit. A transfer of the leadership takes milliseconds, more on a busy
// machine. Servers of large databases get more time ([raft.Patience]).
const exitPatience = 10 * time.Second

// exitPoll is the interval of the checks during that wait.
const exitPoll = 50 * time.Millisecond

// HandOver restarts the server of database d; a leader transfers its leadership first. It returns when systemd has
// started the server again, which may be before the server has caught up. It starts a server that does not run, and
// lets systemd kill a server that hangs.
//
// It does not stop a server that systemd would not start again ([systemd.ErrNotStartable]). It calls begin
// right before it tells the server to exit, and again before it kills it. begin returns until when HandOver may do so,
// or an error.
func (c Control) HandOver(ctx context.Context, s systemd.Services, d ovndb.Database,
	begin func() (until time.Time, err error),
) error {
	if err := s.MakeStartable(ctx, ovndb.ServiceOf(d)); err != nil {
		return fmt.Errorf("cannot hand over: %w", err)
	}
	until, err := begin()
	if err != nil {
		return fmt.Errorf("cannot hand over: %w", err)
	}
	limited, cancel := context.WithDeadline(ctx, until)
	err = c.Exit(limited, d)
	if cancel(); err == nil {
		err = c.awaitExit(ctx, d, raft.Patience(exitPatience, raftfile.Size(c.Paths.File(d))))
	} else if more := raft.Patience(0, raftfile.Size(c.Paths.File(d))); errors.Is(err, ErrHung) && more > 0 {
		err = c.awaitExit(ctx, d, more) // the server may be compacting a large database
	}
	if errors.Is(err, ErrHung) && ctx.Err() == nil {
		if _, late := begin(); late != nil {
			return fmt.Errorf("cannot hand over: %w; %w", err, late)
		}
	}
	if err != nil && !errors.Is(err, ErrNotRunning) && !errors.Is(err, ErrHung) {
		return fmt.Errorf("cannot hand over: %w", err)
	}
	// Use restart: start does nothing while systemd believes that the old process runs.
	return s.Restart(ctx, ovndb.ServiceOf(d))
}

// awaitExit waits until nothing listens on the server's control socket. After patience it returns [ErrHung].
func (c Control) awaitExit(ctx context.Context, d ovndb.Database, patience time.Duration) error {
	ended := poll.Await(ctx, patience, exitPoll, nil, func() bool { return !listening(ctx, c.Paths.Control(d)) })
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !ended:
		return fmt.Errorf("%s's server did not exit: %w within %s", d, ErrHung, patience)
	}
	return nil
}
