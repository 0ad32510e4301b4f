package mincost

import "cmp"

// OptimizeWithBudget makes the loads as even as that many moves can, starting with the cycles that gain most per move.
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

// bestRatio is the cycle that improves evenness most per move, by Dinkelbach's method (On nonlinear fractional
// programming, Management Science 13, 1967): start with any cycle; a better one is a negative cycle under weights that
// make this one worth 0.
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

// bestEdge is the single move that improves evenness most.
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
