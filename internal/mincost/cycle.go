package mincost

import (
	"cmp"
	"slices"
)

// weights are the costs of a unit of each part: of the sum of the squares of the loads, and of the number of moves.
type weights struct{ squares, moves int64 }

func (a *Assignment) lexicographic() weights { return weights{int64(len(a.problem.Jobs)) + 1, 1} }

// edge is the move of a job from one slot to another.
type edge struct{ from, to int }

// cycle has the edges of a cycle, except the edges through the sink. squares and moves are the changes that the cycle
// makes to the two parts of the cost.
type cycle struct {
	edges          []edge
	squares, moves int64
}

// Optimize makes the loads as even as possible, with the fewest moves that achieve it.
func (a *Assignment) Optimize() {
	a.greedyBalance()
	g := a.newResidualGraph()
	for {
		c, found := a.findNegativeCycle(g, a.lexicographic())
		if !found {
			return
		}
		a.cancel(g, c)
	}
}

// findNegativeCycle runs the algorithm of Bellman and Ford from all slots at once. It looks for a cycle among the
// predecessors after each pass (Cherkassky, Goldberg: Negative-cycle detection algorithms, Mathematical Programming 85,
// 1999). The node after the slots is the sink: an edge to it adds a unit to a slot, an edge from it removes one.
func (a *Assignment) findNegativeCycle(g *residualGraph, w weights) (cycle, bool) {
	p := paths{dist: make([]int64, g.slots+1), pred: make([]int, g.slots+1)}
	for i := range p.pred {
		p.pred[i] = None
	}
	for {
		if !a.pass(g, w, &p) {
			return cycle{}, false
		}
		if nodes := predecessorCycle(p.pred); nodes != nil {
			return a.newCycle(g, nodes), true
		}
	}
}

// paths has the cheapest paths that were found: their costs, and the predecessor of each node.
type paths struct {
	dist    []int64
	pred    []int
	changed bool
}

func (p *paths) relax(from, to int, cost int64) {
	if p.dist[from]+cost < p.dist[to] {
		p.dist[to], p.pred[to], p.changed = p.dist[from]+cost, from, true
	}
}

// pass looks at each edge once, and reports whether a path has become cheaper.
func (a *Assignment) pass(g *residualGraph, w weights, p *paths) bool {
	sink := g.slots
	p.changed = false
	for s, load := range a.load {
		if len(g.next[s]) > 0 {
			p.relax(sink, s, -w.squares*lastUnit(load))
		}
	}
	for s := range a.load {
		for _, t := range g.next[s] {
			p.relax(s, t, w.moves*int64(g.cost[s*g.slots+t]))
		}
	}
	for s, load := range a.load {
		p.relax(s, sink, w.squares*nextUnit(load))
	}
	return p.changed
}

// lastUnit is the part of a load's square that its last unit contributes; nextUnit is the part that one more unit
// would.
func lastUnit(load int) int64 { return int64(2*load - 1) }

func nextUnit(load int) int64 { return int64(2*load + 1) }

// predecessorCycle returns a cycle in which each node is the predecessor of the next one, or nil if there is none.
func predecessorCycle(pred []int) []int {
	seen := make([]int, len(pred)) // 0: not yet; otherwise 1 + the node from which it was reached
	for start := range pred {
		v := start
		for v != None && seen[v] == 0 {
			seen[v] = start + 1
			v = pred[v]
		}
		if v == None || seen[v] != start+1 {
			continue
		}
		nodes := []int{v}
		for u := pred[v]; u != v; u = pred[u] {
			nodes = append(nodes, u)
		}
		slices.Reverse(nodes)
		return nodes
	}
	return nil
}

func (a *Assignment) newCycle(g *residualGraph, nodes []int) cycle {
	var c cycle
	for i, from := range nodes {
		switch to := nodes[(i+1)%len(nodes)]; g.slots {
		case from:
			c.squares -= lastUnit(a.load[to])
		case to:
			c.squares += nextUnit(a.load[from])
		default:
			c.edges = append(c.edges, edge{from, to})
			c.moves += int64(g.cost[from*g.slots+to])
		}
	}
	return c
}

func (a *Assignment) cancel(g *residualGraph, c cycle) {
	for _, e := range c.edges {
		a.move(int(g.job[e.from*g.slots+e.to]), e.to)
	}
	for _, e := range c.edges {
		a.rebuildEdges(g, e.from)
		a.rebuildEdges(g, e.to)
	}
}

// OptimizeWithBudget makes the loads as even as that many moves permit. It starts with the cycles that gain most per
// move.
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

// bestRatio returns the cycle that improves evenness most per move. It uses Dinkelbach's method (On nonlinear
// fractional programming, Management Science 13, 1967): it starts with any cycle; a better cycle is a negative cycle
// under weights that make this one worth 0.
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

// bestEdge returns the single move that improves evenness most.
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
