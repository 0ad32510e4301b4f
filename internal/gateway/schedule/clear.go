package schedule

import (
	"cmp"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// Clear removes a drained chassis from the candidates of every group, unless it hosts the group, is first, or
// no other candidate responds and is not cordoned; such groups are in [Plan.Blocked].
func Clear(s State, chassis string) Plan {
	p := Plan{Operation: OperationClear, Chassis: chassis, Changes: []Change{}}
	living := map[string]bool{}
	for _, c := range s.Chassis {
		living[c.Name] = c.Name != chassis && !c.Remote && unavailable(c) == ""
	}
	in := newInstance(s)
	stays := func(g Group, why string) {
		p.Blocked = append(p.Blocked, finding.About(finding.CandidateStays, g.Name,
			finding.Args{Value: chassis, Detail: why}))
	}
	for _, g := range s.Groups {
		names := g.Ranked()
		rest := without(names, chassis)
		host, _ := in.claimant(g.Candidates)
		switch {
		case len(rest) == len(names):
		case names[0] == chassis:
			stays(g, "it is the first candidate")
		case !slices.ContainsFunc(rest, func(name string) bool { return living[name] }):
			stays(g, "no other one is alive and not cordoned")
		case host.Name == chassis && g.boundTo(chassis):
			stays(g, "it hosts this")
		case in.isStray(g, prioritized(nil, rest)):
			stays(g, "another chassis would host it without its network")
		default:
			p.Changes = append(p.Changes, changed(g, prioritized(g.Candidates, rest),
				map[string]string{chassis: "it is taken out"}))
		}
	}
	slices.SortFunc(p.Changes, func(a, b Change) int { return cmp.Compare(a.Group, b.Group) })
	p.Blocked = SortFindings(p.Blocked)
	p.Cost = costOf(p.Changes)
	return p
}
