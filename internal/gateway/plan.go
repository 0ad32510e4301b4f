package gateway

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The operations.
const (
	reschedule = "reschedule"
	rebalance  = "rebalance"
	revert     = "revert"
)

// Plan is what to change, and what it leads to.
type Plan struct {
	// Operation is "reschedule", "rebalance" or "revert".
	Operation string `json:"operation" yaml:"operation"`
	Cost      Cost   `json:"cost" yaml:"cost"`
	// Changes are those of groups, by their names.
	Changes []Change `json:"changes" yaml:"changes"`
	// Before and After are the loads of each network, by its name.
	Before []Network `json:"before" yaml:"before"`
	After  []Network `json:"after" yaml:"after"`
	// Bounds are those of a rebalancing, one for each network.
	Bounds []Bound `json:"bounds,omitempty" yaml:"bounds,omitempty"`
	// Problems are what could not be done and why, and what is odd.
	Problems []Problem `json:"problems" yaml:"problems"`
	// Added are the chassis that were added and get something: who finishes the plan has
	// to know, since they don't look like it once they have a part of it.
	Added []string `json:"-" yaml:"-"`
}

// Cost is what a plan takes.
type Cost struct {
	// Gateways is how many groups change, Rows how many candidates come, go or get another
	// priority.
	Gateways int `json:"gateways" yaml:"gateways"`
	Rows     int `json:"rows" yaml:"rows"`
	// Interruptions is how many groups lose their traffic for about a second.
	Interruptions int `json:"interruptions" yaml:"interruptions"`
}

// Moves counts the groups whose traffic is interrupted.
func (p Plan) Moves() int { return p.Cost.Interruptions }

// Shortened is the plan with no more changes and problems than so many, for where there is
// no room for all; its cost is that of the whole.
func (p Plan) Shortened(most int) Plan {
	p.Changes, p.Problems = p.Changes[:min(most, len(p.Changes))], shortened(p.Problems, most)
	return p
}

func shortened(problems []Problem, most int) []Problem {
	if len(problems) <= most {
		return problems
	}
	return append(slices.Clone(problems[:most]), Problem{"…", fmt.Sprintf("and %d more", len(problems)-most)})
}

// Empty says that there is nothing to do.
func (p Plan) Empty() bool { return len(p.Changes) == 0 }

// Change is what happens to one group.
type Change struct {
	Group   string  `json:"group" yaml:"group"`
	Storage Storage `json:"storage" yaml:"storage"`
	Ports   []Port  `json:"ports" yaml:"ports"`
	// Before and After are the candidates, best first.
	Before []Candidate `json:"before" yaml:"before"`
	After  []Candidate `json:"after" yaml:"after"`
	Rows   []Row       `json:"rows" yaml:"rows"`
	// Interrupts says that the group works, and on another chassis afterwards.
	Interrupts bool `json:"interrupts" yaml:"interrupts"`
}

// Row is a candidate that comes, goes or gets another priority.
type Row struct {
	Chassis string `json:"chassis" yaml:"chassis"`
	// Before and After are priorities; nil is no candidate.
	Before *int   `json:"before" yaml:"before"`
	After  *int   `json:"after" yaml:"after"`
	Reason string `json:"reason" yaml:"reason"`
}

// From is the chassis that hosted the group, as far as the rows say; To hosts it after
// the change. Either is empty where there is none.
func (c Change) From() string { return first(c.Before) }

// To is the chassis that is to host the group.
func (c Change) To() string { return first(c.After) }

func first(candidates []Candidate) string {
	if len(candidates) == 0 {
		return ""
	}
	return candidates[0].Chassis
}

