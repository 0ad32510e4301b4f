package soak

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Schedule is what happens to one application, from its deployment on.
type Schedule struct {
	// Found says what it showed, for those that are kept.
	Found string `json:"found,omitempty"`
	// Units are there when it begins; they are 0, 1, ….
	Units int `json:"units"`
	// Juju is the version that JUJU_VERSION says.
	Juju string `json:"juju"`
	// Restart is whether systemd starts a server that died again.
	Restart bool   `json:"restart,omitempty"`
	Steps   []Step `json:"steps"`
}

// Step is one thing that happens: an operation of an operator or a fault. One that
// makes no sense any more, of a unit that is gone say, does nothing: so a schedule
// from which steps were taken away still is one.
type Step struct {
	Do string `json:"do"`
	// Unit is the unit that it is about. An "add" says the number of its new one.
	Unit int `json:"unit"`
	// Other is a second unit: from where a kick is run.
	Other int `json:"other,omitempty"`
	// DB is nb or sb; empty: both.
	DB string `json:"db,omitempty"`
	// Arg is what the step needs to know besides: a kind, a value.
	Arg string `json:"arg,omitempty"`
	// Call is at which call of another program, by the hook or action of the step
	// around this one, it happens; from 1.
	Call int `json:"call,omitempty"`
	// Seconds is how long a fault lasts that ends by itself; of a clock, by how much it
	// is fast.
	Seconds float64 `json:"seconds,omitempty"`
	// With is what happens at the same time: faults at a call, and operations.
	With []Step `json:"with,omitempty"`
}

// actor is the unit whose hook or action the step is.
func (s Step) actor() int {
	if s.Do == "kick" {
		return s.Other
	}
	return s.Unit
}

// String is a line for people.
func (s Step) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d", s.Do, s.Unit)
	if s.DB != "" {
		b.WriteString(" " + s.DB)
	}
	if s.Arg != "" {
		b.WriteString(" " + s.Arg)
	}
	if s.Do == "kick" || s.Do == "replace" {
		fmt.Fprintf(&b, " from %d", s.Other)
	}
	if s.Call > 0 {
		fmt.Fprintf(&b, " at call %d", s.Call)
	}
	if s.Do == "set-clock" {
		fmt.Fprintf(&b, " by %.0f s", s.Seconds)
	} else if s.Seconds > 0 {
		fmt.Fprintf(&b, " for %.1f s", s.Seconds)
	}
	for _, with := range s.With {
		fmt.Fprintf(&b, " + {%s}", with)
	}
	return b.String()
}

// JSON is the schedule as it is kept below testdata.
func (s Schedule) JSON() string {
	text, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		panic(err) // there is nothing in it that has no JSON
	}
	return string(text) + "\n"
}

// Faults counts those that the schedule has.
func (s Schedule) Faults() (n int) { return faultsOf(s.Steps) }

func faultsOf(steps []Step) (n int) {
	for _, step := range steps {
		if isFault(step.Do) {
			n++
		}
		n += faultsOf(step.With)
	}
	return n
}
