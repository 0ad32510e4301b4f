package gateway

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Status is how gateways are spread, what is not as it should be, and what to do about it.
type Status struct {
	Networks []Network `json:"networks" yaml:"networks"`
	Problems []Problem `json:"problems" yaml:"problems"`
	// Next are the operations that would change something by now.
	Next []Step `json:"next" yaml:"next"`
}

// Step is an operation and what it would take.
type Step struct {
	Operation string `json:"operation" yaml:"operation"`
	Cost      Cost   `json:"cost" yaml:"cost"`
}

// Look says how things are. Where a port really is counts only if any port is known to be
// anywhere: without an ovn-controller none is.
func Look(s State, o Options) Status {
	w := newScene(s)
	w.hold(o)
	for _, g := range w.groups {
		if g.held {
			continue
		}
		for _, name := range g.gone {
			w.tell(g.Name, fmt.Sprintf("candidate %s can't host it: %s", name, g.reasons[name]))
		}
		switch {
		case len(g.order) == 0 && len(g.kind.open) == 0:
			w.tell(g.Name, "no chassis may host it: "+w.why(g))
		case len(g.order) == 0:
			w.tell(g.Name, "no chassis hosts it")
		case len(g.order) == 1 && g.possible > 1:
			w.tell(g.Name, fmt.Sprintf("it hangs on %s alone; %d could host it", w.chassis[g.order[0]].Name, g.possible))
		case len(g.order) == 1:
			w.tell(g.Name, fmt.Sprintf("it hangs on %s alone; no other chassis may host it: %s", w.chassis[g.order[0]].Name, w.why(g)))
		}
		if len(g.order) > 0 && (g.nowhere || slices.ContainsFunc(g.Ports, func(p Port) bool { return p.Active != "" })) {
			w.misplaced(g)
		}
	}
	w.follow()
	status := Status{Networks: w.asked(o, w.report()), Problems: sorted(w.problems), Next: []Step{}}
	if p := Reschedule(s, o); !p.Empty() {
		status.Next = append(status.Next, Step{p.Operation, p.Cost})
	}
	// Groups that only follow others do so in either operation.
	if p := Rebalance(s, o); slices.ContainsFunc(p.Bounds, func(b Bound) bool { return b.Moves > 0 }) {
		status.Next = append(status.Next, Step{p.Operation, p.Cost})
	}
	return status
}

// misplaced tells of ports that are not where their priorities say.
func (w *scene) misplaced(g *group) {
	should := w.chassis[g.order[0]].Name
	on := should
	if w.chassis[g.order[0]].Silent {
		on += ", whose ovn-controller is silent"
	}
	for _, p := range g.Ports {
		switch p.Active {
		case should:
		case "":
			w.tell(p.Name, fmt.Sprintf("it is active nowhere, and should be on %s", on))
		default:
			w.tell(p.Name, fmt.Sprintf("it is active on %s, and should be on %s", p.Active, on))
		}
	}
}

// sorted has each problem once, by where it is.
func sorted(problems []Problem) []Problem {
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Where, b.Where), cmp.Compare(a.Text, b.Text))
	})
	return append([]Problem{}, slices.Compact(problems)...) // none is a list too, for programs
}

// Shortened is the status with no more problems than so many.
func (s Status) Shortened(most int) Status {
	s.Problems = shortened(s.Problems, most)
	return s
}

// Text shows a status to a person.
func (s Status) Text() string {
	var b strings.Builder
	for i, n := range s.Networks {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(network(n, n))
		fmt.Fprintf(&b, "spread %d\n", n.Spread())
	}
	if len(s.Networks) == 0 {
		b.WriteString("there are no gateways to provider networks\n")
	}
	b.WriteString(Told(s.Problems))
	if len(s.Next) > 0 {
		b.WriteString("\nnext\n")
	}
	for _, step := range s.Next {
		fmt.Fprintf(&b, "  %s: %s\n", step.Operation, step.Cost.text())
	}
	return b.String()
}
