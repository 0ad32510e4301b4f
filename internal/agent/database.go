package agent

import (
	"context"
	"errors"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// firstPause is how long to wait after a connection could not be made; each further wait is
// twice as long, up to a beat.
const firstPause = 100 * time.Millisecond

// follow reads the record for the election, and writes what the election asks for, on one
// connection after another: one that is doubtful is closed, and made anew.
func (a *Agent) follow(ctx context.Context) {
	pause := firstPause
	for ctx.Err() == nil {
		begun := a.now()
		err := a.session(ctx)
		if ctx.Err() != nil {
			return
		}
		a.tell(func(e *lease.Election, _ time.Duration) {
			e.Disconnected()
			a.seen.northbound = err
		})
		if a.now()-begun > a.config.TTL {
			pause = firstPause
		}
		if !a.refuseFor(ctx, pause) {
			return
		}
		pause = min(2*pause, a.election.Beat())
	}
}

// refuseFor waits; what is to be written meanwhile was never sent.
func (a *Agent) refuseFor(ctx context.Context, pause time.Duration) bool {
	over := time.After(pause)
	for {
		select {
		case <-ctx.Done():
			return false
		case <-over:
			return true
		case <-a.swaps:
			a.tell(func(e *lease.Election, _ time.Duration) { e.SwapEnded(lease.SwapRefused) })
		}
	}
}

// session is one connection, from its beginning to what ends it.
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
			// An election of the database: it takes a while, after which another member
			// may have a leader.
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
		err = a.northbound.inTouch(ctx, a, w.Server())
	}
	a.tell(func(e *lease.Election, _ time.Duration) {
		a.seen.northbound = err
		if err == nil {
			e.ObserveRecord(value, asked)
		}
	})
	return err
}

// write makes a swap. One that may have been made or not is found out by what is read on
// the next connection. One that would go to a leader which is silent is not sent: soon the member has
// another leader, and the election asks for it again.
func (a *Agent) write(ctx context.Context, w *ovsdb.Watch, s lease.Swap) error {
	if a.northbound.leaderSilent(ctx, a, w.Server()) && after(ctx, a.election.Beat()/8) {
		a.tell(func(e *lease.Election, _ time.Duration) { e.SwapEnded(lease.SwapRefused) })
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
	a.tell(func(e *lease.Election, _ time.Duration) { e.SwapEnded(outcome) })
	return err
}
