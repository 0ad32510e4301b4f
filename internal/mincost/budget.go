package mincost

import "cmp"

// OptimizeWithBudget makes the loads as even as so many moves can: of the cycles, those come
// first that bring most for each move.
func (a *Assignment) OptimizeWithBudget(moves int) {
	g := a.newResidualGraph()
	for left := moves; left > 0; left = moves - a.Moves() {
		c, found := a.findNegativeCycle(g, a.lexicographic())
		if !found {
			return
		}
		c = a.bestRatio(g, c)
		if c.moves > int64(left) {
			c, found = a.bestEdge(g)
			if !found {
				return
			}
		}
		a.cancel(g, c)
	}
}

// bestRatio is the cycle that makes the loads most even for each move, to begin with any:
// by Dinkelbach's method (On nonlinear fractional programming, Management Science 13, 1967),
// in which a better one is a negative cycle by weights that make this one worth nothing.
func (a *Assignment) bestRatio(g *residualGraph, c cycle) cycle {
	for c.moves > 0 {
		better, found := a.findNegativeCycle(g, weights{c.moves, -c.squares})
		if !found || better.squares*c.moves >= c.squares*better.moves {
			break
		}
		c = better
	}
	return c
}

// bestEdge is the single move that makes the loads most even.
func (a *Assignment) bestEdge(g *residualGraph) (best cycle, found bool) {
	for from := range a.load {
		for _, to := range g.next[from] {
			if a.load[from]-a.load[to] < 2 {
				continue
			}
			c := a.newCycle(g, []int{g.slots, from, to})
			if !found || cmp.Or(cmp.Compare(c.squares, best.squares), cmp.Compare(c.moves, best.moves)) < 0 {
				best, found = c, true
			}
		}
	}
	return best, found
}
