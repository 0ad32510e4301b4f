package agent

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/drift"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// gateways follows chassis and gateways on every unit, so that a new holder starts with current state. The holder
// carries out what is due. Fields above mu belong to the loop.
type gateways struct {
	agent    *Agent
	wake     chan struct{}
	detector drift.Detector
	undone   drift.Undone
	acted    string // the record under which a complete plan was made
	// unfinished are the interrupted runs of this process, or of agents whose term has ended. They were read under the
	// record noted.
	unfinished []journal.Entry
	noted      string
	retry      time.Duration
	drains     drains

	mu     sync.Mutex
	report gatewayReport
	record string // the record under which this unit last acted
	missed bool   // the last pass found work, but this unit did not act

	// evaluating limits evaluations to one at a time.
	evaluating sync.Mutex
}

// The databases are read at most this often. They may change all the time, and a pass over large ones uses much
// processor time: at most one part in passShare of all time.
const (
	passPause = time.Second
	passShare = 50
	// lookPeriod is the largest age of a reading, unless a pass takes so long that passShare requires a longer pause.
	// Bindings of ports in the Southbound database are not followed: in a large cloud they change all the time.
	lookPeriod = 30 * time.Second
	// passTimeout bounds one pass.
	passTimeout = time.Minute
	// largePass is the processor time above which a pass returns its memory to the system: otherwise Go would keep it for
	// minutes, and up to half as much again for good.
	largePass = 100 * time.Millisecond
	// largeGrowth is the growth of the heap, in percent, that triggers the next collection after a large pass. It is small
	// because most of the heap is long-lived.
	largeGrowth = 20
)

// releaseMemory returns the memory of a pass that used that much processor time, because the agent needs little between
// passes. The time that this takes counts as part of the pass.
func releaseMemory(spent time.Duration) {
	if spent >= largePass {
		debug.SetGCPercent(largeGrowth)
		debug.FreeOSMemory()
	}
}

// pauseAfterPass returns the pause after a pass that used that much processor time. Time spent waiting for a server
// does not count. The pause is shorter if work is due earlier; a negative untilDue means that nothing is due.
func pauseAfterPass(spent, untilDue time.Duration) time.Duration {
	pause := passShare * spent
	if untilDue >= 0 {
		pause = min(pause, untilDue)
	}
	return max(pause, passPause)
}

// act carries out the due changes under this agent's record.
func (g *gateways) act(ctx context.Context, t turn) (done bool, _ time.Duration, err error) {
	var before map[string]bool // the rows of the journal
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

// plan uses the state that was read for the write: a chassis may have been cordoned since the pass.
func (g *gateways) plan(state schedule.State, owns func(key string) bool) schedule.Plan {
	g.detector.Observe(state, g.agent.now())
	return g.detector.Plan(state, owns)
}

// write calls do with a context that ends when this agent no longer holds the record.
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

// whileHeld returns a context that ends when this agent no longer holds the record. The database refuses writes that
// are sent later.
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

// guard returns the value of the record that each write of this agent requires; ok is false if the agent may write
// nothing.
func (a *Agent) guard() (value string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.election.Guard(a.now())
}

// needsPass reports whether this unit needs a pass because it acts now. Under a new record it always does; under the
// same record only if work is left. A pass over a large database keeps the server so busy that the unit may not act for
// a moment; that alone is no reason for another pass.
func (g *gateways) needsPass(record string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.record
	g.record = record
	return record != before || g.missed
}

// becameLeader reports whether this unit needs a pass because it acts now, although a pass found that it did not. If it
// took the lease before that pass recorded its result, nothing else wakes the loop.
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

// byAgent is the suffix of an agent's name in the journal.
const byAgent = ", agent"

func (g *gateways) drain(ctx context.Context, t turn) (changed bool, next time.Duration, err error) {
	next, err = g.drains.reconcile(ctx, t.value, t.inventory)
	return false, next, err
}

// nodesToDemote returns the cordoned nodes that gained gateways which could move away, except nodes with a drain, which
// moves these gateways itself.
func nodesToDemote(inv *gateway.Inventory) (all []string) {
	records := maintenance.ParseRecords(inv.NB.IDs)
	for _, chassis := range slices.Sorted(maps.Keys(records.Hosted)) {
		if _, drained := records.Drains[chassis]; !drained &&
			!schedule.Demote(inv.State, chassis, records.Hosted[chassis]).Empty() {
			all = append(all, chassis)
		}
	}
	return all
}

// demote moves gateways that came after the cordon off cordoned nodes, and reports whether it has written anything.
func (g *gateways) demote(ctx context.Context, t turn) (wrote bool, _ time.Duration, err error) {
	hosted := maintenance.ParseRecords(t.inventory.NB.IDs).Hosted
	for _, chassis := range nodesToDemote(t.inventory) {
		changed, err := g.write(ctx, t.value, func(ctx context.Context, s *gateway.Service) ([]schedule.Change, error) {
			return s.Demote(ctx, nil, chassis, hosted[chassis])
		})
		g.recordOutcome(changed, err)
		if err != nil {
			return true, 0, fmt.Errorf("cordon of %s: %w", chassis, err)
		}
		wrote = wrote || len(changed) > 0
	}
	return wrote, 0, nil
}
