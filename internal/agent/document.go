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

// document returns all that the agent knows.
func (a *Agent) document() report.Document {
	return report.Document{
		Status: a.status(), GatewayStatus: gatewayStatus(a.gateways.evaluate()),
		ClusterStatus: a.clusters.document(a.now()),
	}
}

// gatewayStatus converts the status to the form for programs. It returns nil if the agent has
// not read the gateways yet.
func gatewayStatus(s *schedule.Status) any {
	if s == nil {
		return nil
	}
	return document.ForPrograms(*s)
}
