package gateway

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// squares is the sum of the squares of the loads.
func squares(load []int) (sum int) {
	for _, l := range load {
		sum += l * l
	}
	return sum
}

// brute tries every seating, and returns the evenest with the fewest moves.
func brute(base []int, seats []seat) (best, moves int) {
	load := slices.Clone(base)
	best = -1
	var place func(i, moved int)
	place = func(i, moved int) {
		if i == len(seats) {
			if sum := squares(load); best < 0 || sum < best || sum == best && moved < moves {
				best, moves = sum, moved
			}
			return
		}
		s := seats[i]
		choices := slices.Clone(s.may)
		if s.home >= 0 && !slices.Contains(choices, s.home) {
			choices = append(choices, s.home)
		}
		for _, p := range choices {
			load[p]++
			cost := 0
			if s.home >= 0 && p != s.home {
				cost = 1
			}
			place(i+1, moved+cost)
			load[p]--
		}
	}
	place(0, 0)
	return best, moves
}

// randomTable is a small problem; some seats share their choices.
func randomTable(r *rand.Rand, places, seats int) (base []int, all []seat) {
	base = make([]int, places)
	for i := range base {
		base[i] = r.IntN(3)
	}
	many := r.Perm(places)[:1+r.IntN(places)]
	for range seats {
		s := seat{home: r.IntN(places+1) - 1}
		s.at = s.home
		if s.may = many; r.IntN(3) > 0 {
			s.may = r.Perm(places)[:1+r.IntN(places)]
		}
		all = append(all, s)
	}
	return base, all
}

func TestTableIsAsEvenAsCanBeWithTheFewestMoves(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 1000 {
		base, seats := randomTable(r, 2+r.IntN(4), r.IntN(7))
		best, moves := brute(base, seats)
		table := newTable(slices.Clone(base), nil, slices.Clone(seats))
		table.settle()
		require.Equal(t, best, squares(table.load), "%d: %v %+v", n, base, seats)
		require.Equal(t, moves, table.moves(), "%d: %v %+v -> %+v", n, base, seats, table.seats)
		load := slices.Clone(base)
		for i, s := range table.seats {
			load[s.at]++
			require.True(t, s.at == seats[i].home || slices.Contains(seats[i].may, s.at), "%d", n)
		}
		require.Equal(t, load, table.load)
	}
}

func TestLargeTableIsEvenInTheFewestMoves(t *testing.T) {
	t.Parallel()
	const places, n = 250, 25000
	r := rand.New(rand.NewPCG(3, 4))
	var seats []seat
	for range n {
		perm := r.Perm(places)[:5]
		slices.Sort(perm) // who is first has most
		seats = append(seats, seat{home: perm[0], at: perm[0], may: perm[1:]})
	}
	table := newTable(make([]int, places), nil, seats)
	begun := time.Now()
	table.settle()
	t.Logf("%v", time.Since(begun))
	assert.LessOrEqual(t, slices.Max(table.load)-slices.Min(table.load), 1)
	t.Logf("%d moves, at least %d", table.moves(), table.fewest())
}
