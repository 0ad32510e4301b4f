package gateway

// drawn chooses at random: it gives a number from 0 to n-1.
type drawn func(n int) int

// shuffled are the numbers from 0 to n-1 in any order (Fisher and Yates).
func (d drawn) shuffled(n int) []int {
	all := make([]int, n)
	for i := range all {
		j := d(i + 1)
		all[i], all[j] = all[j], i
	}
	return all
}

func (d drawn) masters(w *scene) {
	for _, g := range w.unhosted() {
		g.append(w, g.kind.open[d(len(g.kind.open))])
	}
}

func (d drawn) backups(w *scene) {
	for _, g := range w.groups {
		for _, n := range d.shuffled(len(g.kind.open)) {
			if c := g.kind.open[n]; g.missing() > 0 && !g.has(c) {
				g.append(w, c)
			}
		}
	}
}

// shares replaces backups by chance, until each chassis that was added has its share.
func (d drawn) shares(w *scene, added []int) {
	for n := range w.networks {
		s := w.entries(n)
		for _, c := range added {
			for _, k := range d.shuffled(len(s.groups)) {
				g := s.groups[k]
				if s.count[c] >= s.share {
					break
				}
				var ranks []int
				for rank := g.kept(); rank < len(g.order); rank++ {
					if s.spares(g.order[rank], c) {
						ranks = append(ranks, rank)
					}
				}
				if len(ranks) > 0 && !g.has(c) && g.accepts(c) {
					s.swap(w, g, ranks[d(len(ranks))], c)
				}
			}
		}
	}
}