// plan compares what is planned with what there was.
func (w *scene) plan(operation string, o Options, before []Network) Plan {
	p := Plan{Operation: operation, Before: w.asked(o, before), After: w.asked(o, w.report())}
	changed := slices.DeleteFunc(slices.Clone(w.groups), func(g *group) bool { return !g.changes(operation) })
	p.Changes = make([]Change, len(changed))
	for i, g := range changed {
		p.Changes[i] = w.change(g.Group, g.order, g.reasons)
		p.Changes[i].Interrupts = g.interrupted()
	}
	for _, f := range w.followers {
		if order, reasons := w.followed(f); order != nil {
			p.Changes = append(p.Changes, w.change(f, order, reasons))
		}
	}
	slices.SortFunc(p.Changes, func(a, b Change) int { return cmp.Compare(a.Group, b.Group) })
	p.Problems = sorted(w.problems)
	p.Cost.Gateways = len(p.Changes)
	for _, c := range p.Changes {
		p.Cost.Rows += len(c.Rows)
		if c.Interrupts {
			p.Cost.Interruptions++
		}
	}
	return p
}

// changes says whether the group is to have other candidates, or others first. Who may not
// host it is dropped by a reschedule alone: the others leave alone what they do not move.
func (g *group) changes(operation string) bool {
	invalid := len(g.gone) > 0 && operation == reschedule
	return !g.held && len(g.order) > 0 && (invalid || !slices.Equal(g.order, g.was))
}

func (w *scene) change(g Group, order []int, reasons map[string]string) Change {
	c := Change{Group: g.Name, Storage: g.Storage, Ports: g.Ports, Before: ranked(g.Candidates)}
	names := make([]string, len(order))
	for i, n := range order {
		names[i] = w.chassis[n].Name
	}
	c.After = prioritized(g.Candidates, names)
	before, after := map[string]*int{}, map[string]*int{}
	c.Rows = make([]Row, 0, max(len(c.Before), len(c.After)))
	for _, b := range slices.Backward(c.Before) { // of two of one name the better counts
		before[b.Chassis] = &b.Priority
	}
	for _, a := range c.After {
		after[a.Chassis] = &a.Priority
		if b := before[a.Chassis]; b == nil || *b != a.Priority {
			c.Rows = append(c.Rows, Row{a.Chassis, b, &a.Priority, cmp.Or(reasons[a.Chassis], "its rank among the candidates")})
		}
	}
	for _, b := range c.Before {
		if after[b.Chassis] == nil {
			c.Rows = append(c.Rows, Row{b.Chassis, &b.Priority, nil, reasons[b.Chassis]})
		}
	}
	return c
}

// asked are the networks that a plan is about.
func (w *scene) asked(o Options, all []Network) []Network {
	return slices.DeleteFunc(all, func(n Network) bool { return len(o.Networks) > 0 && !slices.Contains(o.Networks, n.Name) })
}

// follow has nothing to do but tell of followers whose group there is not.
func (w *scene) follow() {
	for _, f := range w.followers {
		if w.named(f.Follows) == nil {
			w.tell(f.Name, fmt.Sprintf("it belongs to external ports, and their router's gateway %s is not known", f.Follows))
		}
	}
}

// followed is the order of a group of external ports, if it has to change: whoever
// hosts the router's gateway comes first.
func (w *scene) followed(f Group) ([]int, map[string]string) {
	lead := w.named(f.Follows)
	if lead == nil || lead.held || len(lead.order) == 0 {
		return nil, nil
	}
	master := lead.order[0]
	var order []int
	for _, c := range ranked(f.Candidates) {
		if n, found := w.number[c.Chassis]; found && !slices.Contains(order, n) {
			order = append(order, n)
		}
	}
	if len(order) > 0 && order[0] == master {
		return nil, nil
	}
	reason := "external ports work only on the chassis that hosts " + f.Follows
	reasons := map[string]string{w.chassis[master].Name: reason}
	if at := slices.Index(order, master); at >= 0 {
		order[0], order[at] = order[at], order[0]
		return order, reasons
	}
	if order = slices.Insert(order, 0, master); len(order) > MaxCandidates {
		reasons[w.chassis[order[MaxCandidates]].Name] = reason
		order = order[:MaxCandidates]
	}
	return order, reasons
}

// counted lists reasons, the most frequent first.
func counted(count map[string]int) string {
	reasons := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	for i, r := range reasons {
		reasons[i] = fmt.Sprintf("%d × %s", count[r], r)
	}
	return strings.Join(reasons, "; ")
}
