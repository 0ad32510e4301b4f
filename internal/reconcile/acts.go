package reconcile

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
)

// shownDrains is how many drains the status names.
const shownDrains = 3

// agentStatus is what this unit's agent says, of which nothing is known where it doesn't answer.
func (u *Reconciler) agentStatus(ctx context.Context, r *record) report.Status {
	if r.Agent.Setup == "" {
		return report.Status{}
	}
	s, err := report.Ask(ctx, u.Paths.AgentConfig())
	if err != nil {
		return report.Status{}
	}
	return s
}

// acting is what the status says of the unit that acts: that it does, and which drains run or
// have stalled.
func acting(s report.Status) (parts []string) {
	if !s.Acts {
		return nil
	}
	parts = append(parts, "acts for gateways")
	for _, d := range s.Drains {
		if !d.Done && len(parts) <= shownDrains {
			parts = append(parts, d.Line())
		}
	}
	return parts
}
