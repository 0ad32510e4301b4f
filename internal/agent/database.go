package agent

import (
	"context"
	"errors"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// firstPause is how long to wait after a failed connection; each further wait is twice as long, up to a beat.
const firstPause = 100 * time.Millisecond

// follow reads the record for the election and writes what it proposes, on one connection after another: a doubtful
// connection is closed and replaced.
func (a *Agent) follow(ctx context.Context) {
	pause := firstPause
	for ctx.Err() == nil {
		begun := a.now()
		err := a.session(ctx)
		if ctx.Err() != nil {
			return
		}
		a.updateElection(func(e *lease.Election, _ time.Duration) {
			e.Disconnected()
			a.seen.northbound = err
		})
		if a.now()-begun > a.config.TTL {
			pause = firstPause
		}
		if !a.refuseSwaps(ctx, pause) {
			return
		}
		pause = min(2*pause, a.election.Beat())
	}
}

// refuseSwaps waits for the pause, and refuses the swaps that are proposed meanwhile: they were never sent.
func (a *Agent) refuseSwaps(ctx context.Context, pause time.Duration) bool {
	over := time.After(pause)
	for {
		select {
		case <-ctx.Done():
			return false
		case <-over:
			return true
		case <-a.swaps:
			a.updateElection(func(e *lease.Election, _ time.Duration) { e.SwapEnded(lease.SwapRefused) })
		}
	}
}

// session uses one connection until it ends.
func (a *Agent) session(ctx context.Context) error {
	w, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	beat := time.NewTicker(a.election.Beat())
	defer beat.Stop()
	again := make(<-chan time.Time) // never
	leaderless := time.Duration(0)
	for {
		begun := a.now()
		switch err := a.read(ctx, w); {
		case errors.Is(err, ovsdb.ErrNoLeader):
			// A Raft election. It takes a while; afterwards another member may have a leader.
			if leaderless == 0 {
				leaderless = begun
			}
			if begun-leaderless > a.config.TTL {
				return err
			}
			again = time.After(a.election.Beat() / 4)
		case err != nil:
			return err
		default:
			leaderless = 0
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.Lost():
			return errors.New("the connection is lost")
		case s := <-a.swaps:
			if err := a.write(ctx, w, s); err != nil {
				return err
			}
		case <-w.Changed():
		case <-beat.C:
		case <-again:
		}
	}
}

func (a *Agent) connect(ctx context.Context) (*ovsdb.Watch, error) {
	ctx, cancel := context.WithTimeout(ctx, a.config.TTL)
	defer cancel()
	return a.dialer.Watch(ctx, ovndb.NB, recordKey, a.config.NB...)
}

func (a *Agent) read(ctx context.Context, w *ovsdb.Watch) error {
	ctx, cancel := context.WithTimeout(ctx, a.config.TTL/2)
	defer cancel()
	asked := a.now()
	value, err := w.Read(ctx)
	if err == nil {
		err = a.northbound.check(ctx, a, w.Server())
	}
	a.updateElection(func(e *lease.Election, _ time.Duration) {
		a.seen.northbound = err
		if err == nil {
			e.ObserveRecord(value, asked)
		}
	})
	return err
}

// write makes a swap. If the result is unknown, the next connection's read shows it. No swap is sent to a silent
// leader: soon the member has another one, and the election proposes the swap again.
func (a *Agent) write(ctx context.Context, w *ovsdb.Watch, s lease.Swap) error {
	if a.northbound.leaderSilent(ctx, a, w.Server()) && after(ctx, a.election.Beat()/8) {
		a.updateElection(func(e *lease.Election, _ time.Duration) { e.SwapEnded(lease.SwapRefused) })
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, a.config.TTL/2)
	defer cancel()
	done, err := w.Swap(ctx, s.Old, s.New)
	outcome := lease.SwapRefused
	switch {
	case err != nil:
		outcome = lease.SwapUnknown
	case done:
		outcome = lease.SwapDone
	}
	a.updateElection(func(e *lease.Election, _ time.Duration) { e.SwapEnded(outcome) })
	return err
}
