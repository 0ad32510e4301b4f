package schedule

import (
	"cmp"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// entries counts, for each chassis, the groups of a network that have it as a candidate. share is the count in an even
// spread.
type entries struct {
	groups []*group
	count  []int
	share  int
}

func (in *instance) entries(network int) *entries {
	e := &entries{count: make([]int, len(in.chassis))}
	total := 0
	for _, g := range in.groups {
		if !g.in(network) || g.held {
			continue
		}
		e.groups = append(e.groups, g)
		for _, c := range g.order {
			e.count[c]++
		}
		total += len(g.order)
	}
	if all := in.schedulable[network]; len(all) > 0 {
		e.share = total / len(all)
	}
	return e
}

// spares reports whether one chassis can give an entry to another without having fewer afterwards: otherwise it would
// be the next to get one.
func (e *entries) spares(from, to int) bool { return e.count[from]-e.count[to] >= 2 }

func (e *entries) replace(in *instance, g *group, rank, c int) {
	old := g.order[rank]
	e.count[old]--
	e.count[c]++
	reason := finding.Reason{Code: finding.GetsShare, Name: in.chassis[c].Name}
	g.reasons[in.chassis[c].Name], g.reasons[in.chassis[old].Name] = reason, reason
	g.order[rank] = c
}

// shares replaces backups: first backups if that evens the load for the failure of any chassis, then the last ones of
// the chassis that have most.
func (leastLoaded) shares(in *instance, added []int) {
	for n := range in.networks {
		e := in.entries(n)
		short := filter(added, func(c int) bool { return e.count[c] < e.share && slices.Contains(in.schedulable[n], c) })
		if len(short) == 0 {
			continue
		}
		for _, s := range in.swaps(n, short) {
			if e.count[s.chassis] < e.share && e.spares(s.group.order[1], s.chassis) {
				e.replace(in, s.group, 1, s.chassis)
			}
		}
		for _, c := range short {
			e.fill(in, c)
		}
	}
	in.chooseFirstBackups(func(*group) bool { return true }, false)
}

type swap struct {
	group   *group
	chassis int
}

// swaps returns replacements of first backups that would make the load more even. They take turns between the chassis
// that may fail, since all are equally likely to.
func (in *instance) swaps(network int, short []int) (all []swap) {
	loads := in.loads()
	total := in.totals(loads)
	byMaster := make([][]swap, len(in.chassis))
	for failed, groups := range in.hosted() {
		here := filter(groups, func(g *group) bool { return g.in(network) && !g.held })
		byMaster[failed] = swapsOf(here, short, slices.Clone(loads[network]), total)
	}
	for turn := 0; ; turn++ {
		before := len(all)
		for _, swaps := range byMaster {
			if turn < len(swaps) {
				all = append(all, swaps[turn])
			}
		}
		if len(all) == before {
			return all
		}
	}
}

func swapsOf(groups []*group, short, load, total []int) (swaps []swap) {
	var l jobList
	shared := l.class(short)
	for _, g := range groups {
		if len(g.order) < 2 {
			continue
		}
		allowed := filter(short, func(c int) bool { return !g.has(c) && g.gains(c) })
		switch {
		case !g.single() || g.kept() > 1 || len(g.order) < MaxCandidates || len(allowed) == 0:
			load[g.order[1]] += g.weight[0].ports
		case len(allowed) == len(short):
			l.add(g, g.order[1], shared)
		default:
			l.add(g, g.order[1], l.class(allowed))
		}
	}
	if len(l.jobs) == 0 {
		return nil
	}
	a := l.start(load, total, nil)
	a.Optimize()
	for i, g := range l.groups {
		if c := a.of(i); c != g.order[1] {
			swaps = append(swaps, swap{g, c})
		}
	}
	return swaps
}

// fill gives a chassis the rest of its share, from the last ranks of the chassis that have most.
func (e *entries) fill(in *instance, c int) {
	for e.count[c] < e.share {
		g, rank := e.spare(c)
		if g == nil || !e.spares(g.order[rank], c) {
			return
		}
		e.replace(in, g, rank, c)
	}
}

// spare returns the rank that a chassis should get next; the group is nil if there is none. First backups stay: they
// were chosen for the load after the failure of a master.
func (e *entries) spare(c int) (from *group, rank int) {
	for _, g := range e.groups {
		if g.has(c) || !g.gains(c) {
			continue
		}
		for r := max(2, g.kept()); r < min(len(g.order), MaxCandidates); r++ {
			if from == nil || e.compare(g.order[r], from.order[rank], r-rank) >= 0 {
				from, rank = g, r
			}
		}
	}
	return from, rank
}

func (e *entries) compare(a, b, ranks int) int { return cmp.Or(e.count[a]-e.count[b], b-a, ranks) }
