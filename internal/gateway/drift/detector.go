// Package drift decides when to act on changes of chassis and gateways. It is pure: from the contents of the databases
// and the time, it returns the state to plan from, and the gateways to plan for. It compares states and needs no
// events: every change that lasts until the next observation is seen.
package drift

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// The largest [Detector.HoldDown], and its default. They are our own choice: after a day a chassis is certainly gone.
const (
	MaxHoldDown     = 24 * time.Hour
	DefaultHoldDown = 2 * time.Minute
)

// Detector delays changes: a chassis counts as before until it has not changed for the hold-down, so that chassis that
// restart one after the other change nothing. All times are readings of one monotonic clock. The zero Detector has
// observed nothing.
type Detector struct {
	// HoldDown is how long a change must last before it counts.
	HoldDown time.Duration

	chassis map[string]*chassis
	groups  map[string]*value[struct{}]
	begun   time.Duration
	looked  bool
	// all makes the next plan cover everything. Otherwise the plan covers the changes that have settled since the last
	// one.
	all          bool
	since        time.Duration // when the first of them settled
	changed      map[string]bool
	changedGroup map[string]bool
}

type value[T any] struct {
	held, seen       T
	heldKey, seenKey string
	settled          bool // whether held has a value
	since            time.Duration
}

func (v *value[T]) see(now time.Duration, seen T, key string) {
	if key != v.seenKey || v.since == 0 {
		v.seenKey, v.since = key, max(now, 1)
	}
	v.seen = seen
}

func (v *value[T]) moving() bool { return !v.settled || v.heldKey != v.seenKey }

// settle accepts the present value if it is new and has lasted for the hold-down, and reports whether it did.
func (v *value[T]) settle(now, hold time.Duration) bool {
	if !v.moving() || now-v.since < hold {
		return false
	}
	v.held, v.heldKey, v.settled = v.seen, v.seenKey, true
	return true
}

type chassis struct {
	// facts holds nil while the chassis does not exist.
	facts value[*schedule.Chassis]
	// lag is separate from the facts: an ovn-controller lags for a moment whenever nb_cfg is raised.
	lag value[bool]
}

// Observe records the present contents of the databases.
func (d *Detector) Observe(s schedule.State, now time.Duration) {
	if !d.looked {
		d.looked, d.begun = true, now
		d.chassis, d.groups = map[string]*chassis{}, map[string]*value[struct{}]{}
		d.changed, d.changedGroup = map[string]bool{}, map[string]bool{}
	}
	there, named := map[string]schedule.Chassis{}, map[string]bool{}
	for _, c := range s.Chassis {
		there[c.Name], named[c.Name] = c, true
	}
	d.observeGroups(s.Groups, named, now)
	for name := range named {
		if d.chassis[name] == nil {
			d.chassis[name] = new(chassis)
		}
	}
	for name, c := range d.chassis {
		if x, found := there[name]; found {
			lag := x.Unresponsive
			x.Unresponsive = false
			c.facts.see(now, &x, fmt.Sprintf("%+v", x))
			c.lag.see(now, lag, fmt.Sprint(lag))
			if !c.lag.settled && !lag {
				c.lag.settle(now, 0)
			}
		} else {
			c.facts.see(now, nil, "")
		}
	}
	d.settle(now)
	maps.DeleteFunc(d.chassis, func(name string, c *chassis) bool {
		return !named[name] && c.facts.settled && c.facts.held == nil && !d.changed[name]
	})
}

func (d *Detector) observeGroups(groups []schedule.Group, named map[string]bool, now time.Duration) {
	present := map[string]bool{}
	for _, g := range groups {
		present[g.Name] = true
		for _, c := range g.Candidates {
			named[c.Chassis] = true
		}
		v := d.groups[g.Name]
		if v == nil {
			v = new(value[struct{}])
			d.groups[g.Name] = v
		}
		v.see(now, struct{}{}, key(g))
	}
	maps.DeleteFunc(d.groups, func(name string, _ *value[struct{}]) bool { return !present[name] })
}

// key returns a digest of everything about a group that matters to a plan, except its bindings. It is short because one
// is kept for each of 10,000 gateways.
func key(g schedule.Group) string {
	byPriority := func(a, b schedule.Candidate) int { return b.Priority - a.Priority }
	candidates := slices.SortedFunc(slices.Values(g.Candidates), byPriority)
	key := fmt.Sprintf("%s %d %d %s %q %v", g.Storage, g.Kind, g.Owner, g.Follows, g.Zones, candidates)
	for _, p := range g.Ports {
		key += fmt.Sprintf(" %q %q", p.Name, p.Network)
	}
	sum := sha256.Sum256([]byte(key))
	return string(sum[:])
}

func (d *Detector) settle(now time.Duration) {
	note := func(set map[string]bool, name string) {
		d.begin(now)
		set[name] = true
	}
	for name, c := range d.chassis {
		facts, lag := c.facts.settle(now, d.HoldDown), c.lag.since != 0 && c.lag.settle(now, d.HoldDown)
		if facts || lag {
			note(d.changed, name)
		}
	}
	for name, v := range d.groups {
		if v.settle(now, d.HoldDown) {
			note(d.changedGroup, name)
		}
	}
}

// Everything makes the next plan cover everything. A unit that begins to act needs that.
func (d *Detector) Everything(now time.Duration) {
	d.begin(now)
	d.all = true
}

// pending reports whether there is something to plan for.
func (d *Detector) pending() bool { return d.all || len(d.changed)+len(d.changedGroup) > 0 }

func (d *Detector) begin(now time.Duration) {
	if !d.pending() {
		d.since = now
	}
}

// Done records that a plan found nothing to do. If something is still held down, the pending changes stay: there may be
// something to do later, and a chassis that comes back as it was counts as no change.
func (d *Detector) Done(now time.Duration) {
	if len(d.Held(now)) > 0 {
		d.since = now
		return
	}
	d.all = false
	clear(d.changed)
	clear(d.changedGroup)
}

// Due reports whether it is time for a plan. A change must have settled. In addition, either nothing else is held down,
// so that a burst of changes results in one plan, or the hold-down has passed once more.
func (d *Detector) Due(now time.Duration) bool {
	if !d.looked || now-d.begun < d.HoldDown || !d.pending() {
		return false
	}
	return len(d.Held(now)) == 0 || now-d.since >= d.HoldDown
}

// Held returns the time until which each chassis and gateway is held down, by name.
func (d *Detector) Held(now time.Duration) map[string]time.Duration {
	held := map[string]time.Duration{}
	note := func(name string, moving bool, since time.Duration) {
		until := since + d.HoldDown
		if moving && until > now && (held[name] == 0 || until > held[name]) {
			held[name] = until
		}
	}
	for name, c := range d.chassis {
		note(name, c.facts.moving(), c.facts.since)
		note(name, c.lag.since != 0 && c.lag.moving(), c.lag.since)
	}
	for name, v := range d.groups {
		note(name, v.moving(), v.since)
	}
	return held
}

// Next returns when a plan may be due if nothing changes; 0 means never.
func (d *Detector) Next(now time.Duration) (next time.Duration) {
	earlier := func(t time.Duration) {
		if t > now && (next == 0 || t < next) {
			next = t
		}
	}
	for _, until := range d.Held(now) {
		earlier(until)
	}
	if d.looked && d.pending() {
		earlier(d.begun + d.HoldDown)
		earlier(d.since + d.HoldDown)
	}
	return next
}
