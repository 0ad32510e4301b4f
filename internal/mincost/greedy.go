package mincost

import "slices"

// greedyBalance moves jobs from the slot with the largest load to the lightest permitted slot, as long as that makes
// the loads more even. If all jobs are of one class this is optimal: no chain of moves changes more than the loads of
// its two ends.
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

// bestMove is a slot's job that may go to the lightest other slot; of several, the latest arrival.
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
