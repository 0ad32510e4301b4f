package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// drains goes on with the drains whose intents stand in the database, as long as this agent
// holds the lease: commands that began them may be gone. The loop of the gateways alone uses
// what is not under the lock.
type drains struct {
	agent *Agent
	// open makes a service that writes under the record of that value only; service is the one that is open.
	open    func(value string) drainService
	service drainService
	// value is the record under which all of them were followed: what is known of them outlives moments in
	// which the unit does not act.
	value string
	all   map[string]*drain
	retry time.Duration

	mu     sync.Mutex
	report []report.Drain
}

// drainService is what a [node.Service] does for drains.
type drainService interface {
	Where(ctx context.Context, inv *gateway.Inventory, chassis string) (maintenance.Progress, error)
	Step(ctx context.Context, chassis string) (p maintenance.Progress, left bool, err error)
	// AskNorthd asks for a sign of life of all, SyncNorthd waits for that of ovn-northd too.
	AskNorthd(ctx context.Context) error
	SyncNorthd(ctx context.Context) error
	Close()
}

// continued are steps of drains, and the questions that they need.
type continued struct{ *node.Service }

func (c continued) AskNorthd(ctx context.Context) error  { return c.Gateways.AskNorthd(ctx) }
func (c continued) SyncNorthd(ctx context.Context) error { return c.Gateways.SyncNorthd(ctx) }

func (a *Agent) newDrains() drains {
	return drains{agent: a, open: func(value string) drainService {
		return continued{&node.Service{Gateways: a.service(value), Unit: a.config.Unit}}
	}}
}

// drain is one that is followed.
type drain struct {
	// intent is the record of it: the node may have been undrained, and drained again.
	intent map[string]string
	// progress is the last that is known, if known.
	progress maintenance.Progress
	known    bool
	follower maintenance.Follower
	recheck  maintenance.Recheck
	// proof is of what this process has seen: nothing says whether another one has proved it.
	proof   maintenance.Proof
	watch   maintenance.Watch
	changed time.Duration
	text    string
}

// standing are the drains whose intents stand, by the name of the chassis.
func standing(inv *gateway.Inventory) map[string]maintenance.Drain {
	drains := maintenance.ParseRecords(inv.NB.IDs).Drains
	maps.DeleteFunc(drains, func(_ string, r maintenance.Drain) bool { return r.Undrain })
	return drains
}

