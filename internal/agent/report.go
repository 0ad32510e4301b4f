package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/present"
)

// gatewayReport has the results of the last pass and of the last change.
type gatewayReport struct {
	// status lacks the values that depend on the present time.
	status  report.GatewayStatus
	seen    *observation  // nil: no pass yet
	at      time.Duration // of the pass
	held    map[string]time.Duration
	outage  time.Duration          // since when no gateway works; 0: one may
	advised time.Duration          // since when gateways have to be scheduled; 0: none have to
	moves   map[schedule.Class]int // candidates changed
	northd  progress
}

// progress is the progress of the active ovn-northd. asked is NB's nb_cfg, done is SB's. While done is below asked,
// since is when done was seen to fall behind or to change; otherwise it is 0.
type progress struct {
	asked, done int64
	since       time.Duration
}

// update returns the progress as of now. The time restarts if ovn-northd has moved.
func (p progress) update(asked, done int64, now time.Duration) progress {
	if done >= asked {
		return progress{asked: asked, done: done}
	}
	if p.since == 0 || done != p.done {
		p.since = now
	}
	return progress{asked, done, p.since}
}

// behind returns for how long ovn-northd has not moved although it was asked.
func (p progress) behind(now time.Duration) time.Duration {
	if p.since == 0 {
		return 0
	}
	return now - p.since
}

// observation is the part of a reading that is kept until the next pass: about a third of it, with 10,000 routers.
type observation struct {
	state schedule.State
	// evaluate returns the result of the action gateway-status. It takes seconds with 10,000 gateways, but only once.
	evaluate func() schedule.Status
}

// maxListed limits the lists of advice and of held-down changes in the status.
const maxListed = 200

func names(candidates []schedule.Candidate) []string {
	all := []string{}
	for _, c := range candidates {
		all = append(all, c.Chassis)
	}
	return all
}

