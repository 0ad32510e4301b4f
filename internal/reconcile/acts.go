package reconcile

import (
	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// shownDrains is the number of drains that the status names.
const shownDrains = 3

// acting returns the status's part about the acting unit: the stalled drains, which need an operator, and texts
// about the running ones.
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
