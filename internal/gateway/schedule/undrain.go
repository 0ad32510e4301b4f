package schedule

import (
	"cmp"
	"fmt"
	"slices"
)

// Undrain gives a chassis that is back its ranks, as far as groups and candidates still exist.
// Where nothing but drains has changed a group since, all its candidates are as they were
// before, but for those that can't host it now; else the chassis alone is put before those
// that were behind it, and never gets a worse rank than it has.
func Undrain(s State, o Options, chassis string, was []AppliedChange) Plan {
	in := newInstance(s)
	p := Plan{Operation: OperationUndrain, Chassis: chassis, Before: in.selected(o, in.networkReports()), Changes: []Change{}}
	all := map[string]Group{}
	for _, g := range s.Groups {
		all[g.Name] = g
	}
	after := slices.Clone(s.Groups)
	for _, r := range slices.SortedFunc(slices.Values(was), func(a, b AppliedChange) int { return cmp.Compare(a.Group, b.Group) }) {
		g, found := all[r.Group]
		if !found {
			p.Blocked = append(p.Blocked, Finding{r.Group, "the gateway no longer exists"})
			continue
		}
		to, why := in.undrained(g, chassis, r)
		if why != "" {
			p.Blocked = append(p.Blocked, Finding{r.Group, why})
		}
		if to == nil || slices.Equal(to, ranked(g.Candidates)) {
			continue
		}
		reasons := map[string]string{}
		for _, c := range to {
			reasons[c.Chassis] = fmt.Sprintf("as before %s was drained", chassis)
		}
		for _, c := range g.Candidates {
			reasons[c.Chassis] = cmp.Or(reasons[c.Chassis], fmt.Sprintf("not a candidate before %s was drained", chassis))
		}
		c := changed(g, to, reasons)
		c.Interrupts = c.From() != c.To() && slices.ContainsFunc(g.Ports, func(p Port) bool { return p.Active != "" && p.Active != c.To() })
		p.Changes = append(p.Changes, c)
		after[slices.IndexFunc(after, func(x Group) bool { return x.Name == g.Name })].Candidates = to
	}
	s.Groups = after
	p.After = in.selected(o, newInstance(s).networkReports())
	p.Findings = sorted(in.findings)
	p.Cost = costOf(p.Changes)
	return p
}

// undrained are the candidates of a group when the chassis is back; nil leaves it as it is.
func (in *instance) undrained(g Group, chassis string, r AppliedChange) (to []Candidate, why string) {
	base, is := ranked(r.Before), ranked(g.Candidates)
	now := chassisOf(is)
	at := slices.IndexFunc(base, func(c Candidate) bool { return c.Chassis == chassis })
	switch {
	case at < 0:
		return nil, ""
	case !slices.Contains(now, chassis):
		return nil, chassis + " is no longer a candidate; left as it is"
	}
	shut := func(name string) bool {
		n, found := in.number[name]
		return !found || unavailable(in.chassis[n]) != ""
	}
	if shut(chassis) {
		return nil, chassis + " is not alive, or cordoned; left as it is"
	}
	if slices.Equal(now, chassisOf(ranked(r.After))) {
		names := chassisOf(base)
		rising := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !shut(name) || !rises(name, now, names, shut) })
		if len(rising) == 0 {
			return base, ""
		}
		order := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(rising, name) })
		return prioritized(g.Candidates, append(order, rising...)), ""
	}
	behindIt := chassisOf(base[at+1:])
	rest := slices.DeleteFunc(slices.Clone(now), func(name string) bool { return name == chassis })
	place := slices.IndexFunc(rest, func(name string) bool { return slices.Contains(behindIt, name) })
	if place < 0 {
		place = len(rest)
	}
	place = min(place, slices.Index(now, chassis)) // it was given a better rank since then
	return prioritized(g.Candidates, slices.Insert(rest, place, chassis)), "its candidates have changed since then; only the rank of " + chassis + " is put back"
}

// rises says whether a chassis would get before one that can host, which is before it now.
func rises(name string, now, then []string, shut func(string) bool) bool {
	at := slices.Index(now, name)
	for _, other := range then[slices.Index(then, name)+1:] {
		if i := slices.Index(now, other); !shut(other) && i >= 0 && (at < 0 || i < at) {
			return true
		}
	}
	return false
}
