package reconcile

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// shownDrains is how many drains the status names.
const shownDrains = 3

// askAgent is what this unit's agent says, and what is wrong with it, if something is.
func (u *Reconciler) askAgent(ctx context.Context, r *record) (s report.Status, problem string) {
	if r.Agent.Setup == "" {
		return s, r.Agent.Problem
	}
	s, err := report.Ask(ctx, u.Paths.AgentConfig())
	if r.Agent.Problem != "" {
		return s, r.Agent.Problem
	}
	if err != nil {
		u.Log.WarnContext(ctx, "the agent does not answer", "error", err)
		return report.Status{}, "does not answer; look at: journalctl -u " + string(ovndb.Agent)
	}
	return s, s.Problem()
}

// acting is what the status says of the unit that acts: which drains have stalled, for which an
// operator is needed; that it acts, and which drains run.
func acting(s report.Status) (stalled []finding.Finding, runs []string) {
	if !s.Acts {
		return nil, nil
	}
	runs = append(runs, "acts for gateways")
	for _, d := range s.Drains {
		switch {
		case d.Done || len(stalled)+len(runs) > shownDrains:
		case d.Stalled:
			stalled = append(stalled, finding.New(finding.DrainStalled, finding.Subject{Name: d.Node}, finding.Args{Value: d.Text}))
		default:
			runs = append(runs, d.Line())
		}
	}
	return stalled, runs
}
