package agent

import (
	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

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

// document returns everything that the agent knows. The status of the gateways is null before they are read.
func (a *Agent) document() report.Document {
	d := report.Document{Status: a.status(), ClusterStatus: a.clusters.document(a.now())}
	if s := a.gateways.evaluate(); s != nil {
		d.GatewayStatus = document.ForPrograms(*s)
	}
	return d
}