func reasons(changes ...schedule.Change) []string {
	all := map[string]bool{}
	for _, c := range changes {
		for _, r := range c.Rows {
			all[r.Reason] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// loggedReasons is the largest number of reasons in a line of the log: in a large cloud there can be one for each
// chassis.
const loggedReasons = 5

// shortened returns the first reasons, and the number of the others.
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
	state, findings := inv.State, inv.Findings // the rest of the inventory is not kept
	seen := &observation{state, sync.OnceValue(func() schedule.Status {
		s := schedule.Evaluate(state, schedule.Options{})
		s.Findings = append(s.Findings, findings...)
		return s
	})}
	g.mu.Lock()
	defer g.mu.Unlock()
	r, s := &g.report, &g.report.status
	if s.Error != "" {
		lines = append(lines, line{"gateways can be read again", nil})
	}
	found := inv.Orphans()
	for _, e := range g.unfinished {
		found = append(found, e.Interrupted())
	}
	orphans := present.Documents(juju.Version{}, found)
	lines = append(lines, orphanEvents(s.Orphans, orphans)...)
	s.Orphans, s.Error, s.Left = orphans, "", nil
	s.Chassis, s.Gateways = len(inv.State.Chassis), len(inv.State.Groups)
	for _, group := range inv.State.Groups {
		if g.undone.Left(group.Name) {
			s.Left = append(s.Left, group.Name)
		}
	}
	switch s.Outage = schedule.FindOutage(state); {
	case s.Outage == nil:
		r.outage = 0
	case r.outage == 0:
		r.outage = now
	}
	r.seen, r.at, r.held = seen, now, g.detector.Held(now)
	r.northd = r.northd.update(inv.NB.Config, inv.SB.Config, now)
	if due {
		lines = append(lines, r.advise(inv, plan, now)...)
	}
	return lines
}

// advise stores the changes that a complete plan would make, and returns the events to log.
func (r *gatewayReport) advise(inv *gateway.Inventory, plan schedule.Plan, now time.Duration) (lines []line) {
	s := &r.status
	before := s.Planned
	s.Planned, s.Advice = len(plan.Changes), []report.Advice{}
	for _, c := range plan.Changes[:min(len(plan.Changes), maxListed)] {
		s.Advice = append(s.Advice, report.Advice{
			Gateway: c.Group, Before: names(c.Before), After: names(c.After), Reason: strings.Join(reasons(c), "; "),
			Neutron: inv.Neutrons(c.Group),
		})
	}
	switch {
	case plan.Empty():
		r.advised = 0
	case r.advised == 0:
		r.advised = now
	}
	switch {
	case s.Planned == before:
		return nil
	case plan.Empty():
		return []line{{"no gateway is left to schedule", nil}}
	}
	return []line{{"gateways to be scheduled", []any{
		"gateways", s.Planned, "interruptions", plan.Moves(), "reasons", shortened(reasons(plan.Changes...)),
	}}}
}

func (g *gateways) recordFailure(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.report.status.Error != err.Error() {
		g.agent.log.Warn("cannot read gateways", "error", err)
	}
	g.report.status.Error = err.Error()
}

func (g *gateways) recordOutcome(changed []schedule.Change, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := &g.report
	if r.status.LastError = ""; err != nil {
		r.status.LastError = err.Error()
	}
	if len(changed) == 0 {
		return
	}
	last := &report.Outcome{Gateways: len(changed), Reasons: reasons(changed...), At: g.agent.now()}
	for _, c := range changed {
		if c.Interrupts {
			last.Interruptions++
		}
		for _, row := range c.Rows {
			r.moves[c.Class(row)]++
		}
	}
	r.status.Last = last
	g.agent.log.Info("gateways were scheduled", "gateways", len(changed), "interruptions", last.Interruptions, "reasons",
		shortened(last.Reasons))
}

func (g *gateways) status(now time.Duration) report.GatewayStatus {
	g.mu.Lock()
	defer g.mu.Unlock()
	r, s := &g.report, g.report.status
	s.LookedSecondsAgo, s.HeldDown = -1, []report.HeldDown{}
	if r.seen != nil {
		s.LookedSecondsAgo = (now - r.at).Seconds()
	}
	for name, until := range r.held {
		if until > now && len(s.HeldDown) < maxListed {
			s.HeldDown = append(s.HeldDown, report.HeldDown{Name: name, ForSeconds: (until - now).Seconds()})
		}
	}
	slices.SortFunc(s.HeldDown, func(a, b report.HeldDown) int { return schedule.CompareNames(a.Name, b.Name) })
	if r.outage != 0 {
		s.OutageSeconds = (now - r.outage).Seconds()
	}
	if r.advised != 0 {
		s.AdvisedSeconds = (now - r.advised).Seconds()
	}
	if s.Last != nil {
		last := *s.Last
		last.SecondsAgo = (now - last.At).Seconds()
		s.Last = &last
	}
	return s
}

type counts struct {
	chassis    map[string]int
	conditions map[finding.Code]int   // of gateways
	changed    map[schedule.Class]int // candidates, by this agent
	northd     progress
}

// counts returns the counts of the last pass; ok is false if there was none yet.
func (g *gateways) counts() (c counts, ok bool) {
	g.mu.Lock()
	seen := g.report.seen
	c = counts{changed: map[schedule.Class]int{}, northd: g.report.northd}
	for _, class := range schedule.Classes() {
		c.changed[class] = g.report.moves[class]
	}
	g.mu.Unlock()
	if seen == nil {
		return c, false
	}
	c.conditions = schedule.Conditions(seen.state)
	c.chassis = map[string]int{"gateway": 0, "unresponsive": 0, "cordoned": 0, "other": 0}
	mayHost := seen.state.MayHost()
	for _, x := range seen.state.Chassis {
		switch {
		case x.Unresponsive:
			c.chassis["unresponsive"]++
		case x.Cordoned:
			c.chassis["cordoned"]++
		case mayHost[x.Name]:
			c.chassis["gateway"]++
		default:
			c.chassis["other"]++
		}
	}
	return c, true
}

// evaluate returns the result of the action gateway-status for the last pass; ok is false if there was none yet.
func (g *gateways) evaluate() (s schedule.Status, ok bool) {
	g.evaluating.Lock()
	defer g.evaluating.Unlock()
	g.mu.Lock()
	seen := g.report.seen
	g.mu.Unlock()
	if seen == nil {
		return s, false
	}
	return seen.evaluate(), true
}
