package mincost

import "slices"

// weights are the cost of a unit of each part: the sum of the squares of the loads, and the number of moves.
type weights struct{ squares, moves int64 }

func (a *Assignment) lexicographic() weights { return weights{int64(len(a.problem.Jobs)) + 1, 1} }

// cycle is a list of slots: each gives a job to the next one, and the last one to the first. An open one goes through
// the sink: the first slot only gives, the last one only takes. Squares and moves are its changes of the two parts of
// the cost.
type cycle struct {
	slots          []int
	open           bool
	squares, moves int64
}

func (c cycle) edges() int {
	if c.open {
		return len(c.slots) - 1
	}
	return len(c.slots)
}

func (c cycle) edge(i int) (from, to int) { return c.slots[i], c.slots[(i+1)%len(c.slots)] }

// Optimize makes the loads as even as possible, with the fewest moves for that.
func (a *Assignment) Optimize() {
	a.greedyBalance()
	if a.isOptimal() {
		return
	}
	g := a.newResidualGraph()
	for {
		c, found := a.findNegativeCycle(g, a.lexicographic())
		if !found {
			return
		}
		a.cancel(g, c)
		if a.isOptimal() {
			return
		}
	}
}

// findNegativeCycle is the algorithm of Bellman and Ford from all slots at once, which looks for a cycle among the
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

// paths are the cheapest paths that were found: their costs, and the predecessor of each node.
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

// pass looks at each edge once, and reports whether a path is cheaper now.
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

// lastUnit is the share of a load's last unit in its square, nextUnit that of one more.
func lastUnit(load int) int64 { return int64(2*load - 1) }

func nextUnit(load int) int64 { return int64(2*load + 1) }

// predecessorCycle is a cycle in which each node is the predecessor of the next one; nil if there is none.
func predecessorCycle(pred []int) []int {
	seen := make([]int, len(pred)) // 0 not yet, otherwise 1 more than the node from which it was reached
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
	c := cycle{slots: nodes}
	if i := slices.Index(nodes, g.slots); i >= 0 {
		c.open = true
		c.slots = slices.Concat(nodes[i+1:], nodes[:i])
		first, last := c.slots[0], c.slots[len(c.slots)-1]
		c.squares = nextUnit(a.load[last]) - lastUnit(a.load[first])
	}
	for i := range c.edges() {
		from, to := c.edge(i)
		c.moves += int64(g.cost[from*g.slots+to])
	}
	return c
}

func (a *Assignment) cancel(g *residualGraph, c cycle) {
	jobs := make([]int, c.edges())
	for i := range jobs {
		from, to := c.edge(i)
		jobs[i] = int(g.job[from*g.slots+to])
	}
	for i, job := range jobs {
		_, to := c.edge(i)
		a.move(job, to)
	}
	for _, s := range c.slots {
		a.rebuildEdges(g, s)
	}
}
