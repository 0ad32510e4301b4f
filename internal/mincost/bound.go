package mincost

import "slices"

// isOptimal reports whether the assignment is known to be optimal without a search: all jobs are of one class, or the
// loads are within one of each other after the fewest possible moves.
func (a *Assignment) isOptimal() bool {
	return len(a.load) == 0 || a.oneClass() || slices.Max(a.load)-slices.Min(a.load) <= 1 && a.Moves() == a.LowerBound()
}

func (a *Assignment) oneClass() bool {
	class := None
	for _, j := range a.problem.Jobs {
		if class == None {
			class = j.Class
		}
		if j.Class != None && j.Class != class {
			return false
		}
	}
	return true
}

// LowerBound is the least number of moves after which the loads can be within one of each other, if each job may go
// everywhere.
func (a *Assignment) LowerBound() int {
	first := slices.Clone(a.load)
	for i, j := range a.problem.Jobs {
		if a.slot[i] != None {
			first[a.slot[i]]--
		}
		if j.Current != None {
			first[j.Current]++
		}
	}
	return lowerBound(first, sum(a.load))
}

// LowerBound is the least number of moves of one unit each after which loads can be within one of each other.
func LowerBound(loads []int) int { return lowerBound(loads, sum(loads)) }

// lowerBound is for slots with that total load, of which these loads are fixed at first: the excess over the larger of
// the two final loads has to move, and one from each slot with the larger one, if there are more of these than may keep
// it.
func lowerBound(first []int, total int) int {
	if len(first) == 0 {
		return 0
	}
	floor := total / len(first)
	moves, larger := 0, -total%len(first)
	for _, l := range first {
		if l > floor {
			moves += l - floor - 1
			larger++
		}
	}
	return moves + max(0, larger)
}

func sum(loads []int) (total int) {
	for _, l := range loads {
		total += l
	}
	return total
}
