package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/drift"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// How often the databases are read at most: they may change all the time, and a pass over a
// large one takes the processor a while, which may be one part in so many.
const (
	passPause = time.Second
	passShare = 50
	// retryPause is how long to wait after a plan that could not be carried out.
	retryPause = 30 * time.Second
	// passTimeout bounds one pass.
	passTimeout = time.Minute
	// largePass is the processor's time of a pass that leaves so much behind that it is given
	// back to the system: Go would keep it for minutes, and up to half as much again for good.
	largePass = 100 * time.Millisecond
	// largeGrowth is by how much the heap of one that has made such a pass may grow until it is
	// collected again, in percent: what is kept lives for long, and is most of it.
	largeGrowth = 20
)

// gateways follows chassis and gateways, on every unit, so that the one that takes over
// knows what has happened. The one that acts carries out what is to be done. Its loop alone
// uses what is not under the lock.
type gateways struct {
	agent    *Agent
	wake     chan struct{}
	detector drift.Detector
	undone   drift.Undone
	acted    string // the record under which everything was planned
	// unfinished are runs of agents that were interrupted, as read under the record noted:
	// this process' own or those of agents that may write no more, since their term is over.
	unfinished []journal.Entry
	noted      string
	retry      time.Duration
	drains     drains

	mu     sync.Mutex
	report gatewayReport
	record string // under which this unit acted last
	missed bool   // the last pass found what it would have seen to, had the unit acted

	evaluated *schedule.Status // of the last pass, once a client has asked

	evaluating sync.Mutex
}

// run follows on one connection after another.
func (g *gateways) run(ctx context.Context) {
	pause := firstPause
	defer g.drains.close()
	for ctx.Err() == nil {
		begun := g.agent.now()
		err := g.session(ctx)
		if ctx.Err() != nil {
			return
		}
		g.failed(err)
		if g.agent.now()-begun > time.Minute {
			pause = firstPause
		}
		if !after(ctx, pause) {
			return
		}
		pause = min(2*pause, retryPause)
	}
}

// session is one connection, apart from that of the lease: what is read here takes long.
func (g *gateways) session(ctx context.Context) error {
	c := g.agent.config
	f, err := g.agent.dialer.Follow(ctx, c.NB, c.SB)
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		begun := processorTime()
		again, err := g.reconcile(ctx, f)
		if err != nil {
			return err
		}
		tidyUp(processorTime() - begun)
		var due <-chan time.Time
		untilDue := time.Duration(-1)
		if again != 0 {
			untilDue = max(again-g.agent.now(), 0)
			due = time.After(untilDue)
		}
		if err := g.wait(ctx, f, pauseAfter(processorTime()-begun, untilDue), due); err != nil {
			return err
		}
	}
}

// events are what a session waits for.
type events interface {
	Lost(db ovndb.Database) <-chan struct{}
	Changed() <-chan struct{}
}

// wait returns once there is a reason to look again. None of them shortens the pause, not even that the unit acts
// again: it may be each pass that keeps it from acting for a moment.
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

// tidyUp gives back what a pass has needed that took so much of the processor's time: between two
// passes the agent needs a small part of it. That takes time itself, which counts as the pass's.
func tidyUp(spent time.Duration) {
	if spent >= largePass {
		debug.SetGCPercent(largeGrowth)
		debug.FreeOSMemory()
	}
}

// pauseAfter is for how long nothing is read after a pass that took so much of the processor's
// time: one that only waited for a server is no reason to wait. What is due earlier is done
// then; negative is nothing.
func pauseAfter(spent, untilDue time.Duration) time.Duration {
	pause := passShare * spent
	if untilDue >= 0 {
		pause = min(pause, untilDue)
	}
	return max(pause, passPause)
}

// act carries out what is due, under the record that this agent holds.
func (g *gateways) act(ctx context.Context, value string, inv *gateway.Inventory, owns func(key string) bool) error {
	var before map[string]bool // rows of the journal
	changed, err := g.write(ctx, value, func(ctx context.Context, s *gateway.Service) ([]schedule.Change, error) {
		err := s.With(ctx, func(at *ovsdb.Gateways) error {
			j, err := gateway.ReadJournal(ctx, at)
			before = drift.Journal(j.Changes()).Rows()
			return err
		})
		if err != nil {
			return nil, err
		}
		return s.Apply(ctx, func(state schedule.State, _ int) schedule.Plan { return g.plan(state, owns) }, g.unfinished...)
	})
	for _, change := range changed {
		if i := slices.IndexFunc(inv.State.Groups, func(x schedule.Group) bool { return x.Name == change.Group }); i >= 0 && inv.Neutrons(change.Group) {
			wrote := inv.State.Groups[i]
			wrote.Candidates = change.After
			g.undone.Wrote(wrote, before)
		}
	}
	g.did(changed, err)
	if err != nil {
		return fmt.Errorf("after %d gateways: %w", len(changed), err)
	}
	return nil
}

// plan is made of what is read to be written: a chassis may have been cordoned since the pass has looked.
func (g *gateways) plan(state schedule.State, owns func(key string) bool) schedule.Plan {
	g.detector.Observe(state, g.agent.now())
	return g.detector.Plan(state, owns)
}

// write has something written as long as this agent holds the record.
func (g *gateways) write(ctx context.Context, value string, do func(context.Context, *gateway.Service) ([]schedule.Change, error)) ([]schedule.Change, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go g.whileHeld(ctx, value, cancel)
	s := g.agent.service(value)
	defer s.Close()
	g.noted = ""
	return do(ctx, s)
}

// service writes under the record that this agent holds.
func (a *Agent) service(value string) *gateway.Service {
	c := a.config
	return &gateway.Service{
		Dialer: a.dialer, NB: c.NB, SB: c.SB, By: c.Unit + byAgent, Now: wall, NorthdTimeout: gateway.DefaultNorthdTimeout,
		Key: recordKey, Value: value,
	}
}

// whileHeld ends what is done once this agent doesn't hold the record any more. What is on
// its way then is refused by the database.
func (g *gateways) whileHeld(ctx context.Context, value string, cancel context.CancelFunc) {
	for after(ctx, g.agent.election.Beat()/4) {
		if now, acts := g.agent.guard(); !acts || now != value {
			cancel()
			return
		}
	}
}

// guard is what everything that this agent writes waits for; ok is false where it may write
// nothing.
func (a *Agent) guard() (value string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.election.Guard(a.now())
}

// wants says whether there is something to look for once this unit acts: under another record
// everything, under the same one what it could not do meanwhile. A pass over a large database keeps
// the server busy, so that the unit may act no more for a moment: that is no reason for another.
func (g *gateways) wants(record string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.record
	g.record = record
	return record != before || g.report.planned > 0 || g.missed
}

// begun says whether this unit has begun to act since a pass found that it does not, and there is something to
// look for: where it began before the pass had noted that, nothing else says so.
func (g *gateways) begun() bool {
	record, acts := g.agent.guard()
	return acts && g.wants(record)
}

// wakeGateways has the gateways reconciled: this unit may act by now, or was told otherwise.
func (a *Agent) wakeGateways() {
	select {
	case a.gateways.wake <- struct{}{}:
	default: // they will be
	}
}
