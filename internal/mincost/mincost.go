// Package mincost assigns jobs to slots: as evenly as possible, with the fewest jobs that leave their current slot.
//
// Even means the least sum of the squares of the slots' loads. Such an assignment is also the best for every other
// convex measure of evenness, including the largest load: it is an optimal semi-matching (Harvey, Ladner, Lovász,
// Tamir: Semi-matchings for bipartite graphs and load balancing, Journal of Algorithms 59, 2006).
//
// The problem is a flow of least cost. Each job sends one unit to one of its slots, at cost 1 if that is a move and 0
// otherwise. The first unit from a slot to the sink costs 1, the next ones 3, 5, 7 and so on, which adds up to the
// square of the slot's load. The algorithm is Klein's cycle cancelling (A primal method for minimal cost flows,
// Management Science 14, 1967; Ahuja, Magnanti, Orlin: Network Flows, 1993, section 9.6). It begins with any
// assignment, and changes it along a cycle of negative cost in its residual graph until there is no such cycle. An
// assignment has the least cost exactly if there is no such cycle (ibid., theorem 9.1). A greedy balance makes the
// first assignment, and does most of the work.
//
// The package is pure: the same problem always has the same assignment.
package mincost

import "slices"

// None is the slot of an unassigned job, and the class of a job that can't be moved.
const None = -1

// Problem is the input of an assignment. Slots are numbered from 0.
type Problem struct {
	// Loads is the load of each slot apart from the jobs.
	Loads []int
	// Ties decides between slots of equal load: the smaller value comes first. If Ties is nil or equal too, the smaller
	// slot number does.
	Ties []int
	// Classes are sets of slots, none of them empty.
	Classes [][]int
	Jobs    []Job
}

// Job is one unit of load.
type Job struct {
	// Current is the job's first slot, or [None]. Neither leaving None nor returning to Current is a move, and returning
	// is always permitted.
	Current int
	// Class is the index of the job's permitted slots, or [None].
	Class int
}

// Assignment is an assignment of jobs to slots.
type Assignment struct {
	problem Problem
	load    []int
	// slot is the slot of each job; at has the jobs of each slot, in order of arrival.
	slot []int
	at   [][]int
	// visited is the last visit that has seen each class.
	visited []int
	visit   int
}

// New puts each job on its current slot, and then each remaining job on the lightest slot of its class.
func New(p Problem) *Assignment {
	a := &Assignment{
		problem: p, load: slices.Clone(p.Loads), slot: make([]int, len(p.Jobs)),
		at: make([][]int, len(p.Loads)), visited: make([]int, len(p.Classes)),
	}
	for i, j := range p.Jobs {
		a.slot[i] = None
		if j.Current != None {
			a.put(i, j.Current)
		}
	}
	for i, j := range p.Jobs {
		if j.Current == None && j.Class != None {
			a.put(i, a.lightest(p.Classes[j.Class], None))
		}
	}
	return a
}

// Slot returns a job's slot, or [None].
func (a *Assignment) Slot(job int) int { return a.slot[job] }

func (a *Assignment) put(job, slot int) {
	a.slot[job] = slot
	a.at[slot] = append(a.at[slot], job)
	a.load[slot]++
}

func (a *Assignment) move(job, to int) {
	from := a.slot[job]
	i := slices.Index(a.at[from], job)
	a.at[from] = slices.Delete(a.at[from], i, i+1)
	a.load[from]--
	a.put(job, to)
}

func (a *Assignment) lighter(s, t int) bool {
	ties := a.problem.Ties
	switch {
	case a.load[s] != a.load[t]:
		return a.load[s] < a.load[t]
	case ties != nil && ties[s] != ties[t]:
		return ties[s] < ties[t]
	}
	return s < t
}

// lightest returns the slot with the least load, except but. It returns [None] if there is no other.
func (a *Assignment) lightest(slots []int, but int) int {
	best := None
	for _, s := range slots {
		if s != but && (best == None || a.lighter(s, best)) {
			best = s
		}
	}
	return best
}

// greedyBalance moves jobs from the slot with the largest load to the lightest permitted slot, as long as that makes
// the loads more even. If all jobs have the same class, the result is optimal: a chain of moves changes only the
// loads of its two ends.
func (a *Assignment) greedyBalance() {
	stuck := make([]bool, len(a.load))
	for {
		from := None
		for s, load := range a.load {
			if !stuck[s] && len(a.at[s]) > 0 && (from == None || load >= a.load[from]) {
				from = s
			}
		}
		if from == None {
			return
		}
		job, to := a.bestMove(from)
		if to == None || a.load[from]-a.load[to] < 2 {
			stuck[from] = true
			continue
		}
		a.move(job, to)
		stuck[to] = false
	}
}

// bestMove returns the job of a slot that may go to the lightest other slot, and that slot. Of several jobs it returns
// the latest arrival.
func (a *Assignment) bestMove(from int) (job, to int) {
	job, to = None, None
	a.visit++
	for _, i := range slices.Backward(a.at[from]) {
		class := a.problem.Jobs[i].Class
		if class == None || a.visited[class] == a.visit {
			continue
		}
		a.visited[class] = a.visit
		s := a.lightest(a.problem.Classes[class], from)
		if s != None && (to == None || a.lighter(s, to)) {
			job, to = i, s
		}
	}
	return job, to
}

// LowerBound returns the least number of moves, of one unit each, after which the loads can be within one of each
// other. In the end each slot has one of two loads. The part of a load above the larger of the two has to move. If more
// slots have at least the larger load than may keep it, one more unit has to move from each excess slot.
func LowerBound(loads []int) int {
	if len(loads) == 0 {
		return 0
	}
	total := 0
	for _, l := range loads {
		total += l
	}
	floor := total / len(loads)
	moves, larger := 0, -total%len(loads)
	for _, l := range loads {
		if l > floor {
			moves += l - floor - 1
			larger++
		}
	}
	return moves + max(0, larger)
}
