package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/shell"
)

// Seconds formats s seconds for people.
func Seconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d >= time.Minute:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	case d >= time.Second:
		return d.Round(time.Second).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// Lease describes in one line which unit acts.
func (s Status) Lease() string {
	line := finding.Reason{Code: finding.NoneActs}.String()
	if s.Acting != "" {
		line = s.Acting + " acts for gateways"
		if s.Acts {
			line += " (this unit)"
		}
	}
	if s.Term > 0 {
		line += fmt.Sprintf("; term %d, seen for %s", s.Term, Seconds(s.HeldSeconds))
	}
	if s.Previous != "" {
		line += "; before that " + s.Previous
	}
	return line
}

// Problem describes in one line what is wrong with the agent, if anything.
func (s Status) Problem() string {
	switch {
	case s.Stranger != "":
		return finding.Reason{Code: finding.LeaseNames, Name: s.Stranger}.String()
	case s.TakenAddress != "":
		return finding.Reason{Code: finding.AddressTaken, Value: s.TakenAddress}.String()
	}
	return ""
}

// State returns done, stalled or running.
func (d Drain) State() string {
	switch {
	case d.Done:
		return "done"
	case d.Stalled:
		return "stalled"
	}
	return "running"
}

// Line describes the drain's progress in one line.
func (d Drain) Line() string {
	switch d.State() {
	case "done":
		return d.Node + " is drained"
	case "stalled":
		return finding.About(finding.DrainStalled, d.Node, finding.Args{Value: d.Text}).Line()
	}
	return fmt.Sprintf("draining %s: %s", d.Node, d.Text)
}

// OrphanLines describes each orphan in a line.
func (g GatewayStatus) OrphanLines() (all []string) {
	for _, o := range g.Orphans {
		all = append(all, o.Message)
	}
	return all
}

// Shortened returns the status with at most that many entries of each list that grows with the cloud, and the number of
// the others; for Advice, Planned is the number of all.
func (s Status) Shortened(most int) Status {
	g := &s.Gateways
	g.Advice = g.Advice[:min(most, len(g.Advice))]
	text := func(more string) string { return "… " + more }
	g.Left = first(g.Left, most, text)
	g.Orphans = first(g.Orphans, most, func(more string) finding.Document { return finding.Document{Message: text(more)} })
	if g.Last != nil {
		last := *g.Last
		last.Reasons = first(last.Reasons, most, text)
		g.Last = &last
	}
	return s
}

// first returns the first entries, and an entry with the number of the others.
func first[T any](all []T, most int, rest func(more string) T) []T {
	if len(all) <= most {
		return all
	}
	return append(slices.Clone(all[:most]), rest(fmt.Sprintf("and %d more", len(all)-most)))
}

// outageLasts is for how long no gateway works before a unit reports it: no ovn-controller responds for a moment
// whenever nb_cfg is raised.
const outageLasts = time.Minute

// Findings returns what a unit reports of the gateways. It is a warning there, because the unit itself works.
func (g GatewayStatus) Findings() []finding.Finding {
	if g.Outage == nil || g.OutageSeconds < outageLasts.Seconds() {
		return nil
	}
	return []finding.Finding{g.Outage.Finding().As(finding.Warning)}
}

// ClockSlack is by how much clocks may differ. A certificate that vault issues is valid from 30 seconds before its
// issue (not_before_duration of the PKI secrets engine's roles), so a machine with a clock that is further behind
// refuses it.
const ClockSlack = 30 * time.Second

// ClockAhead returns by how much, at least, another machine's clock is ahead of this one's, judged by the second named
// in its answer. It is negative if the other clock is behind, and 0 if both may agree. asked and answered are times of
// this machine's clock.
func ClockAhead(named, asked, answered time.Time) time.Duration {
	switch latest := named.Add(time.Second); {
	case named.After(answered):
		return named.Sub(answered)
	case latest.Before(asked):
		return latest.Sub(asked)
	}
	return 0
}

// WrongClock is a unit whose clock differs from this one's by more than [ClockSlack].
type WrongClock struct {
	Unit  string
	Ahead time.Duration
}

func (c WrongClock) String() string {
	why := finding.Reason{
		Code: finding.ClockIsAhead, Name: c.Unit, Value: Seconds(math.Abs(c.Ahead.Seconds())),
		Because: []finding.Reason{finding.Quote(shell.Line("juju", "ssh", c.Unit, "timedatectl"))},
	}
	if c.Ahead < 0 {
		why.Code = finding.ClockIsBehind
	}
	return why.String()
}

// WrongClocks returns the wrong clocks of the peers, in their order. If this unit's own clock is wrong, it returns all
// peers.
func (s Status) WrongClocks() (all []WrongClock) {
	for _, p := range s.Peers {
		ahead := time.Duration(p.ClockAheadSeconds * float64(time.Second))
		if ahead.Abs() > ClockSlack && p.Unit != "" {
			all = append(all, WrongClock{p.Unit, ahead})
		}
	}
	return all
}