// reconcile goes on with what stands in the inventory, and says when to look again if nothing
// changes before; 0 is never. Without the lease it only tells of none.
func (d *drains) reconcile(ctx context.Context, value string, acts bool, inv *gateway.Inventory) (next time.Duration, err error) {
	standing := standing(inv)
	maps.DeleteFunc(d.all, func(chassis string, x *drain) bool {
		_, stands := standing[chassis]
		return !stands || !maps.Equal(x.intent, maintenance.DrainPair(chassis, inv.NB.IDs))
	})
	if !acts || len(standing) == 0 {
		d.close()
		d.say(nil)
		return 0, nil
	}
	if value != d.value {
		d.close()
		d.value, d.all = value, map[string]*drain{}
	}
	if d.service == nil {
		d.service, d.retry = d.open(value), 0
	}
	if now := d.agent.now(); now < d.retry {
		return d.retry, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go d.agent.gateways.whileHeld(ctx, value, cancel)
	var said []report.Drain
	var failures []error
	ask := false
	for _, chassis := range slices.Sorted(maps.Keys(standing)) {
		one, at, asks, err := d.follow(ctx, inv, chassis)
		ask = ask || asks
		if err != nil {
			failures = append(failures, fmt.Errorf("drain of %s: %w", chassis, err))
		}
		if at != 0 && (next == 0 || at < next) {
			next = at
		}
		one.Chassis, one.Node = chassis, chassis
		if host := standing[chassis].Hostname; host != "" {
			one.Node = host
		}
		said = append(said, one)
	}
	d.say(said)
	if ask { // once for all of them
		if err := d.service.AskNorthd(ctx); err != nil {
			d.agent.log.Warn("cannot ask the chassis that took the gateways of drains for a sign of life", "error", err)
		}
	}
	if len(failures) > 0 {
		d.retry = d.agent.now() + retryPause
		return d.retry, errors.Join(failures...)
	}
	return next, nil
}

// follow makes the next step of one, if it is due, and says where it is then, and whether a sign of life is to
// be asked for. After an error it says where it is too, and what is known still: a drain that cannot go on is to
// be told of, and to stall.
func (d *drains) follow(ctx context.Context, inv *gateway.Inventory, chassis string) (said report.Drain, next time.Duration, ask bool, err error) {
	x := d.all[chassis]
	if x == nil {
		x = &drain{intent: maintenance.DrainPair(chassis, inv.NB.IDs)}
		d.all[chassis] = x
	}
	next, ask, err = d.step(ctx, inv, chassis, x)
	p, now := x.progress, d.agent.now()
	clock := time.Unix(0, 0).Add(now)
	text := ""
	if x.known {
		x.watch.Next(p, clock)
		text = p.Text()
	}
	if err != nil {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("cannot go on: %v", err)
	}
	if text != x.text || x.changed == 0 {
		x.text, x.changed = text, now
	}
	done := p.Done() && err == nil
	said = report.Drain{Text: x.text, Gateways: p.Left + len(p.Blocked), Done: done, Stalled: x.watch.Stalled(p, clock), Since: x.changed}
	if !done && next == 0 {
		next = now + drainInterval // a hold that ends is no change that is followed
	}
	return said, next, ask, err
}

// step looks where one is, and makes its next step if that is due. After an error it is known as far as it
// was read.
func (d *drains) step(ctx context.Context, inv *gateway.Inventory, chassis string, x *drain) (next time.Duration, ask bool, err error) {
	p, err := d.service.Where(ctx, inv, chassis)
	if err != nil {
		return 0, false, err
	}
	now := d.agent.now()
	due, next := x.follower.Look(p.Left, now)
	if !due && p.Done() && !p.Ended {
		ask = x.proof.Look(maintenance.Claims{Hosts: node.Hosts(inv, chassis), Asked: inv.NB.Config, Followed: inv.SB.Config}, now)
	}
	x.is(p)
	if x.recheck.Due(p, time.Unix(0, 0).Add(now)) {
		x.proof.Moved() // what is on no chassis goes to one that was asked before
		if err = d.service.SyncNorthd(ctx); err != nil {
			return 0, false, err
		}
		due = true
	}
	if !due {
		return next, ask, nil
	}
	d.agent.log.Info("continuing a drain", "chassis", chassis, "left", p.Text())
	p, left, err := d.service.Step(ctx, chassis)
	if left || err != nil { // otherwise a chassis only needed a moment to follow
		x.proof.Moved()
	}
	if err != nil {
		return 0, false, err
	}
	x.is(p)
	_, next = x.follower.Look(p.Left, d.agent.now())
	return next, false, nil
}

// is takes where one is, and judges whether that is proved.
func (x *drain) is(p maintenance.Progress) {
	p.Unproved = p.Done() && !p.Ended && !x.proof.Proved()
	x.progress, x.known = p, true
}

// drainInterval is how often a drain that waits for holds is observed.
const drainInterval = 30 * time.Second

// close ends the connections.
func (d *drains) close() {
	if d.service != nil {
		d.service.Close()
		d.service = nil
	}
}

func (d *drains) say(all []report.Drain) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.report = all
}

// status is where each of them is.
func (d *drains) status(now time.Duration) []report.Drain {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := append([]report.Drain{}, d.report...)
	for i := range all {
		all[i].ForSeconds = (now - all[i].Since).Seconds()
	}
	return all
}

// comeTo are the cordoned nodes to which gateways have come since that could go again. What is drained
// is seen to by its drain.
func comeTo(inv *gateway.Inventory) (all []string) {
	records := maintenance.ParseRecords(inv.NB.IDs)
	for _, chassis := range slices.Sorted(maps.Keys(records.Hosted)) {
		if _, drained := records.Drains[chassis]; !drained && !schedule.Demote(inv.State, chassis, records.Hosted[chassis]).Empty() {
			all = append(all, chassis)
		}
	}
	return all
}

// demote has what has come to cordoned nodes since go again, and says whether it has written
// anything.
func (g *gateways) demote(ctx context.Context, value string, inv *gateway.Inventory) (wrote bool, err error) {
	hosted := maintenance.ParseRecords(inv.NB.IDs).Hosted
	for _, chassis := range comeTo(inv) {
		changed, err := g.write(ctx, value, func(ctx context.Context, s *gateway.Service) ([]schedule.Change, error) {
			return s.Demote(ctx, nil, chassis, hosted[chassis])
		})
		g.recordOutcome(changed, err)
		if err != nil {
			return true, fmt.Errorf("cordon of %s: %w", chassis, err)
		}
		wrote = wrote || len(changed) > 0
	}
	return wrote, nil
}

// miss notes whether drains stand, gateways are to leave cordoned nodes, or chassis are new, and this unit does
// not act: it has closed what it followed them by, so that nothing else would have it look once it acts again.
func (g *gateways) markMissed(acts bool, live config.Config, inv *gateway.Inventory) {
	missed := !acts && (len(standing(inv)) > 0 || live.Mode == config.On && (len(comeTo(inv)) > 0 || admits(live, inv)))
	g.mu.Lock()
	defer g.mu.Unlock()
	g.missed = missed
}
