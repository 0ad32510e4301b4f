package gateway_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
)

// scenes is how many random states each property is tried on.
const scenes = 800

// anyState is a cloud of a few chassis, networks and zones, in which not all is as it
// should be.
func anyState(r *rand.Rand) gateway.State {
	var s gateway.State
	networks := []string{"physnet0", "physnet1", "physnet2"}[:1+r.IntN(3)]
	zones := []string{"az0", "az1"}
	for i := range 1 + r.IntN(9) {
		c := gateway.Chassis{Name: fmt.Sprintf("c%d", i), Gateway: r.IntN(8) > 0, Silent: r.IntN(9) == 0, Cordoned: r.IntN(9) == 0, Remote: r.IntN(20) == 0}
		for _, n := range networks {
			if r.IntN(4) > 0 {
				c.Networks = append(c.Networks, n)
			}
		}
		for _, z := range zones {
			if r.IntN(2) > 0 {
				c.Zones = append(c.Zones, z)
			}
		}
		s.Chassis = append(s.Chassis, c)
	}
	for i := range r.IntN(30) {
		g := gateway.Group{Name: fmt.Sprintf("g%02d", i), Storage: gateway.GatewayChassis}
		for p := range 1 + r.IntN(6)/5*2 {
			g.Ports = append(g.Ports, gateway.Port{Name: fmt.Sprintf("g%02d-%d", i, p), Network: networks[r.IntN(len(networks))]})
		}
		if r.IntN(4) == 0 {
			g.Zones = append(g.Zones, zones[r.IntN(2)])
		}
		top := r.IntN(3) * 10
		for k, c := range r.Perm(len(s.Chassis) + 1)[:r.IntN(min(6, len(s.Chassis)+2))] {
			g.Candidates = append(g.Candidates, gateway.Candidate{Chassis: fmt.Sprintf("c%d", c), Priority: top + 5 - k})
		}
		s.Groups = append(s.Groups, g)
	}
	return s
}

// each tries a property on many states.
func each(t *testing.T, property func(t *testing.T, r *rand.Rand, s gateway.State)) {
	t.Helper()
	t.Parallel()
	for seed := range uint64(scenes) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := anyState(r)
		property(t, r, s)
		if t.Failed() {
			t.Fatalf("seed %d: %+v", seed, s)
		}
	}
}

func byName(s gateway.State) map[string]gateway.Chassis {
	all := map[string]gateway.Chassis{}
	for _, c := range s.Chassis {
		all[c.Name] = c
	}
	return all
}

// mayHost is the rule of Neutron, written once more.
func mayHost(c gateway.Chassis, g gateway.Group) bool {
	for _, p := range g.Ports {
		if !slices.Contains(c.Networks, p.Network) {
			return false
		}
	}
	zone := len(g.Zones) == 0
	for _, z := range g.Zones {
		zone = zone || slices.Contains(c.Zones, z)
	}
	return c.Name != "" && c.Gateway && !c.Remote && zone
}

func top(candidates []gateway.Candidate) string {
	best := gateway.Candidate{Priority: -1}
	for _, c := range candidates {
		if c.Priority > best.Priority || c.Priority == best.Priority && c.Chassis > best.Chassis {
			best = c
		}
	}
	return best.Chassis
}

func TestG1RescheduleNeverChangesAMasterThatMayStay(t *testing.T) {
	for _, scheduler := range []gateway.Scheduler{gateway.LeastLoaded, gateway.Random} {
		t.Run(string(scheduler), func(t *testing.T) {
			each(t, func(t *testing.T, _ *rand.Rand, s gateway.State) {
				chassis := byName(s)
				after := applied(s, gateway.Reschedule(s, gateway.Options{Scheduler: scheduler}))
				for i, g := range s.Groups {
					if master := top(g.Candidates); mayHost(chassis[master], g) {
						assert.Equal(t, master, top(after.Groups[i].Candidates), g.Name)
					}
				}
			})
		})
	}
}

