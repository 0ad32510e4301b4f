package soak

import (
	"encoding/json"
	"slices"
)

// Schedule is what happens to one application, from its deployment on.
type Schedule struct {
	// Found is the invariant that a stored schedule broke.
	Found string `json:"found,omitempty"`
	// Units is how many units exist at the start: 0, 1, ….
	Units int `json:"units"`
	// Juju is the value of JUJU_VERSION.
	Juju string `json:"juju"`
	// Restart reports whether systemd restarts a server that died.
	Restart bool   `json:"restart,omitempty"`
	Steps   []Step `json:"steps"`
}

// Step is one event: an operation of an operator, or a fault. A step of a unit that is gone does nothing, so that
// steps can be removed from a schedule.
type Step struct {
	Do string `json:"do"`
	// Unit is the unit of the step; of an "add" the number of the new one.
	Unit int `json:"unit"`
	// Other is a second unit, which runs a kick.
	Other int `json:"other,omitempty"`
	// DB is nb or sb; empty means both.
	DB string `json:"db,omitempty"`
	// Arg is a further parameter: a kind, a value.
	Arg string `json:"arg,omitempty"`
	// Call is when the step happens: the number, from 1, of the call of another program by the hook or action of the
	// surrounding step.
	Call int `json:"call,omitempty"`
	// Seconds is how long a fault lasts that ends by itself. For a clock, it is by how much the clock is fast.
	Seconds float64 `json:"seconds,omitempty"`
	// With has the events at the same time: faults at a call, and operations.
	With []Step `json:"with,omitempty"`
}

func (s Step) actor() int {
	if s.Do == "kick" {
		return s.Other
	}
	return s.Unit
}

// String returns the step as JSON.
func (s Step) String() string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // every field has a JSON form
	}
	return string(text)
}

// JSON returns the form of the schedules below testdata.
func (s Schedule) JSON() string {
	text, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		panic(err) // every field has a JSON form
	}
	return string(text) + "\n"
}

// Why is the reason why a member is up or not.
type Why int

// The reasons. If several hold, the first counts.
const (
	// Up means that the server runs, and all others reach it.
	Up Why = iota
	// New means that the judged step has a fault, of which the charm could not know when it decided.
	New
	// Standing means that a fault existed before the step.
	Standing
	// Asked means that an operator has paused the unit, and knows the price.
	Asked
	// Ours means that there is no fault: the charm has stopped or lost the server.
	Ours
)

// Cost is the outcome of a step for one database's cluster.
type Cost struct {
	// Before reports whether there was a quorum when the step began.
	Before bool
	// Members are the members in the configuration after the step.
	Members []Why
}

// Verdict is what a cluster must do after a step.
type Verdict int

// The verdicts.
const (
	// Serves means that a majority is up, so there must be a leader.
	Serves Verdict = iota
	// Faults means that faults took the quorum; nothing is required of the cluster.
	Faults
	// OurDoing means that the earlier faults and the charm's own acts are enough to lose the quorum.
	OurDoing
)

// Judge decides whether the faults alone explain the outcome. A majority that is up must serve. If there is no
// majority even without the step's own faults, the charm has stopped a server or shrunk the configuration too far.
func (c Cost) Judge() Verdict {
	count := map[Why]int{}
	for _, why := range c.Members {
		count[why]++
	}
	majority := len(c.Members)/2 + 1
	switch {
	case count[Up] >= majority:
		return Serves
	case !c.Before, count[Up]+count[New]+count[Asked] >= majority:
		return Faults
	}
	return OurDoing
}

// Shrink returns a schedule that still fails, from which it could remove no further step, by delta debugging (Zeller
// and Hildebrandt, ddmin). fails runs a schedule, and returns false once time is up. Shrink tries to remove
// concurrent operations last.
func Shrink(s Schedule, fails func(Schedule) bool) Schedule {
	for parts := 2; len(s.Steps) > 1; {
		size := (len(s.Steps) + parts - 1) / parts
		shorter := false
		for from := 0; from < len(s.Steps); from += size {
			try := s
			try.Steps = slices.Delete(slices.Clone(s.Steps), from, min(from+size, len(s.Steps)))
			if fails(try) {
				s, shorter = try, true
				break
			}
		}
		switch {
		case shorter:
			parts = max(parts-1, 2)
		case size == 1:
			return simplify(s, fails)
		default:
			parts = min(2*parts, len(s.Steps))
		}
	}
	return simplify(s, fails)
}

func simplify(s Schedule, fails func(Schedule) bool) Schedule {
	for i := range s.Steps {
		for with := len(s.Steps[i].With) - 1; with >= 0; with-- {
			try := s
			try.Steps = slices.Clone(s.Steps)
			try.Steps[i].With = slices.Delete(slices.Clone(s.Steps[i].With), with, with+1)
			if fails(try) {
				s = try
			}
		}
	}
	return s
}
