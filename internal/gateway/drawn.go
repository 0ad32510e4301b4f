package gateway

import "math/rand/v2"

// drawn chooses at random.
type drawn struct{ rand *rand.Rand }

func (d drawn) masters(w *scene) {
	for _, g := range w.unhosted() {
		g.append(w, g.kind.open[d.rand.IntN(len(g.kind.open))])
	}
}

func (d drawn) backups(w *scene) {
	for _, g := range w.groups {
		for _, n := range d.rand.Perm(len(g.kind.open)) {
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
			for _, k := range d.rand.Perm(len(s.groups)) {
				g := s.groups[k]
				if s.count[c] >= s.share {
					break
				}
				if len(g.order) < 2 || g.has(c) || !g.accepts(c) {
					continue
				}
				s.swap(w, g, 1+d.rand.IntN(len(g.order)-1), c)
			}
		}
	}
}
