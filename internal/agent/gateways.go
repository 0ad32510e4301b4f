package agent

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/drift"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// How often the databases are read at most. They may change all the time, and a pass over a large one uses much
// processor time, which may be one part in passShare.
const (
	passPause = time.Second
	passShare = 50
	// lookPeriod is how old a reading gets at most, unless a pass takes so long that passShare asks for more. Bindings
	// of ports in the Southbound database are not followed: in a large cloud they change all the time.
	lookPeriod = 30 * time.Second
	// retryPause is the pause after a plan that could not be carried out.
	retryPause = 30 * time.Second
	// passTimeout bounds one pass.
	passTimeout = time.Minute
	// largePass is the processor time from which on a pass returns its memory to the system: Go would keep it for
	// minutes, and up to half as much again for good.
	largePass = 100 * time.Millisecond
	// largeGrowth is by how much the heap may grow until the next collection, in percent, after a large pass: most of
	// the heap is long-lived.
	largeGrowth = 20
)

// releaseMemory returns the memory of a pass that used that much processor time: between passes the agent needs little.
// That takes time itself, which counts as the pass's.
func releaseMemory(spent time.Duration) {
	if spent >= largePass {
		debug.SetGCPercent(largeGrowth)
		debug.FreeOSMemory()
	}
}

// pauseAfterPass is the pause after a pass that used so much processor time. Time spent waiting for a server does not
// count. Work that is due earlier is done then; negative means that nothing is due.
func pauseAfterPass(spent, untilDue time.Duration) time.Duration {
	pause := passShare * spent
	if untilDue >= 0 {
		pause = min(pause, untilDue)
	}
	return max(pause, passPause)
}

// act carries out what is due, under this agent's record.
func (g *gateways) act(ctx context.Context, t turn) (done bool, _ time.Duration, err error) {
	var before map[string]bool // rows of the journal
	inv := t.inventory
	changed, err := g.write(ctx, t.value, func(ctx context.Context, s *gateway.Service) ([]schedule.Change, error) {
		err := s.With(ctx, func(at *ovsdb.Gateways) error {
			j, err := gateway.ReadJournal(ctx, at)
			before = drift.Journal(j.Changes()).Rows()
			return err
		})
		if err != nil {
			return nil, err
		}
		return s.Apply(ctx, func(state schedule.State, _ int) schedule.Plan { return g.plan(state, t.owns) }, g.unfinished...)
	})
	for _, change := range changed {
		if i := slices.IndexFunc(inv.State.Groups, func(x schedule.Group) bool { return x.Name == change.Group }); i >= 0 &&
			inv.Neutrons(change.Group) {
			wrote := inv.State.Groups[i]
			wrote.Candidates = change.After
			g.undone.Wrote(wrote, before)
		}
	}
	g.recordOutcome(changed, err)
	if err != nil {
		return true, 0, fmt.Errorf("after %s: %w", schedule.Count(len(changed), "gateway"), err)
	}
	return true, 0, nil
}

// plan uses the state read for the write: a chassis may have been cordoned since the pass.
func (g *gateways) plan(state schedule.State, owns func(key string) bool) schedule.Plan {
	g.detector.Observe(state, g.agent.now())
	return g.detector.Plan(state, owns)
}

// write runs do for as long as this agent holds the record.
func (g *gateways) write(ctx context.Context, value string,
	do func(context.Context, *gateway.Service) ([]schedule.Change, error),
) ([]schedule.Change, error) {
	ctx, cancel := g.whileHeld(ctx, value)
	defer cancel()
	s := g.agent.service(value)
	defer s.Close()
	g.noted = ""
	return do(ctx, s)
}

// service makes a service that writes under this agent's record.
func (a *Agent) service(value string) *gateway.Service {
	c := a.config
	return &gateway.Service{
		Dialer: a.dialer, NB: c.NB, SB: c.SB, By: c.Unit + byAgent, Now: wall, NorthdTimeout: gateway.DefaultNorthdTimeout,
		Key: recordKey, Value: value,
	}
}

// whileHeld returns a context that ends when this agent no longer holds the record. The database refuses what is sent
// later.
func (g *gateways) whileHeld(ctx context.Context, value string) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		for after(ctx, g.agent.election.Beat()/4) {
			if now, acts := g.agent.guard(); !acts || now != value {
				return
			}
		}
	}()
	return ctx, cancel
}

// guard returns the value that each write of this agent waits for; ok is false if it may write nothing.
func (a *Agent) guard() (value string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.election.Guard(a.now())
}

// needsPass reports whether to make a pass because this unit acts now: under a new record always, under the same one
// only if work is left. A pass over a large database keeps the server busy, so that the unit may not act for a moment;
// that alone is no reason for another pass.
func (g *gateways) needsPass(record string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.record
	g.record = record
	return record != before || g.missed
}

// becameLeader reports whether this unit needs a pass because it acts now, although a pass found that it does not. If
// it took the lease before that pass recorded its result, nothing else wakes the loop.
func (g *gateways) becameLeader() bool {
	record, acts := g.agent.guard()
	return acts && g.needsPass(record)
}

// wakeGateways wakes the loop: leadership or configuration changed.
func (a *Agent) wakeGateways() {
	select {
	case a.gateways.wake <- struct{}{}:
	default: // already woken
	}
}

// earliest is the first of two times; 0 is never.
func earliest(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// byAgent is the suffix of an agent's name in the journal.
const byAgent = ", agent"
