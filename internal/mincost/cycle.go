package mincost

import "slices"

// edge is the move of a job from one slot to another.
type edge struct{ from, to int }

// Optimize makes the loads as even as possible, with the fewest moves that achieve it.
func (a *Assignment) Optimize() {
	a.greedyBalance()
	g := a.newResidualGraph()
	for {
		cycle := a.findNegativeCycle(g)
		if cycle == nil {
			return
		}
		a.cancel(g, cycle)
	}
}

// findNegativeCycle runs the algorithm of Bellman and Ford from all slots at once. It looks for a cycle among the
// predecessors after each pass (Cherkassky, Goldberg: Negative-cycle detection algorithms, Mathematical Programming 85,
// 1999). The node after the slots is the sink: an edge to it adds a unit to a slot, an edge from it removes one.
// It returns the edges of the cycle, except the edges through the sink, or nil if there is no cycle.
func (a *Assignment) findNegativeCycle(g *residualGraph) []edge {
	p := paths{dist: make([]int64, g.slots+1), pred: make([]int, g.slots+1)}
	for i := range p.pred {
		p.pred[i] = None
	}
	for {
		if !a.pass(g, &p) {
			return nil
		}
		if nodes := predecessorCycle(p.pred); nodes != nil {
			return g.edges(nodes)
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

// pass looks at each edge once, and reports whether a path has become cheaper. Evenness comes first: no number of moves
// costs as much as one unit of the sum of squares.
func (a *Assignment) pass(g *residualGraph, p *paths) bool {
	sink, unit := g.slots, int64(len(a.problem.Jobs))+1
	p.changed = false
	for s, load := range a.load {
		if len(g.next[s]) > 0 {
			p.relax(sink, s, -unit*lastUnit(load))
		}
	}
	for s := range a.load {
		for _, t := range g.next[s] {
			p.relax(s, t, int64(g.cost[s*g.slots+t]))
		}
	}
	for s, load := range a.load {
		p.relax(s, sink, unit*nextUnit(load))
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

func (g *residualGraph) edges(nodes []int) (all []edge) {
	for i, from := range nodes {
		if to := nodes[(i+1)%len(nodes)]; from != g.slots && to != g.slots {
			all = append(all, edge{from, to})
		}
	}
	return all
}

func (a *Assignment) cancel(g *residualGraph, cycle []edge) {
	for _, e := range cycle {
		a.move(int(g.job[e.from*g.slots+e.to]), e.to)
	}
	for _, e := range cycle {
		a.rebuildEdges(g, e.from)
		a.rebuildEdges(g, e.to)
	}
}
