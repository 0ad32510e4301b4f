package soak

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

const minSteps, maxSteps = 8, 20

const maxUnits = 5

// calls is about how many calls a step's hooks or action make. A fault at a later call doesn't happen.
var calls = map[string]int{"add": 600, "replace": 600, "remove": 130, "type": 110}

const fewCalls = 30

const mostDisturbances = 6

type kind struct {
	do     string
	weight int
	make   func(*draw) (Step, bool)
}

// draw is the generator's state: the units that exist if all goes well. The runner knows what really happened.
type draw struct {
	*rand.Rand
	units, gone []int
	next        int
	down        map[int]bool
	paused      map[int]bool
}

// Generate draws a schedule. The same seed gives the same schedule.
func Generate(seed uint64) Schedule {
	r := rand.New(rand.NewPCG(seed, 0))
	d := &draw{Rand: r, down: map[int]bool{}, paused: map[int]bool{}}
	s := Schedule{Units: min(1+r.IntN(maxUnits), 1+r.IntN(maxUnits+1)), Juju: "3.6.11", Restart: r.IntN(2) == 0}
	if r.IntN(3) == 0 {
		s.Juju = "4.0.1"
	}
	for range s.Units {
		d.add()
	}
	for len(s.Steps) < minSteps+r.IntN(maxSteps-minSteps+1) {
		s.Steps = append(s.Steps, d.step())
	}
	return s
}

func (d *draw) add() int {
	d.units = append(d.units, d.next)
	d.next++
	return d.next - 1
}

func (d *draw) unit() int { return d.units[d.IntN(len(d.units))] }

func (d *draw) chance(percent int) bool { return d.IntN(100) < percent }

func (d *draw) db() string { return []string{"nb", "sb", ""}[d.IntN(3)] }

func (d *draw) remove(u int) {
	d.units = slices.DeleteFunc(d.units, func(o int) bool { return o == u })
	delete(d.down, u)
	delete(d.paused, u)
}

func (d *draw) step() Step {
	for {
		kinds := operations
		if len(d.down) == 0 && d.chance(50) || d.chance(20) {
			kinds = faults
		} else if len(d.down) > 0 && d.chance(50) {
			kinds = heals
		}
		s, ok := d.of(kinds)
		if !ok {
			continue
		}
		if !isFault(s.Do) && s.Do != "heal" {
			d.disturb(&s)
		}
		return s
	}
}

func (d *draw) of(kinds []kind) (Step, bool) {
	total := 0
	for _, k := range kinds {
		total += k.weight
	}
	n := d.IntN(total)
	for _, k := range kinds {
		if n -= k.weight; n < 0 {
			s, ok := k.make(d)
			s.Do = k.do
			return s, ok
		}
	}
	panic("the weights are their sum")
}

// disturb adds faults at calls of the step, and sometimes a second operation at the same time.
func (d *draw) disturb(s *Step) {
	for range d.IntN(mostDisturbances + 1) {
		fault, ok := d.of(disturbances)
		if !ok {
			continue
		}
		if fault.Do == "kill-hook" || fault.Do == "hang-hook" || fault.Do == "fail-tool" {
			fault.Unit = s.actor()
		}
		fault.Call = 1 + d.IntN(cmp.Or(calls[s.Do], fewCalls))
		s.With = append(s.With, fault)
	}
	if d.chance(15) {
		if other, ok := d.of(operations); ok && other.Unit != s.Unit && other.Do != "replace" {
			s.With = append(s.With, other)
		}
	}
}

