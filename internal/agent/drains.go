package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// drains continues drains with an intent in the database while this agent holds the lease: the commands that began them
// may have ended. Only the loop of the gateways uses the fields above report.
type drains struct {
	now func() time.Duration
	log *slog.Logger
	// whileHeld returns a context that ends when this agent no longer holds the record.
	whileHeld func(ctx context.Context, value string) (context.Context, context.CancelFunc)
	// open makes a service that writes only while the record has that value; service is the open one.
	open    func(value string) drainService
	service drainService
	// value is the record under which all were followed: their state survives moments in which the unit does not act.
	value string
	all   map[string]*drain
	retry time.Duration
	// asked reports whether a drain needs signs of life of all chassis.
	asked  bool
	report atomic.Pointer[[]report.Drain]
}

type drain struct {
	maintenance.Drainer
	// intent is the drain's record. It differs if the node has been undrained and drained again.
	intent map[string]string
	said   report.Drain // the last report
}

// drainService has the operations of [node.Service] that drains need.
type drainService interface {
	Effects(chassis string, inv *gateway.Inventory) maintenance.Effects
	AskNorthd(ctx context.Context) error
	Close()
}

// retryPause is the pause after a plan or a drain that could not be carried out.
const retryPause = 30 * time.Second

// effects has the effects of a drain that this agent continues. Its clock never jumps, and one request for signs of
// life serves all drains.
type effects struct {
	maintenance.Effects
	drains  *drains
	chassis string
}

func (e effects) Now() time.Time { return time.Unix(0, 0).Add(e.drains.now()) }

func (e effects) Move(ctx context.Context) (maintenance.Sight, bool, error) {
	e.drains.log.Info("continuing a drain", "chassis", e.chassis)
	return e.Effects.Move(ctx)
}

func (e effects) Ask(context.Context) error {
	e.drains.asked = true
	return nil
}

// intended returns the drains in the database by chassis, except those that are being undone.
func intended(inv *gateway.Inventory) map[string]maintenance.Drain {
	drains := maintenance.ParseRecords(inv.NB.IDs).Drains
	maps.DeleteFunc(drains, func(_ string, r maintenance.Drain) bool { return r.Undrain })
	return drains
}

// end forgets the drains that are no longer in the inventory, closes the service, and reports no drains.
func (d *drains) end(inv *gateway.Inventory) {
	d.forget(inv)
	d.close()
	d.report.Store(nil)
}

func (d *drains) forget(inv *gateway.Inventory) {
	intended := intended(inv)
	maps.DeleteFunc(d.all, func(chassis string, x *drain) bool {
		_, found := intended[chassis]
		return !found || !maps.Equal(x.intent, maintenance.DrainPair(chassis, inv.NB.IDs))
	})
}

// reconcile takes the next step of each drain in the inventory, and returns when to look again if nothing changes
// before; 0 means never.
func (d *drains) reconcile(ctx context.Context, value string, inv *gateway.Inventory) (next time.Duration, err error) {
	d.forget(inv)
	intended := intended(inv)
	if value != d.value {
		d.close()
		d.value, d.all = value, map[string]*drain{}
	}
	if d.service == nil {
		d.service, d.retry = d.open(value), 0
	}
	if now := d.now(); now < d.retry {
		return d.retry, nil
	}
	ctx, cancel := d.whileHeld(ctx, value)
	defer cancel()
	var said []report.Drain
	var failures []error
	d.asked = false
	for _, chassis := range slices.Sorted(maps.Keys(intended)) {
		one, at, err := d.follow(ctx, inv, chassis)
		if err != nil {
			failures = append(failures, fmt.Errorf("drain of %s: %w", chassis, err))
		}
		one.Node = cmp.Or(intended[chassis].Hostname, chassis)
		next, said = earliest(next, at), append(said, one)
	}
	d.report.Store(&said)
	if d.asked { // one request serves all drains
		if err := d.service.AskNorthd(ctx); err != nil {
			d.log.Warn("cannot ask the chassis that took the gateways of drains for a sign of life", "error", err)
		}
	}
	if len(failures) > 0 {
		d.retry = d.now() + retryPause
		return d.retry, errors.Join(failures...)
	}
	return next, nil
}

// follow takes the next step of one drain, and returns the state of the drain after it, even after an error. next is
// when to look again; it is 0 only after a change.
func (d *drains) follow(ctx context.Context, inv *gateway.Inventory, chassis string,
) (said report.Drain, next time.Duration, err error) {
	x := d.all[chassis]
	if x == nil {
		x = &drain{intent: maintenance.DrainPair(chassis, inv.NB.IDs)}
		d.all[chassis] = x
	}
	do := effects{d.service.Effects(chassis, inv), d, chassis}
	_, _, due, err := x.Step(ctx, do)
	p := x.Progress
	var parts []string
	if x.Known {
		parts = append(parts, p.Text())
	}
	if err != nil {
		parts = append(parts, fmt.Sprintf("cannot continue: %v", err))
	}
	said = report.Drain{
		Chassis: chassis, Text: strings.Join(parts, ", "), Gateways: p.Left + len(p.Blocked),
		Done: p.Done() && err == nil, Stalled: x.Stalled(do.Now()), Since: d.now(),
	}
	if x.said.Text == said.Text {
		said.Since = x.said.Since
	}
	x.said = said
	if !due.IsZero() {
		next = due.Sub(time.Unix(0, 0))
	}
	return said, next, err
}

func (d *drains) close() {
	if d.service != nil {
		d.service.Close()
		d.service = nil
	}
}

func (d *drains) status(now time.Duration) []report.Drain {
	all := []report.Drain{}
	if said := d.report.Load(); said != nil {
		all = append(all, *said...)
	}
	for i := range all {
		all[i].ForSeconds = (now - all[i].Since).Seconds()
	}
	return all
}
