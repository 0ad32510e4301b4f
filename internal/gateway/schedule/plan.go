package schedule

import (
	"cmp"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

func (in *instance) plan(operation string, o Options, before []Network) Plan {
	p := Plan{Operation: operation, Before: in.selected(o, before), After: in.selected(o, in.networkReports())}
	groups := filter(in.groups, func(g *group) bool { return g.changes(operation) })
	p.Changes = make([]Change, len(groups))
	for i, g := range groups {
		p.Changes[i] = in.change(g.Group, in.names(g.order), g.reasons)
	}
	in.planExternals(&p, operation)
	slices.SortFunc(p.Changes, func(a, b Change) int { return cmp.Compare(a.Group, b.Group) })
	p.Findings = SortFindings(in.findings)
	p.Cost = costOf(p.Changes)
	return p
}

func costOf(changes []Change) Cost {
	cost := Cost{Gateways: len(changes)}
	for _, c := range changes {
		cost.Rows += len(c.Rows)
		if c.Interrupts {
			cost.Interruptions++
		}
	}
	return cost
}

// changes reports whether the group gets other candidates, or another order. Only a reschedule drops invalid and
// repeated candidates, and gives each a priority of its own; the other operations leave groups that they do not move.
func (g *group) changes(operation string) bool {
	wrong := (len(g.gone) > 0 || g.repeated || g.tied) && !g.copied && operation == reschedule
	return !g.held && len(g.order) > 0 && (wrong || !slices.Equal(g.order, g.was))
}

func (in *instance) change(g Group, names []string, reasons map[string]finding.Reason) Change {
	c := changed(g, prioritized(g.Candidates, names), reasons)
	c.Interrupts = in.interrupts(g, names)
	return c
}

// add adds the change of a group to other candidates, unless it already has them.
func (in *instance) add(p *Plan, g Group, names []string, reasons map[string]finding.Reason) {
	if !slices.Equal(names, g.Ranked()) {
		p.Changes = append(p.Changes, in.change(g, names, reasons))
	}
}

func (in *instance) names(order []int) []string {
	names := make([]string, len(order))
	for i, n := range order {
		names[i] = in.chassis[n].Name
	}
	return names
}

// changed returns the change of a group to other candidates, best first.
func changed(g Group, to []Candidate, reasons map[string]finding.Reason) Change {
	c := Change{Group: g.Name, Storage: g.Storage, Ports: g.Ports, Before: ranked(g.Candidates), After: to}
	before, after := map[string]*int{}, map[string]*int{}
	c.Rows = make([]Row, 0, max(len(c.Before), len(c.After)))
	for _, b := range slices.Backward(c.Before) { // if a name is repeated, its better priority counts
		before[b.Chassis] = &b.Priority
	}
	for i, a := range c.After {
		after[a.Chassis] = &a.Priority
		if b := before[a.Chassis]; b == nil || *b != a.Priority {
			why := reasons[a.Chassis]
			if why.IsZero() {
				why.Code = finding.MovedInRank
				if at := slices.Index(chassisOf(c.Before), a.Chassis); at == i {
					why.Code = finding.OtherPriority
				}
			}
			c.Rows = append(c.Rows, Row{a.Chassis, b, &a.Priority, why.String()})
		}
	}
	for i, b := range c.Before {
		switch {
		case after[b.Chassis] == nil:
			c.Rows = append(c.Rows, Row{b.Chassis, &b.Priority, nil, reasons[b.Chassis].String()})
		case occurrences(c.Before[:i], b.Chassis) >= occurrences(c.After, b.Chassis):
			twice := finding.Reason{Code: finding.ListedTwice}
			c.Rows = append(c.Rows, Row{b.Chassis, &b.Priority, nil, twice.String()})
		}
	}
	return c
}

func occurrences(candidates []Candidate, chassis string) int {
	return len(filter(candidates, func(c Candidate) bool { return c.Chassis == chassis }))
}

func (in *instance) selected(o Options, all []Network) []Network {
	return filter(all, func(n Network) bool { return len(o.Networks) == 0 || isOf(o.Networks, n.Name) })
}
