package maintenance

import (
	"fmt"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// Default limits of a drain, from the specification.
const (
	DefaultTimeout = 3600 * time.Second
	DefaultGrace   = 1800 * time.Second
	// MaxTimeout is the longest time that a command waits.
	MaxTimeout = 9000 * time.Second
)

// stalledAfter is how long a drain may make no progress before it counts as stalled.
const stalledAfter = 5 * time.Minute

// SettledFor is how long a node must be free of holds before it counts as drained. While chassis begin to hear one
// another, ports are claimed and released again. Traffic follows a port some time after another chassis has claimed it:
// a reboot of the node half a second after the last claim interrupted traffic for 0.2 to 0.5 s (measured with OVN
// 23.03).
const SettledFor = 3 * time.Second

// repeatedAfter is the time after which an unchanged line is repeated.
const repeatedAfter = time.Minute

// Limits are the timeout of a drain, and the time that it waits for holds after all movable gateways have moved.
type Limits struct{ Timeout, Grace time.Duration }

// GraceFor returns the grace period if none is given.
func GraceFor(timeout time.Duration) time.Duration { return min(DefaultGrace, timeout/2) }

// Check returns a refusal of invalid limits, or nil if they are valid.
func (l Limits) Check() *answer.Status {
	switch {
	case l.Grace < 0:
		return invalid("grace-period", finding.Reason{Code: finding.IsNegative, Value: seconds(l.Grace)})
	case l.Grace >= l.Timeout:
		return invalid("grace-period",
			finding.Reason{Code: finding.IsNotSmaller, Value: seconds(l.Grace), Name: seconds(l.Timeout)})
	}
	return nil
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.0f", d.Seconds()) }

func invalid(parameter string, why finding.Reason) *answer.Status {
	f := finding.About(finding.ParameterInvalid, parameter,
		finding.Args{Value: "invalid", Reasons: []finding.Reason{why}})
	return new(answer.Of(answer.BadRequest, f))
}

// Begin returns the change that begins a drain: it cordons the node, and records the intent with the members on its
// machine.
func Begin(chassis string, n Note, l Limits, members ...Member) Change {
	c := Cordon(chassis, n)
	c.Set[drainKey+chassis] = text(Drain{
		Note: n, TimeoutSeconds: int(l.Timeout.Seconds()),
		GraceSeconds: int(l.Grace.Seconds()), Members: members,
	})
	return c
}

// BeginUndrain returns the change that begins an undrain.
func BeginUndrain(chassis string, d Drain, n Note) Change {
	c := Uncordon(chassis, n)
	d.Undrain, d.Retired = true, false
	c.Set[drainKey+chassis] = text(d)
	return c
}

// Retire returns the change that notes in the record of a drain that a decommission has retired the node.
func Retire(chassis string, d Drain) Change {
	d.Retired = true
	return Change{Set: map[string]string{drainKey + chassis: text(d)}}
}

// DrainPair returns the pair of external_ids that records the drain of a chassis, or nil if there is none. Any change
// of the drain changes the pair.
func DrainPair(chassis string, ids map[string]string) map[string]string {
	return pairOf(drainKey+chassis, ids)
}

// End returns the change that drops the record of a drain after its undrain.
func End(chassis string) Change { return Change{Drop: []string{drainKey + chassis}} }

// Progress is the state of a drain.
type Progress struct {
	// Ended reports whether the intent is gone, or the node is being undrained.
	Ended bool
	// Open reports whether the node is not cordoned, so that it may get gateways.
	Open bool
	// Left is the number of gateways that still have to be moved.
	Left int
	// Blocked has the findings about the gateways that can't move.
	Blocked []finding.Finding
	// Unbound lists the gateways that have the node as a candidate and are on no chassis.
	Unbound []string
	Holds   []Hold
	// Unproved reports whether nothing is left, but the chassis that took the gateways are not proved to respond.
	Unproved bool
}

// Done reports whether nothing is left on the node, and it gets nothing new.
func (p Progress) Done() bool {
	return !p.Open && p.Left == 0 && len(p.Blocked) == 0 && len(p.Unbound) == 0 && len(p.Holds) == 0 && !p.Unproved
}

// Text describes the progress in one line.
func (p Progress) Text() string { return p.Reason().String() }

// Reason returns what is left.
func (p Progress) Reason() finding.Reason {
	var parts []finding.Reason
	if p.Open {
		parts = append(parts, finding.Reason{Code: finding.NotCordoned})
	}
	for _, g := range []struct {
		count int
		state finding.ReasonCode
	}{
		{p.Left, finding.GatewaysToMove},
		{len(p.Blocked), finding.GatewaysBlocked},
		{len(p.Unbound), finding.GatewaysNotBound},
	} {
		if g.count > 0 {
			parts = append(parts, finding.Reason{Code: g.state, Value: schedule.Count(g.count, "gateway")})
		}
	}
	for _, h := range p.Holds {
		if h.Derived {
			parts = append(parts, finding.Reason{Code: finding.PortsHeld, Name: h.Name, Count: h.Count})
		} else {
			parts = append(parts, finding.Reason{Code: finding.HoldSet, Name: h.Name})
		}
	}
	switch {
	case len(parts) == 0 && p.Unproved:
		return finding.Reason{Code: finding.NothingProved}
	case len(parts) == 0:
		return finding.Reason{Code: finding.NothingLeft}
	}
	return finding.Reason{Code: finding.Listed, Because: parts}
}

// Outcome is the state of a wait for a drain.
type Outcome int

// The outcomes.
const (
	GoOn Outcome = iota
	Drained
	GraceOver
	TimeOver
	GivenUp
)

// watch judges the progress of a drain. It needs every look, in order of time.
type watch struct {
	text          string
	changed, said time.Time
	waiting, done time.Time
}

// judge returns the outcome of a wait that began at begun, and a line for people if there is something new.
func (w *watch) judge(p Progress, l Limits, begun, now time.Time) (outcome Outcome, line string) {
	if text := p.Text(); text != w.text || w.changed.IsZero() {
		w.text, w.changed, w.said = text, now, now
		line = text
	} else if now.Sub(w.said) >= repeatedAfter {
		w.said = now
		line = fmt.Sprintf("%s, for %s", text, now.Sub(w.changed).Round(time.Second))
		if now.Sub(w.changed) >= stalledAfter {
			line = "STALLED: " + line
		}
	}
	if p.Left > 0 || len(p.Unbound) > 0 {
		w.waiting = time.Time{}
	} else if w.waiting.IsZero() {
		w.waiting = now
	}
	switch {
	case p.Ended:
		return GivenUp, line
	case p.Done():
		if w.done.IsZero() {
			w.done = now
		}
		if now.Sub(w.done) >= SettledFor {
			return Drained, line
		}
	case now.Sub(begun) >= l.Timeout:
		return TimeOver, line
	case !w.waiting.IsZero() && now.Sub(w.waiting) >= l.Grace && !w.settling(p, l, now):
		return GraceOver, line
	}
	if !p.Done() {
		w.done = time.Time{}
	}
	return GoOn, line
}

// settling reports whether the remaining holds may end by themselves as the data plane settles.
func (w *watch) settling(p Progress, l Limits, now time.Time) bool {
	held := slices.DeleteFunc(slices.Clone(p.Holds), Hold.OfGateways)
	return !p.Open && len(held) == 0 && len(p.Blocked) == 0 && now.Sub(w.waiting) < max(l.Grace, stalledAfter)
}
