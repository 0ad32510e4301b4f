package schedule

import (
	"cmp"
	"fmt"
	"slices"
)

// Evaluate finds how gateways are spread, what is wrong, and what would mend it. What hosts them is what the Southbound
// database has; which chassis should, and what would change that, is what the rules of their owners say.
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
		case len(g.order) == 0 && in.expected(g.Group) == "" && in.unhostedPorts(g.Group) > 0:
			in.find(g.Name, "no chassis hosts it")
		case len(g.order) == 0 && in.expected(g.Group) == "":
			in.find(g.Name, "it has no candidate")
		case len(g.order) == 1 && g.possible > 1:
			in.find(g.Name, fmt.Sprintf("%s is the only candidate (no failover); %d chassis are eligible", in.chassis[g.order[0]].Name, g.possible))
		case len(g.order) == 1:
			in.find(g.Name, fmt.Sprintf("%s is the only candidate (no failover), and no other chassis is eligible: %s", in.chassis[g.order[0]].Name, in.whyNoOther(g)))
		}
	}
	in.findExternals()
	in.findHosting()
	in.findUnmarked()
	in.findLostFollowers()
	in.findings = append(in.findings, s.findPinned()...)
	status := Status{Networks: in.selected(o, in.networkReports()), Findings: sorted(in.findings), Next: []Step{}, Pinned: s.Pinned}
	if p := Reschedule(s, o); !p.Empty() {
		status.Next = append(status.Next, Step{Operation: p.Operation, Cost: p.Cost})
	}
	// Groups that only follow others do so in either operation.
	if p := Rebalance(s, o); slices.ContainsFunc(p.Bounds, func(b Bound) bool { return b.Moves > 0 }) {
		status.Next = append(status.Next, Step{Operation: p.Operation, Cost: p.Cost})
	}
	return status
}

// SortFindings has each problem once, by where it is.
func SortFindings(findings []Finding) []Finding {
	slices.SortFunc(findings, func(a, b Finding) int {
		return cmp.Or(CompareNames(a.Where, b.Where), cmp.Compare(a.Text, b.Text))
	})
	return slices.Compact(findings)
}

func sorted(findings []Finding) []Finding {
	return append([]Finding{}, SortFindings(findings)...) // none is a list too, for programs
}