var operations = []kind{
	{"add", 4, func(d *draw) (Step, bool) {
		if len(d.units) >= maxUnits {
			return Step{}, false
		}
		return Step{Unit: d.add()}, true
	}},
	{"remove", 6, func(d *draw) (Step, bool) {
		u := d.unit()
		if len(d.units) < 2 {
			return Step{}, false
		}
		d.remove(u)
		return Step{Unit: u}, true
	}},
	{"remove-force", 3, func(d *draw) (Step, bool) {
		u := d.unit()
		if len(d.units) < 3 {
			return Step{}, false
		}
		d.remove(u)
		d.gone = append(d.gone, u)
		return Step{Unit: u}, true
	}},
	{"kick", 5, func(d *draw) (Step, bool) {
		target := d.unit()
		if len(d.gone) > 0 && d.chance(80) {
			target = d.gone[d.IntN(len(d.gone))]
		}
		how := []string{"unit", "ids", "nb", "sb", "unit force", "ids force", "unit dry-run"}[d.IntN(7)]
		from := d.unit()
		return Step{Unit: target, Other: from, Arg: how}, from != target
	}},
	{"type", 5, func(d *draw) (Step, bool) { return Step{Unit: d.unit()}, true }},
	{"pause", 3, func(d *draw) (Step, bool) {
		u := d.unit()
		d.paused[u] = true
		return Step{Unit: u}, true
	}},
	{"resume", 3, func(d *draw) (Step, bool) {
		for u := range d.next {
			if d.paused[u] {
				delete(d.paused, u)
				return Step{Unit: u}, true
			}
		}
		return Step{}, false
	}},
	{"restart-services", 4, func(d *draw) (Step, bool) {
		services := []string{"ovn-central", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb", "ovn-northd"}
		return Step{Unit: d.unit(), Arg: services[d.IntN(len(services))]}, true
	}},
	{"refresh", 1, func(d *draw) (Step, bool) { return Step{Unit: d.unit()}, true }},
	{"configure", 2, func(d *draw) (Step, bool) {
		options := []string{
			"ovsdb-server-election-timer=2", "ovsdb-server-election-timer=1", "ovsdb-server-inactivity-probe=30",
			"enable-auto-restarts=false", "enable-auto-restarts=true",
		}
		return Step{Unit: d.unit(), Arg: options[d.IntN(len(options))]}, true
	}},
	{"update-status", 4, func(d *draw) (Step, bool) { return Step{Unit: d.unit()}, true }},
	{"lead", 1, func(d *draw) (Step, bool) { return Step{Unit: d.unit()}, true }},
	{"restart-agent", 1, func(d *draw) (Step, bool) { return Step{Unit: d.unit()}, true }},
	{"replace", 1, func(d *draw) (Step, bool) {
		first := d.next
		for range d.units {
			d.next++
		}
		count := len(d.units)
		d.units = nil
		for u := first; u < first+count; u++ {
			d.units = append(d.units, u)
		}
		d.down, d.paused = map[int]bool{}, map[int]bool{}
		return Step{Unit: first, Arg: []string{"new-first", "old-first", "at-once"}[d.IntN(3)]}, true
	}},
}

func standing(d *draw) (Step, bool) {
	u := d.unit()
	d.down[u] = true
	return Step{Unit: u, DB: d.db()}, true
}

// passing makes a fault that usually ends by itself, during or after the time for which the charm waits for it: a
// command that is under way then continues, and much more can happen to a cluster that is whole again.
func passing(d *draw) (Step, bool) {
	if d.chance(30) {
		return standing(d)
	}
	return Step{Unit: d.unit(), DB: d.db(), Seconds: []float64{1, 3, 8, 20}[d.IntN(4)]}, true
}

var faults = []kind{
	{"kill", 4, standing},
	{"hang", 3, standing},
	{"cut", 3, standing},
	{"mute", 2, muted},
	{"power-off", 3, standing},
	{"fill", 2, full},
	{"lose-socket", 1, standing},
	{"set-clock", 2, clock},
}

// clock sets a clock forward or back: by a leap second, an hour, a day or years.
func clock(d *draw) (Step, bool) {
	return Step{Unit: d.unit(), Seconds: []float64{-40e6, -86400, -3600, -20, 0, 20, 3600, 86400, 40e6}[d.IntN(9)]}, true
}

// muted cuts a network one way.
func muted(d *draw) (Step, bool) {
	s, ok := passing(d)
	s.DB, s.Arg = "", []string{"out", "in"}[d.IntN(2)]
	return s, ok
}

// full leaves that many KiB of a disk free, for good or for a while.
func full(d *draw) (Step, bool) {
	s, ok := standing(d)
	s.DB, s.Arg = "", []string{"0", "4", "64", "700"}[d.IntN(4)]
	if d.chance(50) {
		s.Seconds = float64(1 + d.IntN(4))
	}
	return s, ok
}

var heals = []kind{
	{"heal", 1, func(d *draw) (Step, bool) {
		for u := range d.next {
			if d.down[u] {
				delete(d.down, u)
				return Step{Unit: u}, true
			}
		}
		return Step{}, false
	}},
}

// disturbances are the faults that happen at a call.
var disturbances = []kind{
	{"kill-hook", 4, func(d *draw) (Step, bool) { return Step{Unit: d.unit()}, true }},
	{"hang-hook", 2, func(d *draw) (Step, bool) {
		return Step{Unit: d.unit(), Seconds: []float64{2, 8, 20, 45}[d.IntN(4)]}, true
	}},
	{"fail-tool", 3, func(d *draw) (Step, bool) { return Step{Unit: d.unit()}, true }},
	{"kill", 3, standing},
	{"hang", 2, passing},
	{"cut", 2, passing},
	{"mute", 1, muted},
	{"power-off", 1, standing},
	{"fill", 1, full},
	{"lose-socket", 1, standing},
	{"set-clock", 1, clock},
}

func isFault(do string) bool {
	for _, kinds := range [][]kind{faults, disturbances} {
		if slices.ContainsFunc(kinds, func(k kind) bool { return k.do == do }) {
			return true
		}
	}
	return slices.Contains(disasterFaults, do)
}
