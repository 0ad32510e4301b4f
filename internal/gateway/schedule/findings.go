package schedule

import (
	"cmp"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// Unbound is the finding about a port that is bound nowhere although its best candidate responds. In OVN 23.03, an
// ovn-controller that has claimed a port at the same time as another candidate may not claim it again after the other
// one has released it, which takes the port from it; its recomputation does (measured: tests/dataplane).
func Unbound(port, best string) finding.Finding {
	recompute := command.Direct("ovn-appctl", "-t", "ovn-controller", "inc-engine/recompute")
	remedy := finding.If(finding.IfItLastsThere, recompute)
	return finding.About(finding.GatewayUnbound, port, finding.Args{Value: best}, remedy)
}

// SortFindings sorts findings by severity, the most severe first, then by subject, and drops duplicates.
func SortFindings(findings []finding.Finding) []finding.Finding {
	compare := func(a, b finding.Finding) int {
		return cmp.Or(
			cmp.Compare(b.Severity, a.Severity), CompareNames(a.Subject.Name, b.Subject.Name), cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Args.Value, b.Args.Value), cmp.Compare(a.Args.Detail, b.Args.Detail))
	}
	slices.SortStableFunc(findings, compare)
	return slices.CompactFunc(findings, func(a, b finding.Finding) bool { return compare(a, b) == 0 })
}
