package mincost

const absent = 2

// residualGraph has an edge from one slot to another if a job on the first may go to the second. The edge represents
// the cheapest such job. Its cost is 1 if the job leaves its current slot, -1 if it returns to it, and 0 otherwise.
type residualGraph struct {
	slots int
	// cost and job have the values of the edge from s to t at s*slots+t; next has the targets of each slot's edges.
	cost []int8
	job  []int32
	next [][]int
}

func (a *Assignment) newResidualGraph() *residualGraph {
	n := len(a.load)
	g := &residualGraph{slots: n, cost: make([]int8, n*n), job: make([]int32, n*n), next: make([][]int, n)}
	for e := range g.cost {
		g.cost[e] = absent
	}
	for s := range n {
		a.rebuildEdges(g, s)
	}
	return g
}

// rebuildEdges rebuilds the edges from a slot. Besides the jobs that return to their current slots, the cheapest job
// of each class is enough.
func (a *Assignment) rebuildEdges(g *residualGraph, from int) {
	for _, to := range g.next[from] {
		g.cost[from*g.slots+to] = absent
	}
	g.next[from] = g.next[from][:0]
	a.visit++
	for _, away := range []bool{true, false} {
		for _, job := range a.at[from] {
			if (a.problem.Jobs[job].Current != from) == away {
				a.addEdges(g, from, job)
			}
		}
	}
}

// addEdges adds the edges of a job: to its current slot and, unless its class was already visited, to the slots of its
// class.
func (a *Assignment) addEdges(g *residualGraph, from, job int) {
	j := a.problem.Jobs[job]
	if j.Current != from && j.Current != None {
		g.add(from, j.Current, -1, job)
	}
	if j.Class == None || a.visited[j.Class] == a.visit {
		return
	}
	a.visited[j.Class] = a.visit
	for _, to := range a.problem.Classes[j.Class] {
		g.add(from, to, j.cost(from, to), job)
	}
}

func (g *residualGraph) add(from, to int, cost int8, job int) {
	e := from*g.slots + to
	if from == to || g.cost[e] <= cost {
		return
	}
	if g.cost[e] == absent {
		g.next[from] = append(g.next[from], to)
	}
	g.cost[e], g.job[e] = cost, int32(job)
}

// cost returns the change in the number of moves if the job goes from one slot to another.
func (j Job) cost(from, to int) int8 {
	switch j.Current {
	case None:
		return 0
	case to:
		return -1
	case from:
		return 1
	}
	return 0
}
