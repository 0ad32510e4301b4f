package agent

import (
	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// evaluation is what was found out of an inventory, once a client has asked.
type evaluation struct {
	of     *gateway.Inventory
	status schedule.Status
}

// evaluate is what the action gateway-status gives of the last inventory; nil where there was
// none yet. Of one inventory it is found out once: with 10,000 gateways that takes seconds.
func (g *gateways) evaluate() *schedule.Status {
	g.evaluating.Lock()
	defer g.evaluating.Unlock()
	g.mu.Lock()
	inv := g.report.inventory
	g.mu.Unlock()
	if inv == nil {
		return nil
	}
	if g.evaluated.of != inv {
		s := schedule.Evaluate(inv.State, schedule.Options{})
		s.Findings = append(s.Findings, inv.Findings...)
		g.evaluated = evaluation{inv, s}
	}
	return &g.evaluated.status
}

// document is all that the agent knows.
func (a *Agent) document() report.Document {
	return report.Document{Status: a.Status(), GatewayStatus: a.gateways.evaluate(), ClusterStatus: a.clusters.document(a.now())}
}
