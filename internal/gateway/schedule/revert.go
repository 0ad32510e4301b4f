package schedule

import (
	"cmp"
	"fmt"
	"slices"
)

// Revert takes groups back to the candidates that they had before an earlier plan, as far
// as the rules of the other operations allow: to chassis that may host them and live, a
// master only to a candidate unless new ones are allowed, and without dropping one that a
// group needs to have [MaxCandidates]. What another client has changed since then stays.
func Revert(s State, o Options, taken []AppliedChange) Plan {
	return takeBack(s, o, taken, revert, wording{"restored: it was so before the plan", "not a candidate before the plan"})
}

// wording is why a candidate is put back, and why it goes.
type wording struct{ back, gone string }

// takeBack is the plan of an operation that takes changes back.
func takeBack(s State, o Options, taken []AppliedChange, operation string, why wording) Plan {
	in := newInstance(s)
	in.hold(o)
	before := in.networkReports()
	left := o.MaxMoves
	for _, t := range slices.SortedFunc(slices.Values(taken), func(a, b AppliedChange) int { return cmp.Compare(a.Group, b.Group) }) {
		g := in.groupNamed(t.Group)
		if g == nil {
			named := func(f Group) bool { return f.Name == t.Group }
			switch {
			case slices.ContainsFunc(in.externals, func(x *group) bool { return x.Name == t.Group }): // external ports follow their router
			case slices.ContainsFunc(in.unplanned, named):
				in.find(t.Group, "no record says any more which chassis may host it; left as it is")
			default:
				in.find(t.Group, "the gateway no longer exists")
			}
			continue
		}
		order := in.revertedOrder(g, o, t)
		if order == nil || g.held {
			continue
		}
		if moves := len(g.was) > 0 && order[0] != g.was[0]; moves && o.MaxMoves > 0 {
			if left == 0 {
				in.find(t.Group, fmt.Sprintf("max-moves=%d is used up", o.MaxMoves))
				continue
			}
			left--
		}
		g.order = order
		for _, c := range order {
			g.reasons[in.chassis[c].Name] = why.back
		}
		for _, c := range g.was {
			if !g.has(c) {
				g.reasons[in.chassis[c].Name] = why.gone
			}
		}
	}
	in.findLostFollowers()
	return in.plan(operation, o, before)
}

// revertedOrder is the order that takes the group back; nil where it is to stay as it is.
func (in *instance) revertedOrder(g *group, o Options, t AppliedChange) (order []int) {
	was, is := chassisOf(ranked(t.Before)), chassisOf(ranked(g.Candidates))
	switch {
	case slices.Equal(was, is):
		return nil // it is back already
	case !slices.Equal(chassisOf(ranked(t.After)), is):
		in.find(g.Name, "its candidates have changed since then; left as it is")
		return nil
	case len(was) == 0:
		in.find(g.Name, "it had no candidates before; left as it is")
		return nil
	}
	for i, name := range was {
		c, found := in.number[name]
		switch {
		case !found || !g.class.eligible[c]:
			in.find(g.Name, fmt.Sprintf("%s can no longer host it: %s", name, in.invalid(g, name)))
		case !g.accepts(c) && (i == 0 || !g.has(c)):
			in.find(g.Name, fmt.Sprintf("%s is unschedulable", name))
		case i == 0 && !g.has(c) && !o.AllowNewCandidates:
			in.find(g.Name, fmt.Sprintf("%s hosted it before and is not a candidate now; allow new candidates to revert it", name))
		default:
			order = append(order, c)
			continue
		}
		if i == 0 {
			return nil
		}
	}
	for _, c := range g.was {
		if !slices.Contains(order, c) {
			order = append(order, c)
		}
	}
	order = order[:min(len(order), max(MaxCandidates, len(was)))]
	if slices.Equal(order, g.was) {
		return nil // with fewer candidates than it can have it would be given them again
	}
	return order
}

// groupNamed is the group of a name, if it is there.
func (in *instance) groupNamed(name string) *group {
	n, found := slices.BinarySearchFunc(in.groups, name, func(g *group, name string) int { return cmp.Compare(g.Name, name) })
	if !found {
		return nil
	}
	return in.groups[n]
}

func chassisOf(candidates []Candidate) []string {
	names := make([]string, len(candidates))
	for i, c := range candidates {
		names[i] = c.Chassis
	}
	return names
}
