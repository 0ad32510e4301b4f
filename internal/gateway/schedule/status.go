package schedule

import (
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
		Pinned: s.Pinned, Networkless: in.networkless(),
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

func (in *instance) networkless() (all []Networkless) {
	for _, g := range in.unplanned {
		for _, p := range g.Ports {
			if !p.External {
				all = append(all, Networkless{p.Name, p.Active})
			}
		}
	}
	slices.SortFunc(all, func(a, b Networkless) int { return CompareNames(a.Name, b.Name) })
	return all
}
