package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/drift"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// turn is the work that a pass has found, with its record and its inventory.
type turn struct {
	value     string
	acts      bool
	live      config.Config
	inventory *gateway.Inventory
	work      []*work
	owns      func(key string) bool
	// next is when the detector is due; 0 means never.
	next time.Duration
}

// work is one kind of work. do reports whether it has changed the databases; next is when to look again, 0 means never.
type work struct {
	do     func(g *gateways, ctx context.Context, t turn) (changed bool, next time.Duration, err error)
	failed string // for the log
}

// pass makes the changes that follow from a reading. The unit may have lost or taken the lease while it read, so pass
// checks again whether the unit acts. again is when to read again if nothing changes before; 0 means never.
func (g *gateways) pass(ctx context.Context, r reading) (again time.Duration) {
	for {
		t := g.turn(r)
		again = g.execute(ctx, t)
		if t.acts || !g.becameLeader() {
			return again
		}
		if record, _ := g.agent.guard(); record != g.acted {
			return g.agent.now() // under another record more has to be read
		}
	}
}

// All kinds of work, in their order: new chassis are cordoned before anything gives them gateways.
var (
	admission    = &work{(*gateways).admit, "cannot cordon new chassis; nothing is scheduled before that"}
	continuation = &work{(*gateways).drain, "cannot continue drains"}
	demotion     = &work{(*gateways).demote, "cannot keep gateways off a cordoned node"}
	endOfRuns    = &work{(*gateways).endRuns, "cannot record that earlier runs are over"}
	rescheduling = &work{(*gateways).act, "gateways could not be scheduled"}
)

func (g *gateways) turn(r reading) turn {
	value, acts := g.agent.guard()
	if acts && value == g.acted { // earlier wake-ups asked for this pass
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
	for _, l := range g.recordObservation(inv, plan, due, now) {
		g.agent.log.Info(l.message, l.attributes...) //nolint:sloglint // constants, chosen by a pure function
	}
	t := turn{value: value, acts: acts, live: live, inventory: inv, owns: g.owner(live, inv), next: d.Next(now)}
	t.work = wanted(live, inv, t.owns, plan.Changes, due && plan.Empty() && len(g.unfinished) > 0)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.missed = !acts && len(t.work) > 0
	return t
}

// wanted returns the work for the unit that acts, in order. over reports whether interrupted runs have nothing left to
// do.
func wanted(live config.Config, inv *gateway.Inventory, owns func(key string) bool, plan []schedule.Change,
	over bool,
) (all []*work) {
	on := live.Mode == config.On
	for _, w := range []struct {
		*work
		wanted bool
	}{
		{admission, admits(live, inv)},
		{continuation, len(intended(inv)) > 0},
		{demotion, on && len(nodesToDemote(inv)) > 0},
		{endOfRuns, over},
		{rescheduling, slices.ContainsFunc(plan, func(c schedule.Change) bool { return owns(c.Group) })},
	} {
		if w.wanted {
			all = append(all, w.work)
		}
	}
	return all
}

// execute does the work until something has changed: then the databases have to be read again. It returns when to make
// another pass if nothing changes before; 0 means never.
func (g *gateways) execute(ctx context.Context, t turn) (again time.Duration) {
	again = t.next
	if !t.acts || !slices.Contains(t.work, continuation) {
		g.drains.end(t.inventory)
	}
	if !t.acts {
		return again
	}
	for _, w := range t.work {
		if now := g.agent.now(); w != continuation && now < g.retry {
			return earliest(again, g.retry)
		}
		changed, next, err := w.do(g, ctx, t)
		switch {
		case ctx.Err() != nil:
			return again
		case err != nil:
			g.agent.log.Error(w.failed, "error", err) //nolint:sloglint // constants
			if w != continuation {                    // drains have a pause of their own
				g.retry = g.agent.now() + retryPause
				return g.retry
			}
		case changed:
			return g.agent.now()
		}
		again = earliest(again, next)
	}
	return again
}

// owner returns owns(key), which reports whether the acting unit schedules the gateway with that name. If several units
// acted at once, each for its share of the gateways, only owns would differ: drift.Detector.Plan plans for the gateways
// that are owned, and holds the others.
func (g *gateways) owner(live config.Config, inv *gateway.Inventory) (owns func(key string) bool) {
	return func(key string) bool {
		return live.Mode == config.On && (live.NeutronGateways || !inv.Neutrons(key)) && !g.undone.Left(key)
	}
}

// reading has the data that was read for one pass.
type reading struct {
	inventory *gateway.Inventory
	// journal is read only if a group differs from what was written.
	journal drift.Journal
}

// read reads the databases, and as much of the journal as is needed.
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

// observeUndone updates the set of gateways that are left to Neutron.
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

// admit cordons chassis that can host gateways for the first time. If the configuration no longer asks for that, it
// ends the cordoning.
func (g *gateways) admit(ctx context.Context, t turn) (wrote bool, _ time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, passTimeout)
	defer cancel()
	ctx, stop := g.whileHeld(ctx, t.value)
	defer stop()
	s := &node.Service{Gateways: g.agent.service(t.value), Unit: g.agent.config.Unit}
	defer s.Close()
	cordoned, err := s.Admit(ctx, t.inventory, t.live.CordonNew)
	if err == nil && len(cordoned) > 0 {
		g.agent.log.Warn("cordoned chassis that can host gateways for the first time", "chassis", shortened(cordoned))
	}
	return true, 0, err
}

