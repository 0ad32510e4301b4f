package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// small returns a network of few chassis and gateways that all have candidates.
func small(r *rand.Rand) schedule.State {
	s := schedule.State{Chassis: pool("provnet1", "c0", "c1", "c2", "c3")[:2+r.IntN(3)]}
	for i := range r.IntN(7) {
		s.Groups = append(s.Groups, hosted(i, some(r, s)...))
	}
	return s
}

// severalPorts returns a cloud of two networks whose groups have up to that many ports.
func severalPorts(r *rand.Rand, chassisCount, groups, ports int) schedule.State {
	var s schedule.State
	for i := range chassisCount {
		s.Chassis = append(s.Chassis, chassis(fmt.Sprint("c", i), "physnet0", "physnet1"))
	}
	for i := range groups {
		g := schedule.Group{
			Name: fmt.Sprint("g", i), Storage: schedule.HAChassisGroup, Candidates: candidates(some(r, s)...),
		}
		for p := range 1 + r.IntN(ports) {
			g.Ports = append(g.Ports, schedule.Port{
				Name: fmt.Sprintf("g%d-%d", i, p), Router: fmt.Sprint("r", i), Network: fmt.Sprint("physnet", r.IntN(2)),
			})
		}
		s.Groups = append(s.Groups, g)
	}
	return s
}

// some returns some chassis, at least one, in any order.
func some(r *rand.Rand, s schedule.State) (names []string) {
	for _, c := range r.Perm(len(s.Chassis))[:1+r.IntN(len(s.Chassis))] {
		names = append(names, s.Chassis[c].Name)
	}
	return names
}

// either returns a small cloud, with groups of one port or of several.
func either(r *rand.Rand) schedule.State {
	if r.IntN(2) == 0 {
		return small(r)
	}
	return severalPorts(r, 3+r.IntN(2), 2+r.IntN(6), 3)
}

// lamed cordons some chassis, and makes some chassis other than c0 unresponsive.
func lamed(r *rand.Rand, s schedule.State) schedule.State {
	for i := range s.Chassis {
		s.Chassis[i].Unresponsive, s.Chassis[i].Cordoned = i > 0 && r.IntN(8) == 0, r.IntN(8) == 0
	}
	return s
}

// weighed has the load of each network and chassis.
type weighed map[[2]string]int

func (w weighed) add(g schedule.Group, chassis string, sign int) {
	for _, p := range g.Ports {
		w[[2]string{p.Network, chassis}] += sign
	}
}

func (w weighed) squares() (sum int) {
	for _, l := range w {
		sum += l * l
	}
	return sum
}

// evenest returns the least sum of squares of the loads, over all choices of one chassis for each group.
func evenest(load weighed, groups []schedule.Group, choices [][]string) int {
	if len(groups) == 0 {
		return load.squares()
	}
	best := -1
	for _, c := range choices[0] {
		load.add(groups[0], c, 1)
		if sum := evenest(load, groups[1:], choices[1:]); best < 0 || sum < best {
			best = sum
		}
		load.add(groups[0], c, -1)
	}
	return best
}

// afterFailure returns the sum of squares of the loads after a chassis fails, and the least sum that other first
// backups could make. free returns the first backups that a group may get; if there are none, the group keeps its own.
func afterFailure(s schedule.State, fails string, free func(group int, backups []string) []string) (got, least int) {
	is, load := weighed{}, weighed{}
	var groups []schedule.Group
	var choices [][]string
	for i, g := range s.Groups {
		names := g.Ranked()
		switch {
		case names[0] != fails:
			is.add(g, names[0], 1)
			load.add(g, names[0], 1)
			continue
		case len(names) == 1:
			continue // then no chassis hosts it
		}
		is.add(g, names[1], 1)
		if among := free(i, names[1:]); len(among) > 0 {
			groups, choices = append(groups, g), append(choices, among)
		} else {
			load.add(g, names[1], 1)
		}
	}
	return is.squares(), evenest(load, groups, choices)
}

// chosen returns the least sum of squares of a network's masters that is possible with that many moves to candidates,
// and the least number of moves for it.
func chosen(s schedule.State, network string, most int) (best, moves int) {
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
		g, ports := s.Groups[i], 0
		for _, p := range g.Ports {
			if p.Network == network {
				ports++
			}
		}
		for _, c := range g.Candidates {
			cost := 0
			if ports > 0 && c.Chassis != top(g.Candidates) {
				cost = 1
			}
			load[c.Chassis] += ports
			choose(i+1, moved+cost)
			load[c.Chassis] -= ports
		}
	}
	choose(0, 0)
	return best, moves
}

func squares(load map[string]int) (sum int) {
	for _, l := range load {
		sum += l * l
	}
	return sum
}

