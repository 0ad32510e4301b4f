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

// rest waits before the next look at a drain, and ends early where there is something to see: the
// last gateway has left the chassis, or one has come back to it. That alone is read meanwhile.
func (s *Service) rest(ctx context.Context, chassis string, p maintenance.Progress, took time.Duration) error {
	pause := pauseAfter(took)
	switch {
	case p.Done():
		pause = maintenance.SettledFor
	case !slices.ContainsFunc(p.Holds, maintenance.Hold.OfGateways):
		if len(p.Unbound) > 0 { // for a moment, mostly
			pause = max(shortestPause, took)
		}
		return poll.Wait(ctx, pause)
	}
	begun := s.Gateways.Now()
	for {
		left := pause - s.Gateways.Now().Sub(begun)
		if left <= 0 {
			return nil
		}
		if err := poll.Wait(ctx, min(shortestPause, left)); err != nil {
			return err
		}
		occupied, err := s.occupied(ctx, chassis)
		if err != nil {
			return nil //nolint:nilerr // the look that follows says so
		}
		hosts := slices.ContainsFunc(occupied.Ports, func(b ovsdb.BoundPort) bool { return maintenance.Binding(b).OfGateway() })
		if hosts == p.Done() {
			return nil
		}
	}
}
