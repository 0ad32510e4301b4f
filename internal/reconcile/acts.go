package reconcile

import (
	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// shownDrains is how many drains the status names.
const shownDrains = 3

// acting is the status's part about the unit that acts: the drains that have stalled and need an
// operator, and the texts that it acts and which drains run.
func acting(s report.Status) (stalled []finding.Finding, runs []string) {
	if !s.Acts {
		return nil, nil
	}
	runs = append(runs, "acts for gateways")
	for _, d := range s.Drains {
		switch {
		case d.Done || len(stalled)+len(runs) > shownDrains:
		case d.Stalled:
			stalled = append(stalled, finding.New(finding.DrainStalled, finding.Subject{Name: d.Node},
				finding.Args{Value: d.Text}))
		default:
			runs = append(runs, d.Line())
		}
	}
	return stalled, runs
}
