package schedule

import (
	"cmp"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/mincost"
)

// leastLoaded is the scheduler that chooses the chassis with the least load.
type leastLoaded struct{}

// masters gives each group the chassis with the fewest masters in the network. Among equals it takes the chassis that
// is first backup of the fewest, since gateways that fail over to a chassis add to its load; then the one with the
// fewest masters in all networks. Without these rules, finishing a plan that was carried out in part would give groups
// other masters, and would change first backups that were chosen for the old masters.
func (leastLoaded) masters(in *instance) {
	in.place(in.unhosted(), false, func(n int, total []int) []int {
		ties, unit := in.firstBackups(n), 1+slices.Max(append([]int{0}, total...))
		for c := range ties {
			ties[c] = ties[c]*unit + total[c]
		}
		return ties
	}, func(g *group, c int) { g.append(in, c) })
}

func (in *instance) totals(loads [][]int) []int {
	total := make([]int, len(in.chassis))
	for _, load := range loads {
		for c, l := range load {
			total[c] += l
		}
	}
	return total
}

func (in *instance) slots(network int, load []int) []int {
	all := slices.Clone(in.schedulable[network])
	for c, l := range load {
		if l > 0 {
			all = append(all, c)
		}
	}
	return all
}

func (in *instance) firstBackups(network int) []int {
	count := make([]int, len(in.chassis))
	for _, g := range in.groups {
		if g.in(network) && len(g.order) > 1 {
			count[g.order[1]]++
		}
	}
	return count
}

// backups chooses the first backup of each group such that the load is even if the master fails. If the group has all
// its candidates, it chooses among these. It chooses the other backups such that all chassis have equally many.
func (leastLoaded) backups(in *instance) {
	in.chooseFirstBackups(func(*group) bool { return true }, true)
	counts := make([][]int, len(in.networks))
	for n := range counts {
		counts[n] = make([]int, len(in.chassis))
	}
	for _, g := range in.groups {
		for _, c := range g.order {
			counts[g.weight[0].network][c]++
		}
	}
	for _, g := range in.groups {
		count := counts[g.weight[0].network]
		if len(g.order) == 0 {
			continue
		}
		fewer := func(a, b int) bool {
			return cmp.Or(btoi(g.serves(b))-btoi(g.serves(a)), count[a]-count[b]) < 0
		}
		for _, c := range smallest(g.class.schedulable, g.missing(), g.has, fewer) {
			g.append(in, c)
			count[c]++
		}
	}
}

// smallest returns the first n chassis in an order, except the ones to leave out. Of equals, the one listed first
// counts as smaller.
func smallest(chassis []int, n int, leaveOut func(int) bool, less func(a, b int) bool) []int {
	var all []int
	for _, c := range chassis {
		full := len(all) == n
		if n == 0 || full && !less(c, all[n-1]) || leaveOut(c) {
			continue
		}
		if full {
			all = all[:n-1]
		}
		at := len(all)
		for at > 0 && less(c, all[at-1]) {
			at--
		}
		all = slices.Insert(all, at, c)
	}
	return all
}

// firstBackupChoice chooses the first backups in one network. Each chassis failure is a choice of its own: it concerns
// only the gateways that the chassis hosts.
type firstBackupChoice struct {
	*instance
	network int
	// load is the number of gateways that each chassis hosts; firsts is how many have it as their first backup.
	load, firsts []int
	// concerns reports whether a group may get another first backup; complete reports whether groups with too few
	// candidates may get new ones.
	concerns func(*group) bool
	complete bool
}

// chooseFirstBackups changes as few first backups as possible.
func (in *instance) chooseFirstBackups(concerns func(*group) bool, complete bool) {
	loads, hosted := in.loads(), in.hosted()
	for n := range in.networks {
		choice := firstBackupChoice{in, n, loads[n], in.firstBackups(n), concerns, complete}
		for failed, groups := range hosted {
			choice.forFailureOf(failed, filter(groups, func(g *group) bool { return g.portsIn(n) > 0 }))
		}
	}
}

