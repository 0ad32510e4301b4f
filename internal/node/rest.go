package node

import (
	"context"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
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

// clearance follows, between two looks at all that there is, whether gateways are on a chassis that is drained.
type clearance struct {
	s       *Service
	chassis string
	// since is when the last was seen to be gone; zero where one is there, or it is not known.
	since time.Time
}

// look reads which ports are on the chassis. Where that can't be read, nothing is known any more.
func (c *clearance) look(ctx context.Context, g *ovsdb.Gateways) error {
	occupied, err := g.Occupied(ctx, c.chassis)
	switch {
	case err != nil || slices.ContainsFunc(occupied.Ports, func(b ovsdb.BoundPort) bool { return maintenance.Binding(b).OfGateway() }):
		c.since = time.Time{}
	case c.since.IsZero():
		c.since = c.s.Gateways.Now()
	}
	return err
}

// follow looks until there is an end of it, or until the deadline.
func (c *clearance) follow(ctx context.Context, until time.Time, ended func() bool) error {
	for now := c.s.Gateways.Now(); now.Before(until) && !ended(); now = c.s.Gateways.Now() {
		if err := poll.Wait(ctx, min(shortestPause, until.Sub(now))); err != nil {
			return err
		}
		if err := c.s.Gateways.With(ctx, func(g *ovsdb.Gateways) error { return c.look(ctx, g) }); err != nil {
			c.since = time.Time{}
			return nil //nolint:nilerr // the look at all that follows says so
		}
	}
	return nil
}

// rest waits before the next look at a drain. Where gateways are on the chassis, it is until the last has
// left; where none is, until one has come back or they have stayed away for as long as that takes to settle.
func (c *clearance) rest(ctx context.Context, p maintenance.Progress, took time.Duration) error {
	pause := pauseAfter(took)
	now := c.s.Gateways.Now()
	switch {
	case p.Done():
		if c.since.IsZero() {
			c.since = now
		}
		return c.follow(ctx, c.since.Add(maintenance.SettledFor), c.since.IsZero)
	case slices.ContainsFunc(p.Holds, maintenance.Hold.OfGateways):
		c.since = time.Time{}
		return c.follow(ctx, now.Add(pause), func() bool { return !c.since.IsZero() })
	}
	c.since = time.Time{}
	if len(p.Unbound) > 0 { // for a moment, mostly
		pause = max(shortestPause, took)
	}
	return poll.Wait(ctx, pause)
}

// proveWhile is [Service.Prove], and follows meanwhile whether the gateways stay away. Where one is on another
// chassis than it was before, that one may have been asked before it had claimed it: nothing is proved then.
func (s *Service) proveWhile(ctx context.Context, c *clearance, before *gateway.Inventory) (p maintenance.Progress, proved bool, err error) {
	if c.since.IsZero() {
		c.since = s.Gateways.Now()
	}
	looked := time.Now()
	err = s.Gateways.SyncNorthdWhile(ctx, func(g *ovsdb.Gateways) {
		if time.Since(looked) >= shortestPause {
			_ = c.look(ctx, g) // the look at all that follows says so
			looked = time.Now()
		}
	})
	if err != nil {
		return p, false, err
	}
	p, _, after, err := s.step(ctx, c.chassis)
	if err != nil {
		return p, false, err
	}
	if !stayed(Hosts(before, c.chassis), Hosts(after, c.chassis)) {
		c.since = time.Time{}
		return p, false, nil
	}
	return p, true, nil
}

// Hosts are the chassis that have the gateways of which the chassis is a candidate, by their ports.
func Hosts(inventory *gateway.Inventory, chassis string) map[string]string {
	all := map[string]string{}
	for _, g := range inventory.State.Groups {
		if !slices.Contains(g.Ranked(), chassis) {
			continue
		}
		for _, p := range g.Ports {
			all[p.Name] = p.Active
		}
	}
	return all
}

// stayed says whether gateways are where they were. Those that were created or deleted meanwhile, as Neutron
// does all the time, say nothing of the others.
func stayed(before, after map[string]string) bool {
	for port, chassis := range before {
		if now, there := after[port]; there && now != chassis {
			return false
		}
	}
	return true
}
