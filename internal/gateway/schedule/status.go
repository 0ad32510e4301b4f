package schedule

import (
	"cmp"
	"fmt"
	"slices"
)

// Evaluate says how gateways are spread, what is wrong, and what would mend it. Where a port really is counts only if any port is known to be
// anywhere: without an ovn-controller none is.
func Evaluate(s State, o Options) Status {
	in := newInstance(s)
	in.hold(o)
	for _, g := range in.groups {
		if g.held {
			continue
		}
		for _, name := range g.gone {
			in.find(g.Name, fmt.Sprintf("candidate %s cannot host it: %s", name, g.reasons[name]))
		}
		switch {
		case len(g.order) == 0 && len(g.class.schedulable) == 0:
			in.find(g.Name, "no chassis is eligible: "+in.whyNoOther(g))
		case len(g.order) == 0:
			in.find(g.Name, "no chassis hosts it")
		case len(g.order) == 1 && g.possible > 1:
			in.find(g.Name, fmt.Sprintf("%s is the only candidate (no failover); %d chassis are eligible", in.chassis[g.order[0]].Name, g.possible))
		case len(g.order) == 1:
			in.find(g.Name, fmt.Sprintf("%s is the only candidate (no failover), and no other chassis is eligible: %s", in.chassis[g.order[0]].Name, in.whyNoOther(g)))
		}
		if g.isLocated() {
			in.findMisplaced(g)
		}
	}
	in.findLostFollowers()
	in.findings = append(in.findings, s.findPinned()...)
	status := Status{Networks: in.selected(o, in.networkReports()), Findings: sorted(in.findings), Next: []Step{}, Pinned: s.Pinned}
	if p := Reschedule(s, o); !p.Empty() {
		status.Next = append(status.Next, Step{p.Operation, p.Cost})
	}
	// Groups that only follow others do so in either operation.
	if p := Rebalance(s, o); slices.ContainsFunc(p.Bounds, func(b Bound) bool { return b.Moves > 0 }) {
		status.Next = append(status.Next, Step{p.Operation, p.Cost})
	}
	return status
}

// Unbound is what is said of a port that is bound nowhere while the ovn-controller of its best
// candidate responds. One of OVN 23.03 that has claimed a port at the same time as another candidate
// may not claim it again after that one has released it, which takes the port from it; its
// recomputation does (measured: tests/dataplane).
func Unbound(best string) string {
	return fmt.Sprintf("not bound to any chassis; expected %s (if this lasts, run there: ovn-appctl -t ovn-controller inc-engine/recompute)", best)
}

// findMisplaced names ports that are not where their priorities say.
func (in *instance) findMisplaced(g *group) {
	best := in.chassis[g.order[0]]
	should, on := best.Name, best.Name
	unbound := Unbound(best.Name)
	if best.Unresponsive {
		on += " (its ovn-controller is not responding)"
		unbound = "not bound to any chassis; expected " + on
	}
	for _, p := range g.Ports {
		if p.Disabled {
			continue
		}
		switch p.Active {
		case should:
		case "":
			in.find(p.Name, unbound)
		default:
			in.find(p.Name, fmt.Sprintf("bound to %s; expected %s", p.Active, on))
		}
	}
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