// admits reports whether admit has work to do.
func admits(live config.Config, inv *gateway.Inventory) bool {
	return (live.Mode == config.On || !live.CordonNew) &&
		!maintenance.Admit(inv.NB.IDs, inv.State, live.CordonNew, maintenance.Note{}).Empty()
}

// readRuns reads from the journal which runs of agents were interrupted, once per record and after each own run. They
// belong to this process, or to an agent that may write no more because its term has ended, such as a removed unit's.
// Runs of a requested drain are left out, since the drain is continued. A unit that does not act reports none.
func (g *gateways) readRuns(ctx context.Context, at *ovsdb.Gateways, inv *gateway.Inventory, value string,
	acts bool,
) error {
	if !acts {
		g.unfinished, g.noted = nil, ""
		return nil
	}
	if value == g.noted {
		return nil
	}
	j, err := gateway.ReadJournal(ctx, at)
	if err != nil {
		return err
	}
	drains := maintenance.ParseRecords(inv.NB.IDs).Drains
	g.unfinished = slices.DeleteFunc(j.Unfinished(), func(e journal.Entry) bool {
		_, drained := drains[e.Chassis]
		return !strings.HasSuffix(e.By, byAgent) || drained
	})
	g.noted = value
	return nil
}

// endRuns records, in one transaction that requires the record, that interrupted runs have nothing left to do. Their
// changes stay in the journal, so that they can be reverted.
func (g *gateways) endRuns(ctx context.Context, t turn) (changed bool, _ time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, passTimeout)
	defer cancel()
	s := g.agent.service(t.value)
	defer s.Close()
	var ids []string
	for _, e := range g.unfinished {
		ids = append(ids, e.ID)
	}
	if err := s.Finish(ctx, ids...); err != nil {
		g.detector.Everything(g.agent.now() + retryPause) // look at everything again
		return false, 0, err
	}
	g.noted = ""
	return true, 0, nil
}

func (g *gateways) run(ctx context.Context) {
	pause := firstPause
	defer g.drains.close()
	for ctx.Err() == nil {
		begun := g.agent.now()
		err := g.session(ctx)
		if ctx.Err() != nil {
			return
		}
		g.recordFailure(err)
		if g.agent.now()-begun > time.Minute {
			pause = firstPause
		}
		if !after(ctx, pause) {
			return
		}
		pause = min(2*pause, retryPause)
	}
}

// session uses one connection for all reads. The lease has a separate one, since these reads take long.
func (g *gateways) session(ctx context.Context) error {
	c := g.agent.config
	f, err := g.agent.dialer.Follow(ctx, c.NB, c.SB)
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		begun := processorTime()
		r, err := g.read(ctx, f)
		if err != nil {
			return err
		}
		again := g.pass(ctx, r)
		releaseMemory(processorTime() - begun)
		look, untilDue := lookPeriod, time.Duration(-1)
		if again != 0 {
			untilDue = max(again-g.agent.now(), 0)
			look = min(look, untilDue)
		}
		if err := g.wait(ctx, f, pauseAfterPass(processorTime()-begun, untilDue), time.After(look)); err != nil {
			return err
		}
	}
}

// events has the events that a session waits for.
type events interface {
	Lost(db ovndb.Database) <-chan struct{}
	Changed() <-chan struct{}
}

// wait returns if there is a reason for another pass, or once due fires. Nothing shortens the pause, not even that the
// unit acts again: the passes themselves may keep it from acting for a moment.
func (g *gateways) wait(ctx context.Context, f events, pause time.Duration, due <-chan time.Time) error {
	if !after(ctx, pause) {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-f.Lost(ovndb.NB):
		return errors.New("the connection to the Northbound database is lost")
	case <-f.Lost(ovndb.SB):
		return errors.New("the connection to the Southbound database is lost")
	case <-f.Changed():
	case <-g.wake:
	case <-due:
	}
	return nil
}
