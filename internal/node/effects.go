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

type effects struct {
	s       *Service
	chassis string
	// given is the inventory for the first look; it may be nil. read is the inventory that a look has read itself; it is
	// nil again once gateways have been moved by it.
	given, read *gateway.Inventory
	sight       maintenance.Sight
}

// Effects returns the effects for a [maintenance.Drainer] of the chassis. The first look uses the inventory, unless it
// is nil.
func (s *Service) Effects(chassis string, inventory *gateway.Inventory) maintenance.Effects {
	return &effects{s: s, chassis: chassis, given: inventory}
}

// AskNorthd asks ovn-northd, and with it every ovn-controller, for a sign of life. It does not wait for an answer.
func (s *Service) AskNorthd(ctx context.Context) error {
	_, err := s.Gateways.Write(ctx, ovsdb.Change{Ask: true})
	return err
}

// Now implements [maintenance.Effects].
func (e *effects) Now() time.Time { return e.s.Gateways.Now() }

// Look implements [maintenance.Effects].
func (e *effects) Look(ctx context.Context) (x maintenance.Sight, err error) {
	inventory := e.given
	if e.given = nil; inventory == nil {
		if inventory, err = e.s.Gateways.Observe(ctx); err != nil {
			return x, err
		}
		e.read = inventory
	}
	e.sight, err = e.s.sight(ctx, inventory, e.chassis)
	return e.sight, err
}

// Move implements [maintenance.Effects]. It uses only inventories that were read through this value, each of them once.
func (e *effects) Move(ctx context.Context) (x maintenance.Sight, moved bool, err error) {
	if x = e.sight; e.read == nil {
		if x, err = e.Look(ctx); err != nil {
			return x, false, err
		}
	}
	if x.Left == 0 || x.Open { // moving gateways requires the cordon
		return x, false, nil
	}
	inventory := e.read
	e.read = nil
	if _, err = e.s.Gateways.Drain(ctx, inventory, e.chassis); err != nil {
		return x, true, err
	}
	x, err = e.Look(ctx)
	return x, true, err
}

// Ask implements [maintenance.Effects]. It also waits for ovn-northd.
func (e *effects) Ask(ctx context.Context) error { return e.Sync(ctx) }

// Sync implements [maintenance.Effects].
func (e *effects) Sync(ctx context.Context) error {
	e.read = nil
	return e.s.Gateways.SyncNorthd(ctx)
}

// sight returns the state of a chassis's drain, judged by an inventory.
func (s *Service) sight(ctx context.Context, inventory *gateway.Inventory,
	chassis string,
) (x maintenance.Sight, err error) {
	seen, err := s.nodesOf(ctx, inventory, chassis)
	if err != nil {
		return x, err
	}
	at := slices.IndexFunc(seen.nodes, func(n maintenance.Node) bool { return n.Chassis == chassis })
	if at < 0 || seen.nodes[at].Drain == nil || seen.nodes[at].Drain.Undrain {
		x.Ended = true
		return x, nil
	}
	p, err := s.Gateways.PlanDrain(ctx, inventory, chassis)
	if err != nil {
		return x, err
	}
	n := seen.nodes[at]
	x.Progress = maintenance.Progress{
		Open: n.Cordon == nil, Left: len(p.Changes), Blocked: p.Blocked,
		Unbound: inventory.Unbound(chassis), Holds: maintenance.OfDrain(n.Holds),
	}
	x.Claims = maintenance.Claims{
		Hosts: hosts(inventory, chassis), Asked: inventory.NB.Config,
		Followed: inventory.SB.Config,
	}
	return x, nil
}

// hosts returns, for each port of the gateways that have the chassis as a candidate, the chassis that has claimed it.
func hosts(inventory *gateway.Inventory, chassis string) map[string]string {
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

// Bounds of the pause between two looks at a waiting drain: a look at a large cloud takes long.
const (
	shortestPause = 250 * time.Millisecond
	longestPause  = 30 * time.Second
	restFactor    = 5
)

// commanded has the effects for the drain command. Between two complete looks, it only reads whether gateways are on
// the chassis.
type commanded struct {
	effects
	name string
	// since is when the last gateway was first seen to be gone. It is zero if a gateway is on the chassis, or if that is
	// unknown.
	since time.Time
	// asked reports whether ovn-northd has just answered: then the next look follows at once.
	asked bool
}

func (c *commanded) progress(ctx context.Context, line string) {
	c.s.progress(ctx, "drain %s: %s", c.name, line)
}

func (c *commanded) tell(ctx context.Context, line string, err error) {
	if line == "" && err != nil {
		line = err.Error()
	}
	if line != "" && !c.asked { // Ask has printed its own line
		c.progress(ctx, line)
	}
}

// Sync also tells the operator that it asks.
func (c *commanded) Sync(ctx context.Context) error {
	c.progress(ctx, "checking which chassis respond")
	return c.effects.Sync(ctx)
}

// Ask waits for ovn-northd, and meanwhile checks whether the gateways stay away.
func (c *commanded) Ask(ctx context.Context) error {
	c.progress(ctx, "checking that the chassis that took the gateways respond")
	if c.since.IsZero() {
		c.since = c.Now()
	}
	c.read = nil
	looked := time.Now()
	err := c.s.Gateways.SyncNorthdWhile(ctx, func(g *ovsdb.Gateways) {
		if time.Since(looked) >= shortestPause {
			_ = c.look(ctx, g) // the next look reports an error
			looked = time.Now()
		}
	})
	c.asked = err == nil
	return err
}

// look reads which ports are on the chassis. After an error that is unknown.
func (c *commanded) look(ctx context.Context, g *ovsdb.Gateways) error {
	occupied, err := g.Occupied(ctx, c.chassis)
	switch {
	case err != nil || slices.ContainsFunc(occupied.Ports,
		func(b ovsdb.BoundPort) bool { return maintenance.Binding(b).OfGateway() }):
		c.since = time.Time{}
	case c.since.IsZero():
		c.since = c.Now()
	}
	return err
}

// follow looks until ended reports true, or until the deadline.
func (c *commanded) follow(ctx context.Context, until time.Time, ended func() bool) error {
	for now := c.Now(); now.Before(until) && !ended(); now = c.Now() {
		if err := poll.Wait(ctx, min(shortestPause, until.Sub(now))); err != nil {
			return err
		}
		if err := c.s.Gateways.With(ctx, func(g *ovsdb.Gateways) error { return c.look(ctx, g) }); err != nil {
			c.since = time.Time{}
			return nil //nolint:nilerr // the next look reports it
		}
	}
	return nil
}

// rest waits before the next step. While gateways are on the chassis, it waits until the last one has left. Once none
// is left, it waits until one has come back, or until they have stayed away for [maintenance.SettledFor].
func (c *commanded) rest(ctx context.Context, p maintenance.Progress, pause time.Duration) error {
	now := c.Now()
	switch {
	case c.asked:
		c.asked = false
		return ctx.Err()
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
	if len(p.Unbound) > 0 { // mostly just for a moment
		pause = max(shortestPause, pause/restFactor)
	}
	return poll.Wait(ctx, pause)
}
