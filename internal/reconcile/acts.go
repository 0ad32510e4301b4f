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

// acting is what the status says of the unit that acts: which drains have stalled, for which an
// operator is needed; that it acts, and which drains run.
func acting(s report.Status) (stalled, runs []string) {
	if !s.Acts {
		return nil, nil
	}
	runs = append(runs, "acts for gateways")
	for _, d := range s.Drains {
		switch {
		case d.Done || len(stalled)+len(runs) > shownDrains:
		case d.Stalled:
			stalled = append(stalled, d.Line())
		default:
			runs = append(runs, d.Line())
		}
	}
	return stalled, runs
}
