package node

import (
	"context"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// Bounds of the pause between two looks at a drain that waits: a look takes long where there
// is much to see.
const (
	shortestPause = 250 * time.Millisecond
	longestPause  = 30 * time.Second
	restFactor    = 5
)

// pauseAfter is the pause after a look that took so long.
func pauseAfter(took time.Duration) time.Duration {
	return min(max(shortestPause, restFactor*took), longestPause)
}

// rest waits before the next look at a drain. Where gateways are on the chassis, it is until the last has
// left and has stayed away for as long as that takes to settle; where none is, until one has come back or
// that time is over. That alone is read meanwhile. It returns since when none is there, zero where that is
// not known.
func (s *Service) rest(ctx context.Context, chassis string, p maintenance.Progress, took time.Duration) (cleared time.Time, err error) {
	pause := pauseAfter(took)
	if !p.Done() && !slices.ContainsFunc(p.Holds, maintenance.Hold.OfGateways) {
		if len(p.Unbound) > 0 { // for a moment, mostly
			pause = max(shortestPause, took)
		}
		return time.Time{}, poll.Wait(ctx, pause)
	}
	now := s.Gateways.Now()
	until := now.Add(pause)
	if p.Done() {
		cleared, until = now, now.Add(maintenance.SettledFor)
	}
	for now.Before(until) {
		if err := poll.Wait(ctx, min(shortestPause, until.Sub(now))); err != nil {
			return time.Time{}, err
		}
		occupied, err := s.occupied(ctx, chassis)
		if err != nil {
			return time.Time{}, nil //nolint:nilerr // the look that follows says so
		}
		now = s.Gateways.Now()
		hosts := slices.ContainsFunc(occupied.Ports, func(b ovsdb.BoundPort) bool { return maintenance.Binding(b).OfGateway() })
		switch {
		case hosts && !cleared.IsZero():
			return time.Time{}, nil
		case !hosts && cleared.IsZero():
			cleared, until = now, now.Add(maintenance.SettledFor)
		}
	}
	return cleared, nil
}