// No group falls below five candidates, or as many as it can have, and none is hosted
// where it may not be.
func TestRescheduleGivesEveryGroupAllCandidatesThatItCanHave(t *testing.T) {
	for _, scheduler := range []gateway.Scheduler{gateway.LeastLoaded, gateway.Random} {
		t.Run(string(scheduler), func(t *testing.T) {
			each(t, func(t *testing.T, _ *rand.Rand, s gateway.State) {
				chassis := byName(s)
				p := gateway.Reschedule(s, gateway.Options{Scheduler: scheduler})
				changed := map[string]bool{}
				for _, c := range p.Changes {
					changed[c.Group] = true
				}
				for i, g := range applied(s, p).Groups {
					possible := 0
					has := map[string]bool{}
					for _, c := range s.Groups[i].Candidates {
						has[c.Chassis] = true
					}
					for _, c := range s.Chassis {
						if mayHost(c, g) && (has[c.Name] || !c.Silent && !c.Cordoned) {
							possible++
						}
					}
					if possible == 0 {
						assert.False(t, changed[g.Name], g.Name)
						continue
					}
					assert.GreaterOrEqual(t, len(g.Candidates), min(gateway.MaxCandidates, possible), g.Name)
					seen := map[int]bool{}
					for _, c := range g.Candidates {
						assert.True(t, mayHost(chassis[c.Chassis], g), "%s on %s", g.Name, c.Chassis)
						if c := chassis[c.Chassis]; c.Silent || c.Cordoned {
							assert.True(t, has[c.Name], "%s was given %s", g.Name, c.Name)
						}
						assert.False(t, seen[c.Priority], "%s has priority %d twice", g.Name, c.Priority)
						seen[c.Priority] = true
					}
				}
			})
		})
	}
}

func TestG5SameStateSamePlanWhateverTheOrderOfRows(t *testing.T) {
	each(t, func(t *testing.T, r *rand.Rand, s gateway.State) {
		other := gateway.State{Chassis: shuffled(r, s.Chassis), Groups: shuffled(r, s.Groups)}
		for i := range other.Groups {
			other.Groups[i].Candidates = shuffled(r, other.Groups[i].Candidates)
			other.Groups[i].Ports = shuffled(r, other.Groups[i].Ports)
		}
		options := gateway.Options{Seed: 7}
		same := func(a, b gateway.Plan) { assert.Equal(t, a, b) }
		same(gateway.Reschedule(s, options), gateway.Reschedule(other, options))
		same(gateway.Rebalance(s, options), gateway.Rebalance(other, options))
		options.Scheduler = gateway.Random
		same(gateway.Reschedule(s, options), gateway.Reschedule(other, options))
	})
}

func shuffled[T any](r *rand.Rand, all []T) []T {
	all = slices.Clone(all)
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

func TestG6SecondRunFindsNothingToDo(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, s gateway.State) {
		for _, o := range []gateway.Options{{}, {Scheduler: gateway.Random}, {AllowNewCandidates: true}} {
			after := applied(s, gateway.Reschedule(s, o))
			assert.Empty(t, gateway.Reschedule(after, o).Changes)
			after = applied(after, gateway.Rebalance(after, o))
			assert.Empty(t, gateway.Rebalance(after, o).Changes)
			assert.Empty(t, gateway.Reschedule(after, o).Changes, "after the rebalancing")
		}
	})
}

// G7: whoever changes has a reason to, and of its rows only those that differ.
func TestG7NoRowIsTouchedWithoutNeed(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, s gateway.State) {
		groups := map[string]gateway.Group{}
		for _, g := range s.Groups {
			groups[g.Name] = g
		}
		for _, p := range []gateway.Plan{gateway.Reschedule(s, gateway.Options{}), gateway.Rebalance(s, gateway.Options{})} {
			for _, c := range p.Changes {
				assert.NotEmpty(t, c.Rows, c.Group)
				before := map[string]int{}
				for _, b := range c.Before {
					before[b.Chassis] = b.Priority
				}
				for _, row := range c.Rows {
					assert.NotEmpty(t, row.Reason, "%s %s", c.Group, row.Chassis)
					if row.Before != nil && row.After != nil {
						assert.NotEqual(t, *row.Before, *row.After)
					}
				}
			}
		}
	})
}

// Rows move to a chassis that was added, and never between those that were there.
func TestRowsMoveOnlyToTheChassisThatWasAdded(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var s gateway.State
		for i := range 6 + r.IntN(6) {
			s.Chassis = append(s.Chassis, chassis(fmt.Sprintf("c%02d", i), "provnet1"))
		}
		for i := range 20 + r.IntN(100) {
			s.Groups = append(s.Groups, hosted(i))
		}
		scheduler := []gateway.Scheduler{gateway.LeastLoaded, gateway.Random}[r.IntN(2)]
		s = applied(s, gateway.Reschedule(s, gateway.Options{Scheduler: scheduler, Seed: seed}))
		s.Chassis = append(s.Chassis, chassis("new", "provnet1"))
		p := gateway.Reschedule(s, gateway.Options{Scheduler: scheduler, Seed: seed})
		share := 0
		for _, c := range p.Changes {
			for _, row := range c.Rows {
				if row.Before == nil {
					assert.Equal(t, "new", row.Chassis)
					share++
				}
			}
		}
		assert.Equal(t, 5*len(s.Groups)/len(s.Chassis), share, "seed %d, %s", seed, scheduler)
	}
}

