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
	// service writes under the record that it was made for.
	service *node.Service
	value   string
	all     map[string]*drain
	retry   time.Duration

	mu     sync.Mutex
	report []report.Drain
}

// drain is one that is followed.
type drain struct {
	// progress is the last that is known, if known.
	progress maintenance.Progress
	known    bool
	follower maintenance.Follower
	recheck  maintenance.Recheck
	watch    maintenance.Watch
	changed  time.Duration
	text     string
	// stepped says that this agent has made steps of it that are not proved yet; the next proof is tried
	// at proveAt, and after one that failed the next one later and later.
	stepped             bool
	proveAt, provePause time.Duration
}

// A proof that ovn-northd does not answer in time is tried again: each try is a write.
const (
	proofTimeout    = 10 * time.Second
	firstProofPause = 30 * time.Second
	lastProofPause  = 10 * time.Minute
)

// prove asks the chassis that took the gateways for a sign of life, where this agent has moved any, and
// says what stands against its being proved; empty is nothing.
func (x *drain) prove(ctx context.Context, d *drains, chassis string, p *maintenance.Progress) string {
	now := d.agent.now()
	if !x.stepped || !p.Done() || p.Ended {
		return ""
	}
	if now < x.proveAt {
		return "not proved yet"
	}
	ctx, cancel := context.WithTimeout(ctx, proofTimeout)
	defer cancel()
	next, proved, err := d.service.Prove(ctx, chassis)
	if err != nil {
		x.provePause = min(max(firstProofPause, 2*x.provePause), lastProofPause)
		x.proveAt = d.agent.now() + x.provePause
		d.agent.log.Warn("cannot prove that the gateways of a drain were moved", "chassis", chassis, "error", err)
		return "not proved yet"
	}
	*p, x.provePause = next, 0
	x.stepped = p.Left > 0 || len(p.Unbound) > 0 || !proved
	if !proved {
		return "not proved yet"
	}
	return ""
}

// standing are the drains whose intents stand, by the name of the chassis.
func standing(inv *gateway.Inventory) map[string]maintenance.Drain {
	drains := maintenance.ParseRecords(inv.NB.IDs).Drains
	maps.DeleteFunc(drains, func(_ string, r maintenance.Drain) bool { return r.Undrain })
	return drains
}

// reconcile goes on with what stands in the inventory, and says when to look again if nothing
// changes before; 0 is never. Without the lease it only forgets.
func (d *drains) reconcile(ctx context.Context, value string, acts bool, inv *gateway.Inventory) (next time.Duration, err error) {
	standing := standing(inv)
	if !acts || len(standing) == 0 {
		d.close()
		d.say(nil)
		return 0, nil
	}
	if value != d.value {
		d.close()
		d.open(value)
	}
	if now := d.agent.now(); now < d.retry {
		return d.retry, nil
	}
	maps.DeleteFunc(d.all, func(chassis string, _ *drain) bool { _, stands := standing[chassis]; return !stands })
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go d.agent.gateways.whileHeld(ctx, value, cancel)
	var said []report.Drain
	var failures []error
	for _, chassis := range slices.Sorted(maps.Keys(standing)) {
		one, at, err := d.follow(ctx, inv, chassis)
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
	if len(failures) > 0 {
		d.retry = d.agent.now() + retryPause
		return d.retry, errors.Join(failures...)
	}
	return next, nil
}

// follow makes the next step of one, if it is due, and says where it is then. After an error it says that too,
// and what is known still: a drain that cannot go on is to be told of, and to stall.
func (d *drains) follow(ctx context.Context, inv *gateway.Inventory, chassis string) (said report.Drain, next time.Duration, err error) {
	x := d.all[chassis]
	if x == nil {
		x = new(drain)
		d.all[chassis] = x
	}
	next, err = d.step(ctx, inv, chassis, x)
	against := ""
	if err == nil {
		against = x.prove(ctx, d, chassis, &x.progress)
	} else {
		against = fmt.Sprintf("cannot go on: %v", err)
	}
	p, now := x.progress, d.agent.now()
	clock := time.Unix(0, 0).Add(now)
	text := against
	if x.known {
		x.watch.Next(p, clock)
		text = p.Text()
		if against != "" {
			text += ", " + against
		}
	}
	if text != x.text || x.changed == 0 {
		x.text, x.changed = text, now
	}
	done := p.Done() && against == ""
	said = report.Drain{Text: x.text, Gateways: p.Left + len(p.Blocked), Done: done, Stalled: x.watch.Stalled(p, clock), Since: x.changed}
	if !done && next == 0 {
		next = now + drainInterval // a hold that ends is no change that is followed
	}
	return said, next, err
}

// step looks where one is, and makes its next step if that is due. After an error it is known as far as it
// was read.
func (d *drains) step(ctx context.Context, inv *gateway.Inventory, chassis string, x *drain) (next time.Duration, err error) {
	p, err := d.service.Where(ctx, inv, chassis)
	if err != nil {
		return 0, err
	}
	x.progress, x.known = p, true
	due, next := x.follower.Look(p.Left, d.agent.now())
	if x.recheck.Due(p, time.Unix(0, 0).Add(d.agent.now())) {
		if err = d.service.Gateways.SyncNorthd(ctx); err != nil {
			return 0, err
		}
		due = true
	}
	if !due {
		return next, nil
	}
	d.agent.log.Info("continuing a drain", "chassis", chassis, "left", p.Text())
	x.stepped = true
	if p, err = d.service.Step(ctx, chassis); err != nil {
		return 0, err
	}
	x.progress = p
	_, next = x.follower.Look(p.Left, d.agent.now())
	return next, nil
}

// drainInterval is how often a drain that waits for holds is observed.
const drainInterval = 30 * time.Second

// open makes a service that writes under the record of that value only.
func (d *drains) open(value string) {
	d.value, d.all, d.retry = value, map[string]*drain{}, 0
	d.service = &node.Service{Gateways: d.agent.service(value), Unit: d.agent.config.Unit}
}

func (d *drains) close() {
	if d.service != nil {
		d.service.Close()
	}
	d.service, d.value, d.all = nil, "", nil
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
		g.did(changed, err)
		if err != nil {
			return true, fmt.Errorf("cordon of %s: %w", chassis, err)
		}
		wrote = wrote || len(changed) > 0
	}
	return wrote, nil
}

// miss notes whether drains stand, or gateways are to leave cordoned nodes, and this unit does not act: it
// has closed what it followed them by, so that nothing else would have it look once it acts again.
func (g *gateways) miss(acts bool, mode config.Mode, inv *gateway.Inventory) {
	missed := !acts && (len(standing(inv)) > 0 || mode == config.On && len(comeTo(inv)) > 0)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.missed = missed
}
