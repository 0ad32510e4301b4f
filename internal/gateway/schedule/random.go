package schedule

// randomScheduler chooses at random: it returns a number from 0 to n-1.
type randomScheduler func(n int) int

func (d randomScheduler) shuffled(n int) []int {
	all := make([]int, n)
	for i := range all {
		j := d(i + 1)
		all[i], all[j] = all[j], i
	}
	return all
}

func (d randomScheduler) masters(in *instance) {
	for _, g := range in.unhosted() {
		g.append(in, g.class.schedulable[d(len(g.class.schedulable))])
	}
}

func (d randomScheduler) backups(in *instance) {
	for _, g := range in.groups {
		for _, n := range d.shuffled(len(g.class.schedulable)) {
			if c := g.class.schedulable[n]; g.missing() > 0 && !g.has(c) {
				g.append(in, c)
			}
		}
	}
}

// shares replaces backups at random until each new chassis has its share.
func (d randomScheduler) shares(in *instance, added []int) {
	for n := range in.networks {
		e := in.entries(n)
		for _, c := range added {
			for _, k := range d.shuffled(len(e.groups)) {
				if e.count[c] < e.share {
					d.giveBackup(in, e, e.groups[k], c)
				}
			}
		}
	}
}

func (d randomScheduler) giveBackup(in *instance, e *entries, g *group, c int) {
	var ranks []int
	for rank := g.kept(); rank < len(g.order); rank++ {
		if e.spares(g.order[rank], c) {
			ranks = append(ranks, rank)
		}
	}
	if len(ranks) > 0 && !g.has(c) && g.takes(c) {
		e.replace(in, g, ranks[d(len(ranks))], c)
	}
}
