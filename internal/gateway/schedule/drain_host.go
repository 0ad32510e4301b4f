package schedule

import (
	"cmp"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/mincost"
)

// hostAll finds other chassis for groups such that the load gets as even as is found; for groups of one port alone that
// is exact. A group carries nothing until it is placed.
func (d *draining) hostAll(groups []*group, rank map[*group]int) {
	e := evening{loads: d.loads(), singles: make([]jobList, len(d.networks))}
	var several []*group
	for _, g := range groups {
		unload(e.loads, g)
		if g.single() {
			l := &e.singles[g.weight[0].network]
			l.add(g, mincost.None, l.class(g.open()))
		} else {
			several = append(several, g)
		}
	}
	for _, g := range several {
		c := choice{group: g, among: g.open()}
		c.at = slices.MinFunc(c.among, func(a, b int) int {
			return cmp.Or(cmp.Compare(g.carried(e.loads, a), g.carried(e.loads, b)), cmp.Compare(a, b))
		})
		put(e.loads, g, c.at, 1)
		e.several = append(e.several, c)
	}
	e.search()
	for _, c := range e.several {
		d.host(c.group, rank[c.group], c.at)
	}
	for n, l := range e.singles {
		loads := d.loads()
		for _, g := range l.groups {
			unload(loads, g)
		}
		a := l.start(loads[n], d.totals(loads), d.slots(n, loads[n]))
		a.Optimize()
		for i, g := range l.groups {
			d.host(g, rank[g], a.of(i))
		}
	}
}

func unload(loads [][]int, g *group) {
	if len(g.order) > 0 {
		put(loads, g, g.order[0], -1)
	}
}

// open are the chassis that may take the group over: its schedulable candidates, or else any schedulable chassis.
func (g *group) open() []int {
	if some := slices.DeleteFunc(slices.Clone(g.order), func(c int) bool { return !g.accepts(c) }); len(some) > 0 {
		return some
	}
	return g.class.schedulable
}

func (d *draining) host(g *group, r, c int) {
	g.order = slices.DeleteFunc(slices.Clone(g.order), func(x int) bool { return x == c })
	if len(g.order) >= MaxCandidates-1 && !slices.Contains(g.was, c) {
		dropped := g.order[len(g.order)-1]
		g.reasons[d.instance.chassis[dropped].Name] = "it is unschedulable, and a gateway has no more than five candidates"
		g.order = g.order[:len(g.order)-1]
	}
	g.order = slices.Insert(g.order, min(r, len(g.order)), c)
	g.reasons[d.instance.chassis[c].Name] = "takes over from " + d.chassis
}

// chooseBackupsOfSeveral chooses first backups for the groups of several ports, such that the load is as even as is
// found whichever chassis fails.
func (d *draining) chooseBackupsOfSeveral() {
	hosted := make([][]*group, len(d.instance.chassis))
	concerned := make([]bool, len(hosted))
	for _, g := range d.groups {
		if len(g.order) > 1 {
			hosted[g.order[0]] = append(hosted[g.order[0]], g)
			concerned[g.order[0]] = concerned[g.order[0]] || d.touched[g] && !g.single()
		}
	}
	for failed, groups := range hosted {
		if concerned[failed] {
			d.forFailureOf(groups)
		}
	}
}

func (d *draining) forFailureOf(groups []*group) {
	e := evening{loads: d.loads(), singles: make([]jobList, len(d.networks))}
	for _, g := range groups {
		open := slices.DeleteFunc(slices.Clone(g.order[1:]), func(c int) bool { return !g.accepts(c) })
		n := g.weight[0].network
		switch free := d.touched[g] && g.kept() == 1 && len(open) > 0; {
		case free && g.single():
			e.singles[n].add(g, g.firstBackup(), e.singles[n].class(open))
		case free:
			e.several = append(e.several, choice{g, open, g.firstBackup()})
			fallthrough
		default:
			put(e.loads, g, g.firstBackup(), 1)
		}
	}
	e.search()
	for _, c := range e.several {
		if c.at != c.group.firstBackup() {
			c.group.swapFirstBackup(d.instance, c.at)
		}
	}
}
