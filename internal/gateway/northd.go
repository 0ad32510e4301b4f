package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// ErrBehind is returned if ovn-northd does not process changes: further writes would have no effect.
var ErrBehind = finding.Reason{Code: finding.NorthdBehindNow}.Err()

// slownessFactor bounds the wait for ovn-northd, as a multiple of its longest time so far. With 10,000 routers and
// other work on its machine, ovn-northd's time rose from 20 s to more than 2 minutes.
const slownessFactor = 10

const (
	// A wait for ovn-northd is reported after toldAfter, or after the longest wait before it, and then every toldEvery.
	toldAfter = 5 * time.Second
	toldEvery = 30 * time.Second
)

// SyncNorthd asks ovn-northd and every ovn-controller for a sign of life, and waits for ovn-northd's.
func (s *Service) SyncNorthd(ctx context.Context) error { return s.syncWithin(ctx, s.NorthdTimeout) }

// syncWithin is [Service.SyncNorthd] for an operation that waits at most that long: it fails if no sign of life has
// come by then.
func (s *Service) syncWithin(ctx context.Context, wait time.Duration) error {
	return s.sync(ctx, min(s.NorthdTimeout, wait), ovsdb.Change{}, nil)
}

// SyncNorthdWhile is [Service.SyncNorthd], and calls meanwhile at each check.
func (s *Service) SyncNorthdWhile(ctx context.Context, meanwhile func(*ovsdb.Gateways)) error {
	return s.sync(ctx, s.NorthdTimeout, ovsdb.Change{}, meanwhile)
}

// WriteAndSync is [Service.SyncNorthd], and makes a change in the same transaction.
func (s *Service) WriteAndSync(ctx context.Context, c ovsdb.Change) error {
	return s.sync(ctx, s.NorthdTimeout, c, nil)
}

func (s *Service) sync(
	ctx context.Context, timeout time.Duration, c ovsdb.Change, meanwhile func(*ovsdb.Gateways),
) error {
	if c.Ask = timeout > 0; !c.Ask {
		_, err := s.Write(ctx, c)
		return err
	}
	write := func(ctx context.Context, g *ovsdb.Gateways) (asked int64, err error) { return g.Write(ctx, c) }
	return s.awaitNorthd(ctx, timeout, 0, write, meanwhile)
}

// followed waits until ovn-northd has processed a batch of that many gateways, and records for the pace how long that
// took.
func (s *Service) followed(ctx context.Context, asked int64, gateways int) error {
	written := func(context.Context, *ovsdb.Gateways) (int64, error) { return asked, nil }
	return s.awaitNorthd(ctx, s.NorthdTimeout, gateways, written, nil)
}

func (s *Service) awaitNorthd(
	ctx context.Context, timeout time.Duration, gateways int,
	ask func(context.Context, *ovsdb.Gateways) (asked int64, err error), meanwhile func(*ovsdb.Gateways),
) error {
	if timeout == 0 {
		return nil
	}
	bound := max(timeout, slownessFactor*s.slowest)
	patience, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	begun := s.Now()
	err := s.With(ctx, func(g *ovsdb.Gateways) error {
		asked, err := ask(patience, g)
		if err != nil {
			return err
		}
		tell := s.waiting(ctx, begun, asked)
		return g.AwaitNorthd(patience, asked, func(followed int64) {
			tell(followed)
			if meanwhile != nil {
				meanwhile(g)
			}
		})
	})
	if deadline, _ := patience.Deadline(); err != nil && time.Until(deadline) <= 0 {
		<-patience.Done() // a write to the server can end a moment before the context does
	}
	if err != nil && patience.Err() != nil {
		until := finding.Reason{Code: finding.WithinLimit, Age: bound.Round(time.Second)}
		switch {
		case errors.Is(ctx.Err(), context.Canceled): // that says nothing about ovn-northd
			until = finding.Reason{Code: finding.BeforeStop, Value: context.Cause(ctx).Error()}
		case ctx.Err() != nil:
			until = finding.Reason{Code: finding.InTime, Value: context.Cause(ctx).Error()}
		}
		return fmt.Errorf("%w %s", ErrBehind, until)
	}
	if err == nil {
		took := s.Now().Sub(begun)
		s.slowest = max(s.slowest, took)
		s.pace.took(gateways, took)
	}
	return err
}

func (s *Service) waiting(ctx context.Context, begun time.Time, asked int64) func(followed int64) {
	due := max(toldAfter, s.slowest)
	return func(followed int64) {
		if waited := s.Now().Sub(begun); waited >= due {
			due = waited + toldEvery
			s.progress(ctx, fmt.Sprintf("ovn-northd does not follow: nb_cfg %d of %d for %s", followed, asked,
				waited.Round(time.Second)))
		}
	}
}
