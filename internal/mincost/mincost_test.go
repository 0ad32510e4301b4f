package mincost

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func squares(load []int) (sum int) {
	for _, l := range load {
		sum += l * l
	}
	return sum
}

// moved counts the jobs that have left their current slot.
func moved(p Problem, a *Assignment) (n int) {
	for i, j := range p.Jobs {
		if j.Current != None && j.Current != a.Slot(i) {
			n++
		}
	}
	return n
}

// brute tries every assignment. It returns the least sum of squares, and the least number of moves for it.
func brute(p Problem) (best, moves int) {
	load := slices.Clone(p.Loads)
	best = -1
	var assign func(i, moved int)
	assign = func(i, moved int) {
		if i == len(p.Jobs) {
			if sum := squares(load); best < 0 || sum < best || sum == best && moved < moves {
				best, moves = sum, moved
			}
			return
		}
		j := p.Jobs[i]
		var choices []int
		if j.Class != None {
			choices = slices.Clone(p.Classes[j.Class])
		}
		if j.Current != None && !slices.Contains(choices, j.Current) {
			choices = append(choices, j.Current)
		}
		if len(choices) == 0 {
			assign(i+1, moved)
		}
		for _, s := range choices {
			load[s]++
			cost := 0
			if j.Current != None && s != j.Current {
				cost = 1
			}
			assign(i+1, moved+cost)
			load[s]--
		}
	}
	assign(0, 0)
	return best, moves
}

// randomProblem returns a small problem; some jobs share their class, and some are immovable.
func randomProblem(r *rand.Rand) Problem {
	slots := 1 + r.IntN(5)
	p := Problem{Loads: make([]int, slots)}
	for i := range p.Loads {
		p.Loads[i] = r.IntN(3)
	}
	if r.IntN(2) == 0 {
		p.Ties = r.Perm(slots)
	}
	class := func() []int { return r.Perm(slots)[:1+r.IntN(slots)] }
	p.Classes = append(p.Classes, class())
	for range r.IntN(7) {
		j := Job{Current: r.IntN(slots+1) - 1}
		switch r.IntN(6) {
		case 0, 1, 2:
			j.Class = len(p.Classes)
			p.Classes = append(p.Classes, class())
		case 3:
			j.Class = None
		}
		p.Jobs = append(p.Jobs, j)
	}
	return p
}

// consistent checks the loads, and that each job is on a permitted slot.
func consistent(t *testing.T, p Problem, a *Assignment) {
	t.Helper()
	load := slices.Clone(p.Loads)
	for i, j := range p.Jobs {
		s := a.Slot(i)
		if s == None {
			require.Equal(t, Job{None, None}, j)
			continue
		}
		load[s]++
		require.True(t, s == j.Current || j.Class != None && slices.Contains(p.Classes[j.Class], s))
	}
	require.Equal(t, load, a.load)
}

// optimal compares an assignment with all possible ones.
func optimal(t *testing.T, p Problem) {
	t.Helper()
	sum, moves := brute(p)
	a := New(p)
	a.Optimize()
	consistent(t, p, a)
	require.Equal(t, sum, squares(a.load), "%+v -> %v", p, a.slot)
	require.Equal(t, moves, moved(p, a), "%+v -> %v", p, a.slot)
}

func TestOptimize_even_with_fewest_moves(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4000) {
		optimal(t, randomProblem(rand.New(rand.NewPCG(1, seed))))
	}
}

func FuzzOptimize(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, one, two uint64) {
		optimal(t, randomProblem(rand.New(rand.NewPCG(one, two))))
	})
}

// The lower bound is reached if each job may go everywhere.
func TestLowerBound_is_reached_without_restrictions(t *testing.T) {
	t.Parallel()
	assert.Zero(t, LowerBound(nil))
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(3, seed))
		slots := 1 + r.IntN(5)
		p := Problem{Loads: make([]int, slots), Classes: [][]int{r.Perm(slots)}}
		for range r.IntN(20) {
			p.Jobs = append(p.Jobs, Job{Current: r.IntN(slots)})
		}
		a := New(p)
		least := LowerBound(a.load)
		a.Optimize()
		require.LessOrEqual(t, slices.Max(a.load)-slices.Min(a.load), 1)
		require.Equal(t, least, moved(p, a), "%+v", p)
	}
}

func TestNew_ties_decide_between_equal_slots(t *testing.T) {
	t.Parallel()
	p := Problem{
		Loads: []int{0, 0, 0}, Ties: []int{2, 1, 1}, Classes: [][]int{{2, 0, 1}},
		Jobs: []Job{{None, 0}, {None, 0}},
	}
	a := New(p)
	assert.Equal(t, []int{1, 2}, []int{a.Slot(0), a.Slot(1)})
	p.Ties = nil
	a = New(p)
	assert.Equal(t, []int{0, 1}, []int{a.Slot(0), a.Slot(1)})
}

func TestOptimize_large_problem(t *testing.T) {
	t.Parallel()
	const slots, jobs = 250, 25000
	r := rand.New(rand.NewPCG(3, 4))
	p := Problem{Loads: make([]int, slots)}
	for n := range jobs {
		perm := r.Perm(slots)[:5]
		slices.Sort(perm) // the first slots have the largest loads
		p.Classes = append(p.Classes, perm[1:])
		p.Jobs = append(p.Jobs, Job{Current: perm[0], Class: n})
	}
	a := New(p)
	least := LowerBound(a.load)
	a.Optimize()
	assert.LessOrEqual(t, slices.Max(a.load)-slices.Min(a.load), 1)
	assert.GreaterOrEqual(t, moved(p, a), least)
	t.Logf("%d moves, at least %d", moved(p, a), least)
}
