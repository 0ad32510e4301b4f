package agent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/present"
)

// maxListed limits the status' lists of advice and of held-down changes.
const maxListed = 200

func names(candidates []schedule.Candidate) []string {
	all := []string{}
	for _, c := range candidates {
		all = append(all, c.Chassis)
	}
	return all
}

// reasons are the distinct reasons of the changes.
func reasons(changes ...schedule.Change) []string {
	all := map[string]bool{}
	for _, c := range changes {
		for _, r := range c.Rows {
			all[r.Reason] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// loggedReasons is how many reasons a line of the log has: in a large cloud there can be one for each chassis.
const loggedReasons = 5

// shortened returns the first reasons, and how many more there are.
func shortened(reasons []string) []string {
	if len(reasons) <= loggedReasons {
		return reasons
	}
	return append(slices.Clone(reasons[:loggedReasons]), fmt.Sprintf("and %d more", len(reasons)-loggedReasons))
}

// recordObservation stores the result of a pass and returns the events to log.
func (g *gateways) recordObservation(inv *gateway.Inventory, plan schedule.Plan, due bool,
	now time.Duration,
) (lines []line) {
	seen := &observation{inv.State, inv.Findings, schedule.Conditions(inv.State), inv.State.MayHost()}
	g.mu.Lock()
	defer g.mu.Unlock()
	r := &g.report
	if r.err != nil {
		lines = append(lines, line{"gateways can be read again", nil})
	}
	orphans := inv.Orphans()
	for _, e := range g.unfinished {
		orphans = append(orphans, e.Interrupted())
	}
	lines = append(lines, orphanEvents(r.orphans, orphans)...)
	r.seen, r.orphans, r.at, r.err = seen, orphans, now, nil
	r.northd = r.northd.update(inv.NB.Config, inv.SB.Config, now)
	g.evaluated = nil
	r.held = g.detector.Held(now)
	if due {
		before := r.planned
		r.planned, r.advice = len(plan.Changes), nil
		for _, c := range plan.Changes[:min(len(plan.Changes), maxListed)] {
			r.advice = append(r.advice, report.Advice{
				Gateway: c.Group, Before: names(c.Before), After: names(c.After), Reason: strings.Join(reasons(c), "; "),
				Neutron: inv.Neutrons(c.Group),
			})
		}
		switch {
		case len(r.advice) == 0:
			r.advised = 0
		case r.advised == 0:
			r.advised = now
		}
		switch {
		case len(plan.Changes) == before:
		case plan.Empty():
			lines = append(lines, line{"no gateway is left to schedule", nil})
		default:
			lines = append(lines, line{
				"gateways to be scheduled",
				[]any{
					"gateways", len(plan.Changes), "interruptions", plan.Moves(), "reasons",
					shortened(reasons(plan.Changes...)),
				},
			})
		}
	}
	r.left = nil
	for _, group := range inv.State.Groups {
		if g.undone.Left(group.Name) {
			r.left = append(r.left, group.Name)
		}
	}
	return lines
}

// orphanEvents returns events for new and resolved orphans.
func orphanEvents(was, is []finding.Finding) (lines []line) {
	event := func(message string, of, than []finding.Finding) {
		known := present.Messages(than)
		for _, o := range of {
			if what := o.Message(); !slices.Contains(known, what) {
				lines = append(lines, line{message, []any{"where", o.Subject.String(), "code", string(o.Code), "what", what}})
			}
		}
	}
	event("orphan found", is, was)
	event("orphan resolved", was, is)
	return lines
}

// recordFailure stores why gateways can't be read.
func (g *gateways) recordFailure(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.report.err == nil || g.report.err.Error() != err.Error() {
		g.agent.log.Warn("cannot read gateways", "error", err)
	}
	g.report.err = err
}

// recordOutcome stores what was changed.
func (g *gateways) recordOutcome(changed []schedule.Change, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := &g.report
	if r.lastError = ""; err != nil {
		r.lastError = err.Error()
	}
	if len(changed) == 0 {
		return
	}
	if r.moves == nil {
		r.moves = map[schedule.Class]int{}
	}
	r.last = &report.Outcome{Gateways: len(changed), Reasons: reasons(changed...), At: g.agent.now()}
	for _, c := range changed {
		if c.Interrupts {
			r.last.Interruptions++
		}
		for _, row := range c.Rows {
			r.moves[c.Class(row)]++
		}
	}
	g.agent.log.Info("gateways were scheduled", "gateways", len(changed), "interruptions", r.last.Interruptions, "reasons",
		shortened(r.last.Reasons))
}

// status returns the present state.
func (g *gateways) status(now time.Duration) report.GatewayStatus {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := &g.report
	s := report.GatewayStatus{
		LookedSecondsAgo: -1, HeldDown: []report.HeldDown{}, Planned: r.planned,
		Advice: append([]report.Advice{}, r.advice...), Left: r.left, LastError: r.lastError, Orphans: []finding.Document{},
	}
	if r.err != nil {
		s.Error = r.err.Error()
	}
	if r.seen != nil {
		s.LookedSecondsAgo = (now - r.at).Seconds()
		s.Chassis, s.Gateways = len(r.seen.state.Chassis), len(r.seen.state.Groups)
		s.Orphans = present.Documents(juju.Version{}, r.orphans)
	}
	for name, until := range r.held {
		if until > now && len(s.HeldDown) < maxListed {
			s.HeldDown = append(s.HeldDown, report.HeldDown{Name: name, ForSeconds: (until - now).Seconds()})
		}
	}
	slices.SortFunc(s.HeldDown, func(a, b report.HeldDown) int { return cmp.Compare(a.Name, b.Name) })
	if r.advised != 0 {
		s.AdvisedSeconds = (now - r.advised).Seconds()
	}
	if r.last != nil {
		last := *r.last
		last.SecondsAgo = (now - last.At).Seconds()
		s.Last = &last
	}
	return s
}

// counts are the numbers behind the metrics.
type counts struct {
	chassis    map[string]int
	conditions map[finding.Code]int   // of gateways
	changed    map[schedule.Class]int // candidates, by this agent
	northd     progress
}

// counts returns those of the last pass; ok is false if there was none yet.
func (g *gateways) counts() (c counts, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	seen := g.report.seen
	if seen == nil {
		return c, false
	}
	c = counts{
		map[string]int{"gateway": 0, "unresponsive": 0, "cordoned": 0, "other": 0},
		seen.conditions,
		map[schedule.Class]int{},
		g.report.northd,
	}
	for _, x := range seen.state.Chassis {
		switch {
		case x.Unresponsive:
			c.chassis["unresponsive"]++
		case x.Cordoned:
			c.chassis["cordoned"]++
		case seen.mayHost[x.Name]:
			c.chassis["gateway"]++
		default:
			c.chassis["other"]++
		}
	}
	for _, class := range schedule.Classes() {
		c.changed[class] = g.report.moves[class]
	}
	return c, true
}

// evaluate returns the result of the action gateway-status for the last pass; nil if there was none yet. It is
// calculated once per pass: with 10,000 gateways that takes seconds.
func (g *gateways) evaluate() *schedule.Status {
	g.evaluating.Lock()
	defer g.evaluating.Unlock()
	g.mu.Lock()
	seen, known := g.report.seen, g.evaluated
	g.mu.Unlock()
	if seen == nil || known != nil {
		return known
	}
	s := schedule.Evaluate(seen.state, schedule.Options{})
	s.Findings = append(s.Findings, seen.findings...)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.report.seen == seen { // otherwise a newer pass has replaced it
		g.evaluated = &s
	}
	return &s
}
