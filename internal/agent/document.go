package agent

import (
	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// evaluate is what the action gateway-status gives of the last look; nil where there was none
// yet. Of one look it is found out once: with 10,000 gateways that takes seconds.
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
	if g.report.seen == seen { // else it is of no use to the next client
		g.evaluated = &s
	}
	return &s
}

// document is all that the agent knows.
func (a *Agent) document() report.Document {
	return report.Document{Status: a.status(), GatewayStatus: a.gateways.evaluate(), ClusterStatus: a.clusters.document(a.now())}
}
