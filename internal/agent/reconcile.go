package agent

import (
	"context"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/drift"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// reconcile reads the databases, and does what is to be done. It says when to do so again, if nothing
// changes before; 0 is never.
func (g *gateways) reconcile(ctx context.Context, f *ovsdb.Followed) (again time.Duration, err error) {
	r, err := g.read(ctx, f)
	if err != nil {
		return 0, err
	}
	return g.pass(ctx, r), nil
}

// pass does what is to be done by what was read. To read it has kept the servers busy, so that the unit may not
// have acted by the end of that: what counts is whether it acts now.
func (g *gateways) pass(ctx context.Context, r reading) (again time.Duration) {
	value, acts := g.agent.guard()
	if acts && value == g.acted { // this pass is what a wake until now was for
		select {
		case <-g.wake:
		default:
		}
	}
	inv := r.inventory
	now, live := g.agent.now(), g.agent.live()
	d := &g.detector
	d.HoldDown = live.HoldDown
	d.Observe(inv.State, now)
	g.observeUndone(inv.State.Groups, r.journal, now)
	if acts && value != g.acted {
		g.acted = value
		d.Everything(now)
	}
	plan, due := schedule.Plan{}, d.Due(now)
	if due {
		if plan = d.Plan(inv.State, drift.All); plan.Empty() {
			d.Done(now)
		}
	}
	owns := g.owner(live, inv)
	for _, l := range g.recordObservation(inv, plan, due, now) {
		g.agent.log.Info(l.message, l.attributes...) //nolint:sloglint // constants, chosen by a pure function
	}
	again = d.Next(now)
	g.markMissed(acts, live, inv)
	if acts && now >= g.retry {
		switch wrote, err := g.admit(ctx, value, live, inv); {
		case err != nil && ctx.Err() == nil:
			g.retry = g.agent.now() + retryPause
			g.agent.log.Error("cannot cordon new chassis; nothing is scheduled before that", "error", err)
			return g.retry
		case wrote:
			return g.agent.now() // what has come of it
		}
	}
	drain, err := g.drains.reconcile(ctx, value, acts, inv)
	if err != nil && ctx.Err() == nil {
		g.agent.log.Error("cannot continue drains", "error", err)
	}
	if drain != 0 && (again == 0 || drain < again) {
		again = drain
	}
	if acts && live.Mode == config.On && now >= g.retry {
		switch wrote, err := g.demote(ctx, value, inv); {
		case err != nil && ctx.Err() == nil:
			g.retry = g.agent.now() + retryPause
			g.agent.log.Error("cannot keep gateways off a cordoned node", "error", err)
			return g.retry
		case wrote:
			return g.agent.now() // what has come of it
		}
	}
	if acts && due && plan.Empty() && len(g.unfinished) > 0 && now >= g.retry {
		g.endRuns(ctx, value)
		return max(g.agent.now(), g.retry)
	}
	if !acts && g.becameLeader() {
		if record, _ := g.agent.guard(); record == g.acted {
			return g.pass(ctx, r)
		}
		return g.agent.now() // under another record more is read
	}
	if !acts || !slices.ContainsFunc(plan.Changes, func(c schedule.Change) bool { return owns(c.Group) }) {
		return again
	}
	if now < g.retry {
		return g.retry
	}
	if err := g.act(ctx, value, inv, owns); err != nil && ctx.Err() == nil {
		g.retry = g.agent.now() + retryPause
		g.agent.log.Error("gateways could not be scheduled", "error", err)
		return g.retry
	}
	return g.agent.now() // what has come of it
}

// owner gives owns(key): whether the unit that acts is to schedule the gateway of that name. Were
// several units to act at once, each for its share of the gateways, this alone would say which:
// drift.Detector.Plan makes its plan of what it owns, and holds the rest.
func (g *gateways) owner(live config.Config, inv *gateway.Inventory) (owns func(key string) bool) {
	return func(key string) bool {
		return live.Mode == config.On && (live.NeutronGateways || !inv.Neutrons(key)) && !g.undone.Left(key)
	}
}

// reading is what was read for one pass.
type reading struct {
	inventory *gateway.Inventory
	// journal is read where something that was written is otherwise.
	journal drift.Journal
}

// read reads the databases, and of the journal what is needed.
func (g *gateways) read(ctx context.Context, f *ovsdb.Followed) (r reading, err error) {
	ctx, cancel := context.WithTimeout(ctx, passTimeout)
	defer cancel()
	err = f.Read(ctx, func(at *ovsdb.Gateways) (err error) {
		if r.inventory, err = gateway.ReadInventory(ctx, at); err != nil {
			return err
		}
		if g.undone.Suspects(r.inventory.State.Groups) {
			j, err := gateway.ReadJournal(ctx, at)
			if err != nil {
				return err
			}
			r.journal = j.Changes()
		}
		value, acts := g.agent.guard()
		return g.readRuns(ctx, at, r.inventory, value, acts)
	})
	return r, err
}

// observeUndone says which gateways are left to Neutron from now on, and which no more.
func (g *gateways) observeUndone(groups []schedule.Group, journal drift.Journal, now time.Duration) {
	left, again := g.undone.Observe(groups, journal, now)
	for _, group := range left {
		g.agent.log.Warn("Neutron undoes what was done to a gateway; it is left to Neutron for a day", "gateway", group)
	}
	for _, group := range again {
		g.agent.log.Info("a gateway was left to Neutron for a day; it is scheduled again", "gateway", group)
		g.detector.Everything(now)
	}
}
