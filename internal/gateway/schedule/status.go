package schedule

import (
	"cmp"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// Evaluate finds how gateways are spread, what is wrong, and which operations would change something.
func Evaluate(s State, o Options) Status {
	in := newInstance(s)
	in.hold(o)
	for _, g := range in.groups {
		if g.held {
			continue
		}
		in.findInvalid(g)
		switch {
		case len(g.order) == 0 && len(g.class.schedulable) == 0:
			in.findIneligible(g)
		case len(g.order) == 0 && in.expected(g.Group) == "":
			in.find(finding.GatewayWithoutCandidate, g.Name, finding.Args{})
		case len(g.order) == 1:
			args := finding.Args{Value: in.chassis[g.order[0]].Name, Count: g.possible}
			if g.possible == 1 {
				args.Detail = in.whyNo(g, g.has)
			}
			in.find(finding.SingleCandidate, g.Name, args)
		}
	}
	in.findExternals()
	in.findHosting()
	in.findUnmarked()
	in.findLostFollowers()
	in.findings = append(in.findings, s.findPinned()...)
	status := Status{
		Networks: in.selected(o, in.networkReports()), Findings: SortFindings(in.findings), Next: []Step{},
		Pinned: s.Pinned,
	}
	if p := Reschedule(s, o); !p.Empty() {
		status.Next = append(status.Next, Step{Operation: p.Operation, Cost: p.Cost})
	}
	// Groups that only follow others do so in either operation.
	p, moves := Rebalance(s, o), func(b Bound) bool { return b.Moves > 0 }
	if slices.ContainsFunc(p.Bounds, moves) && !finding.Has(p.Findings, finding.NoGatewayBound) {
		status.Next = append(status.Next, Step{Operation: p.Operation, Cost: p.Cost})
	}
	return status
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