// G4: with the final masters and candidates, no other choice of first backups is more even after any failure.
func TestG4_first_backups_by_brute_force(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		s := small(rand.New(rand.NewPCG(seed, 5)))
		for _, p := range []schedule.Plan{
			schedule.Reschedule(s, schedule.Options{}),
			schedule.Rebalance(s, schedule.Options{}),
		} {
			if p.Operation == "rebalance" && p.Moves() == 0 {
				continue // it changes nothing
			}
			for _, c := range s.Chassis {
				got, least := afterFailure(applied(s, p), c.Name, func(_ int, backups []string) []string { return backups })
				require.Equal(t, least, got, "seed %d, %s, %s: %+v", seed, p.Operation, c.Name, s)
			}
		}
	}
}

// No other choice of masters among the candidates is more even, and no equally even one takes fewer moves. With a bound
// on moves, no choice within the bound is more even, if any of two chassis may host a gateway.
func TestG2G3_rebalance_by_brute_force(t *testing.T) {
	t.Parallel()
	for seed := range uint64(600) {
		s := small(rand.New(rand.NewPCG(seed, 6)))
		most := len(s.Groups)
		for bound := range most + 1 { // 0 means no bound
			p := schedule.Rebalance(s, schedule.Options{MaxMoves: bound})
			if bound > 0 {
				most = bound
			}
			sum, moves := chosen(s, "provnet1", most)
			require.Equal(t, sum, squares(masters(applied(s, p))), "seed %d, at most %d moves: %+v", seed, bound, s)
			require.Equal(t, moves, p.Moves(), "seed %d, at most %d moves: %+v", seed, bound, s)
		}
	}
}

// If a proof claims the fewest moves, brute force finds no fewer. Most plans have such a proof.
func TestG2G3_proofs_with_several_ports(t *testing.T) {
	t.Parallel()
	proved, even := 0, 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 9))
		s := severalPorts(r, 3, 2+r.IntN(5), 2)
		s.Groups[0].Ports[0].Active = top(s.Groups[0].Candidates)
		for _, b := range schedule.Rebalance(s, schedule.Options{}).Bounds {
			ports := 0
			for _, g := range s.Groups {
				for _, p := range g.Ports {
					ports += btoi(p.Network == b.Network)
				}
			}
			each, more := ports/3, ports%3
			best, moves := chosen(s, b.Network, len(s.Groups))
			isEven := best == more*(each+1)*(each+1)+(3-more)*each*each
			even += btoi(isEven)
			if b.Why.Code == finding.BoundFewestMoves || b.Why.Code == finding.BoundBalanced {
				proved++
				assert.LessOrEqual(t, b.Spread, 1, "seed %d: %v", seed, s)
				require.True(t, isEven && moves == b.Moves, "seed %d: %s of %v", seed, b.Proof, s)
			}
		}
	}
	assert.Greater(t, 100*proved, 75*even, "most are proved")
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// For the groups that a drain moves, no other choice of chassis is more even, with groups of several ports and
// unschedulable chassis.
func TestDrain_even_by_brute_force(t *testing.T) {
	t.Parallel()
	for seed := range uint64(800 * exploretest.Factor(t)) {
		r := rand.New(rand.NewPCG(seed, 11))
		s := lamed(r, either(r))
		after, _, p := drained(s, "c0")
		shut := func(name string) bool {
			c := byName(after)[name]
			return c.Cordoned || c.Unresponsive
		}
		var all []string
		for _, c := range after.Chassis {
			all = append(all, c.Name)
		}
		load, got := weighed{}, weighed{}
		var groups []schedule.Group
		var choices [][]string
		for i, g := range s.Groups {
			got.add(g, after.Groups[i].Ranked()[0], 1)
			names := g.Ranked()
			if names[0] != "c0" {
				load.add(g, names[0], 1)
				continue
			}
			among := slices.DeleteFunc(names, shut)
			if len(among) == 0 {
				among = slices.DeleteFunc(slices.Clone(all), shut)
			}
			if len(among) == 0 {
				among = []string{"c0"} // it stays
			}
			groups, choices = append(groups, g), append(choices, among)
		}
		require.Equal(t, evenest(load, groups, choices), got.squares(), "seed %d: %+v\n%s", seed, s, document.Plan(p))
	}
}

// After one more failure, no other first backups of the gateways that a drain has touched make the load more even.
func TestDrain_even_after_next_failure(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400 * exploretest.Factor(t)) {
		s := either(rand.New(rand.NewPCG(seed, 12)))
		after, _, p := drained(s, "c0")
		touched := func(group int, backups []string) []string {
			if at := slices.Index(s.Groups[group].Ranked(), "c0"); at != 0 && at != 1 {
				return nil
			}
			return slices.DeleteFunc(slices.Clone(backups), func(name string) bool { return name == "c0" })
		}
		for _, c := range s.Chassis[1:] {
			got, least := afterFailure(after, c.Name, touched)
			require.Equal(t, least, got, "seed %d: %s fails: %+v\n%s", seed, c.Name, s, document.Plan(p))
		}
	}
}
