package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// failures are the loads after the failure of each chassis of provnet1, squared and summed for each.
func failures(s schedule.State) map[string]int {
	sums := map[string]int{}
	for _, failed := range s.Chassis {
		load := map[string]int{}
		for _, c := range s.Chassis {
			load[c.Name] = 0
		}
		for _, g := range s.Groups {
			left := slices.DeleteFunc(slices.Clone(g.Candidates),
				func(c schedule.Candidate) bool { return c.Chassis == failed.Name })
			if len(left) > 0 {
				load[top(left)]++
			}
		}
		sums[failed.Name] = squares(load)
	}
	return sums
}

// G4 against brute force: with the masters and the candidates that there are in the end, no other choice of first
// backups is evener for any failure.
func TestG4_first_backups_by_brute_force(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		s := small(r)
		for _, p := range []schedule.Plan{
			schedule.Reschedule(s, schedule.Options{}),
			schedule.Rebalance(s, schedule.Options{}),
		} {
			if p.Operation == "rebalance" && p.Moves() == 0 {
				continue // it leaves all as it is
			}
			after := applied(s, p)
			for name, sum := range failures(after) {
				require.Equal(t, evenest(after, name), sum, "seed %d, %s, %s: %+v", seed, p.Operation, name, s)
			}
		}
	}
}

// small is a network of few chassis and gateways that all have candidates.
func small(r *rand.Rand) schedule.State {
	var s schedule.State
	n := 2 + r.IntN(3)
	for i := range n {
		s.Chassis = append(s.Chassis, chassis(fmt.Sprintf("c%d", i), "provnet1"))
	}
	for i := range r.IntN(7) {
		var names []string
		for _, c := range r.Perm(n)[:1+r.IntN(n)] {
			names = append(names, s.Chassis[c].Name)
		}
		s.Groups = append(s.Groups, hosted(i, names...))
	}
	return s
}

// evenest is the least sum of squares after a failure, over all choices of first backups among the candidates.
func evenest(s schedule.State, failed string) int {
	load := map[string]int{}
	var choices [][]string
	for _, g := range s.Groups {
		if master := top(g.Candidates); master != failed {
			load[master]++
			continue
		}
		var others []string
		for _, c := range g.Candidates {
			if c.Chassis != failed {
				others = append(others, c.Chassis)
			}
		}
		if len(others) > 0 {
			choices = append(choices, others)
		}
	}
	return fewest(load, choices)
}

// fewest is the least sum of squares of the loads, over all choices of one chassis each that is loaded besides.
func fewest(load map[string]int, choices [][]string) int {
	if len(choices) == 0 {
		return squares(load)
	}
	best := -1
	for _, c := range choices[0] {
		load[c]++
		if sum := fewest(load, choices[1:]); best < 0 || sum < best {
			best = sum
		}
		load[c]--
	}
	return best
}

func squares(load map[string]int) (sum int) {
	for _, l := range load {
		sum += l * l
	}
	return sum
}

// No choice of masters among the candidates is evener, and none as even takes fewer moves; with a bound, none of so few
// moves is evener if any of two chassis may host a gateway.
func TestG2G3_rebalance_by_brute_force(t *testing.T) {
	t.Parallel()
	for seed := range uint64(600) {
		s := small(rand.New(rand.NewPCG(seed, 6)))
		p := schedule.Rebalance(s, schedule.Options{})
		sum, moves := chosen(s, len(s.Groups))
		got := spreadOf(applied(s, p))
		require.Equal(t, sum, got, "seed %d: %+v", seed, s)
		require.Equal(t, moves, p.Moves(), "seed %d: %+v", seed, s)
		for most := 1; most < moves; most++ {
			p := schedule.Rebalance(s, schedule.Options{MaxMoves: most})
			assert.LessOrEqual(t, p.Moves(), most)
			sum, _ := chosen(s, most)
			require.Equal(t, sum, spreadOf(applied(s, p)), "seed %d, at most %d moves: %+v", seed, most, s)
		}
	}
}

// spreadOf is the sum of the squares of the masters.
func spreadOf(s schedule.State) (sum int) {
	load := map[string]int{}
	for _, g := range s.Groups {
		load[top(g.Candidates)]++
	}
	return squares(load)
}

// chosen is the least sum of squares that at most some moves can bring about, and the least number of moves for it.
func chosen(s schedule.State, most int) (best, moves int) {
	load := map[string]int{}
	best = -1
	var choose func(i, moved int)
	choose = func(i, moved int) {
		if moved > most {
			return
		}
		if i == len(s.Groups) {
			sum := squares(load)
			if best < 0 || sum < best || sum == best && moved < moves {
				best, moves = sum, moved
			}
			return
		}
		g := s.Groups[i]
		for _, c := range g.Candidates {
			cost := 0
			if c.Chassis != top(g.Candidates) {
				cost = 1
			}
			load[c.Chassis]++
			choose(i+1, moved+cost)
			load[c.Chassis]--
		}
	}
	choose(0, 0)
	return best, moves
}
