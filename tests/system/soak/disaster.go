package soak

import (
	"math/rand/v2"
	"slices"
)

const disasterStream = 17

// mostDisasters is the maximum per application: a deployment takes as long as a disaster.
const mostDisasters = 3

// lastCall is the last call at which faults are drawn. Calls are counted over a recovery's action and its unit's
// following hooks.
const lastCall = 150

// disaster is the generator's view of a disaster: the lost units in order, and the remaining ones.
type disaster struct {
	*draw
	lost, left []int
	db         string
}

// GenerateDisaster draws a schedule of lost quorums, recoveries and restored backups from a seed.
func GenerateDisaster(seed uint64) Schedule {
	d := &draw{Rand: rand.New(rand.NewPCG(seed, disasterStream)), down: map[int]bool{}, paused: map[int]bool{}}
	s := Schedule{Units: 2 + d.IntN(4), Juju: "3.6.11", Restart: d.chance(30)}
	if d.IntN(3) == 0 {
		s.Juju = "4.0.1"
	}
	for range s.Units {
		d.add()
	}
	for range 1 + d.IntN(mostDisasters) {
		s.Steps = append(s.Steps, d.disaster()...)
	}
	return s
}

// disaster draws one disaster, until all lost units may return.
func (d *draw) disaster() (steps []Step) {
	n := len(d.units)
	least := n - n/2 // without so many there is no quorum
	order, lost := d.Perm(n), least+d.IntN(n-least)
	x := disaster{draw: d, lost: order[:lost], left: order[lost:]}
	if d.chance(20) {
		x.db = []string{"nb", "sb"}[d.IntN(2)]
	}
	steps = x.before()
	if d.chance(10) {
		from := x.left[0]
		steps = append(steps, Step{Do: "backup", Unit: from}, x.writes())
		if d.chance(50) {
			steps = append(steps, x.lose()...)
		}
		steps = append(steps, x.recover("restore", from), x.recover("insist", from))
	} else {
		steps = append(steps, x.lose()...)
		if d.chance(15) {
			steps = append(steps, x.back()...)
		}
		steps = append(steps, x.recoveries()...)
	}
	if d.chance(60) {
		steps = append(steps, x.back()...)
	}
	return append(steps, Step{Do: "end"})
}

// before draws units that lag while clients write, and Juju's leader.
func (d disaster) before() (steps []Step) {
	lagging := min(d.IntN(3), (len(d.units)-1)/2) // if more of them are down, nothing can be written
	for _, u := range d.Perm(len(d.units))[:lagging] {
		steps = append(steps, Step{Do: "kill", Unit: u, DB: d.draw.db(), Seconds: float64(5 + d.IntN(20))})
	}
	if d.chance(30) {
		steps = append(steps, Step{Do: "lead", Unit: d.unit()})
	}
	return append(steps, d.writes())
}

func (d disaster) writes() Step { return Step{Do: "write", Arg: string(rune('2' + d.IntN(6)))} }

// lose takes units for good, at once or one after another: their machines, or files of their servers.
func (d disaster) lose() (steps []Step) {
	all := Step{Do: "lose", Unit: d.lost[0]}
	for _, u := range d.lost {
		one := Step{Do: "power-off", Unit: u}
		if d.db != "" || d.chance(15) {
			one = Step{Do: "destroy", Unit: u, DB: d.db}
		}
		all.With, steps = append(all.With, one), append(steps, one)
	}
	if d.chance(70) {
		return []Step{all}
	}
	return steps
}

// recoveries draws the commands on one or two of the remaining units.
func (d disaster) recoveries() (steps []Step) {
	asked := d.left[0]
	if d.chance(75) {
		steps = append(steps, Step{Do: "notice", Unit: asked, DB: d.db})
	}
	first := d.recover("recover", asked)
	if len(d.left) > 1 && d.chance(40) {
		second := d.recover("recover", d.left[1])
		if second.Arg = first.Arg; d.chance(50) {
			second.With = nil
			first.With = append(first.With, second)
			steps = append(steps, first)
		} else {
			steps = append(steps, first, second)
		}
	} else {
		steps = append(steps, first)
	}
	if d.chance(30) {
		steps = append(steps, d.back()...)
	}
	if d.chance(50) { // hooks of another unit, which joins
		steps = append(steps, d.disturbed(Step{Do: "update-status", Unit: d.unit()}))
	}
	return append(steps, d.recover("insist", d.left[d.IntN(len(d.left))]))
}

func (d disaster) recover(do string, from int) Step {
	return d.disturbed(Step{Do: do, Unit: from, DB: d.db, Arg: []string{"units", "ids"}[d.IntN(2)]})
}

// disturbed adds faults at calls of the action and of its unit's following hooks.
func (d disaster) disturbed(s Step) Step {
	for range d.IntN(4) {
		var fault Step
		switch n := d.IntN(10); {
		case n < 4:
			fault = Step{Do: "kill-hook", Unit: s.Unit}
		case n < 6:
			fault = Step{Do: "kill", Unit: d.left[d.IntN(len(d.left))], DB: d.draw.db(), Seconds: float64(1 + d.IntN(15))}
		case n < 8:
			fault = Step{Do: "power-off", Unit: d.left[d.IntN(len(d.left))], Seconds: float64(1 + d.IntN(15))}
			if len(d.left) > 1 && d.chance(20) {
				fault.Seconds = 0 // it is lost, too
			}
		default:
			call := 1 + d.IntN(lastCall)
			for _, back := range d.back() {
				back.Call = call
				s.With = append(s.With, back)
			}
			continue
		}
		fault.Call = 1 + d.IntN(lastCall)
		s.With = append(s.With, fault)
	}
	return s
}

// back turns on again the machine of one lost unit or of all, perhaps of a majority. Sometimes their hooks run late.
func (d disaster) back() (steps []Step) {
	units := slices.Clone(d.lost)
	if d.chance(50) {
		units = []int{d.lost[d.IntN(len(d.lost))]}
	}
	late := 0.0
	if d.chance(30) {
		late = float64(2 + d.IntN(15))
	}
	for _, u := range units {
		steps = append(steps, Step{Do: "power-on", Unit: u, Seconds: late})
	}
	return steps
}

var disasterFaults = []string{"lose", "destroy", "power-on"}

// Disasters counts the disasters in a schedule.
func (s Schedule) Disasters() (n int) {
	for _, step := range s.Steps {
		if step.Do == "end" {
			n++
		}
	}
	return n
}