// hosted returns the groups of each master.
func (in *instance) hosted() [][]*group {
	all := make([][]*group, len(in.chassis))
	for _, g := range in.groups {
		if len(g.order) > 0 {
			all[g.order[0]] = append(all[g.order[0]], g)
		}
	}
	return all
}

// forFailureOf chooses for the groups of one chassis. Of equal backups it takes the one that is first backup of fewer
// groups, so that not all chassis depend on the same one.
func (f *firstBackupChoice) forFailureOf(failed int, groups []*group) {
	load := slices.Clone(f.load)
	var chosen []*group
	current := map[*class][]int{} // the first backups of groups that are free to get any
	for _, g := range groups {
		second := g.firstBackup()
		switch {
		case f.movable(g):
			chosen = append(chosen, g)
			if f.free(g) {
				current[g.class] = append(current[g.class], second)
			}
		case second != mincost.None:
			load[second] += g.portsIn(f.network)
		}
	}
	if len(chosen) == 0 {
		return
	}
	choices := map[*class][]int{}
	for k, current := range current {
		choices[k] = k.choices(len(chosen), failed, load, f.firsts, current)
	}
	var l jobList
	for _, g := range chosen {
		class := f.backupClass(g, &l, choices)
		l.add(g, l.currentBackup(g, class), class)
	}
	a := l.start(load, f.firsts, nil)
	a.Optimize()
	for i, g := range l.groups {
		if c := a.of(i); c != mincost.None && c != g.firstBackup() {
			f.set(g, c)
		}
	}
}

// currentBackup returns the first backup of a group, or mincost.None if the group exchanges that for a chassis that
// serves its external ports.
func (l *jobList) currentBackup(g *group, class int) int {
	current := g.firstBackup()
	if current != mincost.None && !g.serves(current) && class != mincost.None && g.serves(l.classes[class][0]) {
		return mincost.None
	}
	return current
}

func (f *firstBackupChoice) backupClass(g *group, l *jobList, choices map[*class][]int) int {
	if f.free(g) {
		return l.sharedClass(g.class, choices[g.class])
	}
	return l.class(g.class.serving(filter(g.order[1:], g.accepts)))
}

func (f *firstBackupChoice) movable(g *group) bool {
	return g.single() && !g.held && g.kept() == 1 && f.concerns(g) && (g.firstBackup() != mincost.None || f.complete)
}

func (f *firstBackupChoice) free(g *group) bool { return f.complete && g.missing() > 0 }

func (f *firstBackupChoice) set(g *group, c int) {
	f.firsts[c]++
	if old := g.firstBackup(); old != mincost.None {
		f.firsts[old]--
	}
	if !g.has(c) {
		g.append(f.instance, c)
		g.order = slices.Insert(g.order[:len(g.order)-1], 1, c)
		return
	}
	g.swapFirstBackup(f.instance, c)
}

func (g *group) swapFirstBackup(in *instance, c int) {
	at := slices.Index(g.order, c)
	g.order[1], g.order[at] = c, g.order[1]
	why := finding.Reason{Code: finding.BalancesFailure, Name: in.chassis[g.order[0]].Name}
	g.explain(in, why, c, g.order[at])
}

// choices returns the only chassis that matter to that many free gateways: the chassis they are on, and as many of the
// lightest ones as there are gateways. If a gateway went to any other chassis, one of these with no larger load would
// be left unused.
func (k *class) choices(gateways, failed int, load, ties, current []int) []int {
	never := func(int) bool { return false }
	all := smallest(k.serving(without(k.schedulable, failed)), gateways, never, func(a, b int) bool {
		return cmp.Or(cmp.Compare(load[a], load[b]), cmp.Compare(ties[a], ties[b])) < 0
	})
	for _, c := range current {
		if c != mincost.None && k.accepts[c] {
			all = append(all, c)
		}
	}
	slices.Sort(all)
	return k.serving(slices.Compact(all))
}
