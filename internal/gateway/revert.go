package gateway

import (
	"cmp"
	"fmt"
	"slices"
)

// Taken is what an earlier plan changed of a group: its candidates before and after,
// best first.
type Taken struct {
	Group   string      `json:"group" yaml:"group"`
	Storage Storage     `json:"storage" yaml:"storage"`
	Before  []Candidate `json:"before" yaml:"before"`
	After   []Candidate `json:"after" yaml:"after"`
}

// Interrupted says that another chassis hosted the group afterwards.
func (t Taken) Interrupted() bool { return len(t.Before) > 0 && first(t.Before) != first(t.After) }

// Revert takes groups back to the candidates that they had before an earlier plan, as far
// as the rules of the other operations allow: to chassis that may host them and live, a
// master only to a candidate unless new ones are allowed, and without dropping one that a
// group needs to have [MaxCandidates]. What somebody else has changed since then stays.
func Revert(s State, o Options, taken []Taken) Plan {
	w := newScene(s)
	w.hold(o)
	before := w.report()
	left := o.MaxMoves
	for _, t := range slices.SortedFunc(slices.Values(taken), func(a, b Taken) int { return cmp.Compare(a.Group, b.Group) }) {
		g := w.named(t.Group)
		if g == nil {
			if !slices.ContainsFunc(w.followers, func(f Group) bool { return f.Name == t.Group }) {
				w.tell(t.Group, "there is no such gateway any more")
			}
			continue // external ports follow their router
		}
		order := w.back(g, o, t)
		if order == nil || g.held {
			continue
		}
		if moves := len(g.was) > 0 && order[0] != g.was[0]; moves && o.MaxMoves > 0 {
			if left == 0 {
				w.tell(t.Group, fmt.Sprintf("max-moves=%d is used up", o.MaxMoves))
				continue
			}
			left--
		}
		g.order = order
		for _, c := range order {
			g.reasons[w.chassis[c].Name] = "it was so before"
		}
		for _, c := range g.was {
			if !g.has(c) {
				g.reasons[w.chassis[c].Name] = "it was no candidate before"
			}
		}
	}
	w.follow()
	return w.plan(revert, o, before)
}

// back is the order that takes the group back; nil where it is to stay as it is.
func (w *scene) back(g *group, o Options, t Taken) (order []int) {
	was, is := chassisOf(ranked(t.Before)), chassisOf(ranked(g.Candidates))
	switch {
	case slices.Equal(was, is):
		return nil // it is back already
	case !slices.Equal(chassisOf(ranked(t.After)), is):
		w.tell(g.Name, "somebody has changed its candidates since then; it stays as it is")
		return nil
	case len(was) == 0:
		w.tell(g.Name, "it had no candidates before; it stays as it is")
		return nil
	}
	for i, name := range was {
		c, found := w.number[name]
		switch {
		case !found || !g.kind.valid[c]:
			w.tell(g.Name, fmt.Sprintf("%s can't host it any more: %s", name, w.invalid(g.Group, name)))
		case !g.accepts(c) && (i == 0 || !g.has(c)):
			w.tell(g.Name, fmt.Sprintf("%s takes nothing new", name))
		case i == 0 && !g.has(c) && !o.AllowNewCandidates:
			w.tell(g.Name, fmt.Sprintf("%s hosted it before and is no candidate of it now; allow new candidates to take it back", name))
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
	if order = order[:min(len(order), max(MaxCandidates, len(was)))]; slices.Equal(order, g.was) {
		return nil // with fewer candidates than it can have it would be given them again
	}
	return order
}

// named is the group of a name, if it is there.
func (w *scene) named(name string) *group {
	n, found := slices.BinarySearchFunc(w.groups, name, func(g *group, name string) int { return cmp.Compare(g.Name, name) })
	if !found {
		return nil
	}
	return w.groups[n]
}

func chassisOf(candidates []Candidate) []string {
	names := make([]string, len(candidates))
	for i, c := range candidates {
		names[i] = c.Chassis
	}
	return names
}
