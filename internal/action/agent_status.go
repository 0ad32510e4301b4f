package action

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/document"
)

// agentStatus shows which unit acts for gateways, and the pending work.
func agentStatus(ctx context.Context, u Unit, p *params) (results, error) {
	if err := p.err(); err != nil {
		return nil, err
	}
	s, err := report.Ask(ctx, u.Members.Control.Paths.AgentConfig())
	if err != nil {
		return nil, err
	}
	text, err := shown(p.format, s, document.Agent)
	return results{"agent": text}, err
}