// wide is a cloud in which every chassis may host the gateways of both networks.
func wide(r *rand.Rand) gateway.State {
	var s gateway.State
	for i := range 2 + r.IntN(11) {
		s.Chassis = append(s.Chassis, chassis(fmt.Sprintf("c%02d", i), "provnet1", "provnet2"))
	}
	for i := range r.IntN(150) {
		s.Groups = append(s.Groups, hostedIn([]string{"provnet1", "provnet2"}[r.IntN(2)], i))
	}
	return s
}

// G4 where everything may be hosted everywhere: from nothing, whichever chassis fails,
// the load of the others is within one.
func TestG4LoadIsEvenAfterAnyFailure(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		s := wide(rand.New(rand.NewPCG(seed, 2)))
		s = applied(s, gateway.Reschedule(s, gateway.Options{}))
		for _, n := range gateway.Reschedule(s, gateway.Options{}).Before {
			assert.LessOrEqual(t, n.Spread(), 1)
			for _, h := range n.Hosts {
				assert.LessOrEqual(t, h.Failure.Most-h.Failure.Least, 1, "seed %d: %s without %s: %+v", seed, n.Name, h.Chassis, h.Failure)
				assert.Equal(t, h.Failure.Best, h.Failure.Most)
			}
		}
		require.False(t, t.Failed())
	}
}

// failures are the loads after the failure of each chassis of provnet1, squared and
// summed for each.
func failures(s gateway.State) map[string]int {
	sums := map[string]int{}
	for _, failed := range s.Chassis {
		load := map[string]int{}
		for _, c := range s.Chassis {
			load[c.Name] = 0
		}
		for _, g := range s.Groups {
			left := slices.DeleteFunc(slices.Clone(g.Candidates), func(c gateway.Candidate) bool { return c.Chassis == failed.Name })
			if len(left) > 0 {
				load[top(left)]++
			}
		}
		for _, l := range load {
			sums[failed.Name] += l * l
		}
	}
	return sums
}

// G4 against brute force: with the masters and the candidates that there are in the end,
// no other choice of first backups is evener for any failure.
func TestG4NoOtherFirstBackupsAreEvener(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		s := small(r)
		for _, p := range []gateway.Plan{gateway.Reschedule(s, gateway.Options{}), gateway.Rebalance(s, gateway.Options{})} {
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
func small(r *rand.Rand) gateway.State {
	var s gateway.State
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

// evenest is the least sum of squares after a failure, over all choices of first backups
// among the candidates.
func evenest(s gateway.State, failed string) int {
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
	best := -1
	var choose func(i int)
	choose = func(i int) {
		if i == len(choices) {
			sum := 0
			for _, l := range load {
				sum += l * l
			}
			if best < 0 || sum < best {
				best = sum
			}
			return
		}
		for _, c := range choices[i] {
			load[c]++
			choose(i + 1)
			load[c]--
		}
	}
	choose(0)
	return best
}

// G2 and G3 against brute force: of all choices of masters among the candidates, none is
// evener, and none as even takes fewer moves; with a bound, none of so few moves is
// evener, for gateways that any of two chassis may host.
func TestG2G3RebalanceIsAsEvenAsCanBeWithTheFewestMoves(t *testing.T) {
	t.Parallel()
	for seed := range uint64(600) {
		s := small(rand.New(rand.NewPCG(seed, 6)))
		p := gateway.Rebalance(s, gateway.Options{})
		sum, moves := chosen(s, len(s.Groups))
		got := spreadOf(applied(s, p))
		require.Equal(t, sum, got, "seed %d: %+v", seed, s)
		require.Equal(t, moves, p.Moves(), "seed %d: %+v", seed, s)
		for most := 1; most < moves; most++ {
			p := gateway.Rebalance(s, gateway.Options{MaxMoves: most})
			assert.LessOrEqual(t, p.Moves(), most)
			sum, _ := chosen(s, most)
			require.Equal(t, sum, spreadOf(applied(s, p)), "seed %d, at most %d moves: %+v", seed, most, s)
		}
	}
}

// spreadOf is the sum of the squares of the masters.
func spreadOf(s gateway.State) (sum int) {
	load := map[string]int{}
	for _, g := range s.Groups {
		load[top(g.Candidates)]++
	}
	for _, l := range load {
		sum += l * l
	}
	return sum
}

// chosen is the least sum of squares that at most some moves can bring about, and the
// least number of moves for it.
func chosen(s gateway.State, most int) (best, moves int) {
	load := map[string]int{}
	best = -1
	var choose func(i, moved int)
	choose = func(i, moved int) {
		if moved > most {
			return
		}
		if i == len(s.Groups) {
			sum := 0
			for _, l := range load {
				sum += l * l
			}
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
