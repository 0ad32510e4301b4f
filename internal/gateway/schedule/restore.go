package schedule

import (
	"fmt"
	"maps"
	"slices"
)

// Restore brings gateways back to candidates that they had, best first, by the rules of
// [Revert]. What it leaves otherwise is among the findings, but for gateways that came since.
func Restore(s State, o Options, layout map[string][]string) Plan {
	var taken []AppliedChange
	now := map[string]Group{}
	for _, g := range s.Groups {
		now[g.Name] = g
	}
	for _, name := range slices.Sorted(maps.Keys(layout)) {
		if g, there := now[name]; !there || !slices.Equal(g.Ranked(), layout[name]) {
			taken = append(taken, AppliedChange{Group: name, Before: orderOf(layout[name]), After: g.Candidates})
		}
	}
	p := takeBack(s, o, taken, restore, wording{"restored: it was so in the revision", "not a candidate in the revision"})
	said := map[string]bool{}
	for _, f := range p.Findings {
		said[f.Where] = true
	}
	for _, c := range p.Changes {
		now[c.Group] = Group{Candidates: c.After}
	}
	for _, name := range slices.Sorted(maps.Keys(layout)) {
		if g, there := now[name]; there && !said[name] && !o.Hold[name] && !slices.Equal(g.Ranked(), layout[name]) {
			p.Findings = append(p.Findings, Finding{name, fmt.Sprintf("its candidates cannot be wholly as they were: %v then, %v now", layout[name], g.Ranked())})
		}
	}
	p.Findings = sorted(p.Findings)
	return p
}

// orderOf are candidates in an order.
func orderOf(chassis []string) []Candidate {
	all := make([]Candidate, len(chassis))
	for i, c := range chassis {
		all[i] = Candidate{c, len(chassis) - i}
	}
	return all
}
