package reconcile

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
)

// actsForGateways says whether this unit's agent holds the lease. One that doesn't answer
// doesn't.
func (u *Reconciler) actsForGateways(ctx context.Context, r *record) bool {
	if r.Agent.Setup == "" {
		return false
	}
	s, err := report.Ask(ctx, u.Paths.AgentConfig())
	return err == nil && s.Acts
}
