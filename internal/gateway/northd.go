package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// ErrBehind is returned if ovn-northd does not process changes: further writes would have no effect.
var ErrBehind = errors.New("ovn-northd did not process the changes")

// slownessFactor bounds the wait for ovn-northd, as a multiple of its longest time so far. With 10,000 routers and
// other work on its machine, ovn-northd's time rose from 20 s to more than 2 minutes.
const slownessFactor = 10

const (
	// A wait for ovn-northd is reported after toldAfter, or after the longest wait before it, and then every toldEvery.
	toldAfter = 5 * time.Second
	toldEvery = 30 * time.Second
)

// SyncNorthd asks ovn-northd and every ovn-controller for a sign of life, and waits for ovn-northd's.
func (s *Service) SyncNorthd(ctx context.Context) error {
	return s.awaitNorthd(ctx, s.NorthdTimeout, 0, (*ovsdb.Gateways).SyncNorthd)
}

// syncWithin is [Service.SyncNorthd] for an operation that waits at most that long: it fails if no sign of life has
// come by then.
func (s *Service) syncWithin(ctx context.Context, wait time.Duration) error {
	return s.awaitNorthd(ctx, min(s.NorthdTimeout, wait), 0, (*ovsdb.Gateways).SyncNorthd)
}

// AskNorthd is [Service.SyncNorthd] without the wait: later reads show which chassis have answered.
func (s *Service) AskNorthd(ctx context.Context) error {
	_, err := Ask(ctx, s, (*ovsdb.Gateways).AskNorthd)
	return err
}

// SyncNorthdWhile is [Service.SyncNorthd], and calls meanwhile at each check.
func (s *Service) SyncNorthdWhile(ctx context.Context, meanwhile func(*ovsdb.Gateways)) error {
	ask := func(g *ovsdb.Gateways, ctx context.Context, waiting ovsdb.Waiting) error {
		return g.SyncNorthd(ctx, func(followed, asked int64) {
			waiting(followed, asked)
			meanwhile(g)
		})
	}
	return s.awaitNorthd(ctx, s.NorthdTimeout, 0, ask)
}

// followed waits until ovn-northd has processed a batch of that many gateways, and records for the pace how long that
// took.
func (s *Service) followed(ctx context.Context, asked int64, gateways int) error {
	ask := func(g *ovsdb.Gateways, ctx context.Context, waiting ovsdb.Waiting) error {
		return g.AwaitNorthd(ctx, asked, waiting)
	}
	return s.awaitNorthd(ctx, s.NorthdTimeout, gateways, ask)
}

// AmendIDsAndSync writes external_ids of NB_Global as [ovsdb.Gateways.AmendIDs] does. It asks for the sign of life of
// [Service.SyncNorthd] in the same transaction, so that ovn-northd computes once.
func (s *Service) AmendIDsAndSync(ctx context.Context, guard ovsdb.Guard, a ovsdb.Amendment) error {
	if s.NorthdTimeout == 0 {
		return s.With(ctx, func(g *ovsdb.Gateways) error { return g.AmendIDs(ctx, guard, a) })
	}
	ask := func(g *ovsdb.Gateways, ctx context.Context, waiting ovsdb.Waiting) error {
		return g.AmendIDsAndSync(ctx, guard, a, waiting)
	}
	return s.awaitNorthd(ctx, s.NorthdTimeout, 0, ask)
}

func (s *Service) awaitNorthd(
	ctx context.Context, timeout time.Duration, gateways int,
	ask func(*ovsdb.Gateways, context.Context, ovsdb.Waiting) error,
) error {
	if timeout == 0 {
		return nil
	}
	bound := max(timeout, slownessFactor*s.slowest)
	patience, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	begun := s.Now()
	err := s.With(ctx, func(g *ovsdb.Gateways) error { return ask(g, patience, s.waiting(ctx, begun)) })
	if deadline, _ := patience.Deadline(); err != nil && time.Until(deadline) <= 0 {
		<-patience.Done() // a write to the server can end a moment before the context does
	}
	if err != nil && patience.Err() != nil {
		until := "within " + bound.Round(time.Second).String()
		if ctx.Err() != nil {
			until = fmt.Sprintf("in time (%v)", context.Cause(ctx))
		}
		return fmt.Errorf("%w %s; check that it is running and what its log says, then run this again", ErrBehind, until)
	}
	if err == nil {
		took := s.Now().Sub(begun)
		s.slowest = max(s.slowest, took)
		s.pace.took(gateways, took)
	}
	return err
}

func (s *Service) waiting(ctx context.Context, begun time.Time) ovsdb.Waiting {
	due := max(toldAfter, s.slowest)
	return func(followed, asked int64) {
		if waited := s.Now().Sub(begun); waited >= due {
			due = waited + toldEvery
			s.progress(ctx, fmt.Sprintf("ovn-northd does not follow: nb_cfg %d of %d for %s", followed, asked,
				waited.Round(time.Second)))
		}
	}
}
