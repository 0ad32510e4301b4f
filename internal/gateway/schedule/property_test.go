package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// instances is the number of random states on which each property is tried; EXPLORE multiplies it.
const instances = 100

// anyState returns a cloud of a few chassis, networks and zones, with flaws.
func anyState(r *rand.Rand) schedule.State {
	var s schedule.State
	networks := []string{"physnet0", "physnet1", "physnet2"}[:1+r.IntN(3)]
	zones := []string{"az0", "az1"}
	for i := range 1 + r.IntN(9) {
		c := schedule.Chassis{
			Name: fmt.Sprintf("c%d", i), Gateway: r.IntN(8) > 0, Unresponsive: r.IntN(9) == 0,
			Cordoned: r.IntN(9) == 0, Remote: r.IntN(20) == 0,
		}
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
		g := schedule.Group{Name: fmt.Sprintf("g%02d", i), Storage: schedule.GatewayChassis}
		for p := range 1 + r.IntN(6)/5*2 {
			g.Ports = append(g.Ports, schedule.Port{
				Name:    fmt.Sprintf("g%02d-%d", i, p),
				Network: networks[r.IntN(len(networks))],
			})
		}
		if r.IntN(4) == 0 {
			g.Zones = append(g.Zones, zones[r.IntN(2)])
		}
		top := r.IntN(3) * 10
		for k, c := range r.Perm(len(s.Chassis) + 1)[:r.IntN(min(6, len(s.Chassis)+2))] {
			g.Candidates = append(g.Candidates, schedule.Candidate{Chassis: fmt.Sprintf("c%d", c), Priority: top + 5 - k})
		}
		s.Groups = append(s.Groups, g)
	}
	return s
}

// options returns the options of a scheduler; a random one makes the same choices for the same seed.
func options(scheduler schedule.Scheduler, seed uint64) schedule.Options {
	return schedule.Options{Scheduler: scheduler, Draw: rand.New(rand.NewPCG(seed, 0)).IntN}
}

func each(t *testing.T, property func(t *testing.T, r *rand.Rand, s schedule.State)) {
	t.Helper()
	t.Parallel()
	for seed := range uint64(instances * exploretest.Factor(t)) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := anyState(r)
		if !slices.ContainsFunc(s.Chassis, func(c schedule.Chassis) bool { return c.Gateway && !c.Remote }) {
			s.Chassis[0].Gateway, s.Chassis[0].Remote = true, false
		}
		property(t, r, s)
		if t.Failed() {
			t.Fatalf("seed %d: %+v", seed, s)
		}
	}
}

func byName(s schedule.State) map[string]schedule.Chassis {
	all := map[string]schedule.Chassis{}
	for _, c := range s.Chassis {
		all[c.Name] = c
	}
	return all
}

// mayHost is an independent implementation of Neutron's rule.
func mayHost(c schedule.Chassis, g schedule.Group) bool {
	for _, p := range g.Ports {
		if !slices.Contains(c.Networks, p.Network) {
			return false
		}
	}
	zone := len(g.Zones) == 0 ||
		slices.ContainsFunc(g.Zones, func(z string) bool { return slices.Contains(c.Zones, z) })
	return c.Name != "" && c.Gateway && !c.Remote && zone
}

func top(candidates []schedule.Candidate) string {
	names := schedule.Group{Candidates: candidates}.Ranked()
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

func eachScheduler(t *testing.T, property func(*testing.T, *rand.Rand, schedule.State, schedule.Options)) {
	t.Helper()
	for _, scheduler := range []schedule.Scheduler{schedule.LeastLoaded, schedule.Random} {
		t.Run(string(scheduler), func(t *testing.T) {
			each(t, func(t *testing.T, r *rand.Rand, s schedule.State) {
				t.Helper()
				property(t, r, s, options(scheduler, 1))
			})
		})
	}
}

// Valid hosts keep their gateways, even if they are backups of dead masters. If nothing is bound, valid masters do.
func TestG1_reschedule_interrupts_nothing(t *testing.T) {
	eachScheduler(t, func(t *testing.T, r *rand.Rand, s schedule.State, o schedule.Options) {
		known, hosts, bound := byName(s), map[string][]string{}, r.IntN(2) == 0
		for i, g := range s.Groups {
			valid := slices.DeleteFunc(g.Ranked(), func(name string) bool { return !mayHost(known[name], g) })
			switch {
			case bound && len(valid) > 0 && r.IntN(4) > 0:
				rank := r.IntN(len(valid))
				s.Groups[i], hosts[g.Name] = bind(g, valid[rank]), valid[:rank+1]
			case !bound && len(valid) > 0 && valid[0] == g.Ranked()[0]:
				hosts[g.Name] = valid[:1]
			}
		}
		p := schedule.Reschedule(s, o)
		after := applied(s, p)
		for name, known := range hosts { // candidates before the last known one are dead
			dead := func(name string) bool { return slices.Contains(known[:len(known)-1], name) }
			alive := slices.DeleteFunc(order(after, name), dead)
			require.NotEmpty(t, alive)
			assert.Equal(t, known[len(known)-1], alive[0], name)
		}
		if bound {
			assert.Zero(t, p.Moves())
		}
		assert.Empty(t, schedule.Reschedule(after, o).Changes)
	})
}

// Every group gets five candidates, or as many as it can have, and all are valid.
func TestReschedule_completes_candidates(t *testing.T) {
	eachScheduler(t, func(t *testing.T, _ *rand.Rand, s schedule.State, o schedule.Options) {
		chassis := byName(s)
		for i, g := range applied(s, schedule.Reschedule(s, o)).Groups {
			possible, had := 0, s.Groups[i].Ranked()
			for _, c := range s.Chassis {
				possible += btoi(mayHost(c, g) && (slices.Contains(had, c.Name) || !c.Unresponsive && !c.Cordoned))
			}
			if possible == 0 { // what a group has may stay without a mark
				assert.Subset(t, had, g.Ranked())
				continue
			}
			assert.GreaterOrEqual(t, len(g.Candidates), min(schedule.MaxCandidates, possible), g.Name)
			seen := map[int]bool{}
			for _, x := range g.Candidates {
				c := chassis[x.Chassis]
				assert.True(t, mayHost(c, g), "%s on %s", g.Name, x.Chassis)
				assert.True(t, !c.Unresponsive && !c.Cordoned || slices.Contains(had, c.Name), "%s got %s", g.Name, c.Name)
				assert.False(t, seen[x.Priority], "%s has priority %d twice", g.Name, x.Priority)
				seen[x.Priority] = true
			}
		}
	})
}

func TestG5_row_order(t *testing.T) {
	each(t, func(t *testing.T, r *rand.Rand, s schedule.State) {
		other := schedule.State{Chassis: shuffled(r, s.Chassis), Groups: shuffled(r, s.Groups)}
		for i := range other.Groups {
			other.Groups[i].Candidates = shuffled(r, other.Groups[i].Candidates)
			other.Groups[i].Ports = shuffled(r, other.Groups[i].Ports)
		}
		same := func(a, b schedule.Plan) { assert.Equal(t, a, b) }
		for _, scheduler := range []schedule.Scheduler{schedule.LeastLoaded, schedule.Random} {
			same(schedule.Reschedule(s, options(scheduler, 7)), schedule.Reschedule(other, options(scheduler, 7)))
		}
		same(schedule.Rebalance(s, schedule.Options{}), schedule.Rebalance(other, schedule.Options{}))
	})
}

func shuffled[T any](r *rand.Rand, all []T) []T {
	all = slices.Clone(all)
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

func TestG6_second_run(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, s schedule.State) {
		for _, o := range []schedule.Options{{}, options(schedule.Random, 3), {AllowNewCandidates: true}} {
			after := applied(s, schedule.Reschedule(s, o))
			assert.Empty(t, schedule.Reschedule(after, o).Changes)
			after = applied(after, schedule.Rebalance(after, o))
			assert.Empty(t, schedule.Rebalance(after, o).Changes)
			assert.Empty(t, schedule.Reschedule(after, o).Changes, "after the rebalancing")
		}
	})
}

func TestRebalance_max_moves(t *testing.T) {
	each(t, func(t *testing.T, r *rand.Rand, s schedule.State) {
		most := 1 + r.IntN(4)
		all := schedule.Rebalance(s, schedule.Options{}).Moves()
		p := schedule.Rebalance(s, schedule.Options{MaxMoves: most})
		assert.LessOrEqual(t, p.Moves(), min(most, max(all, most)))
		if all <= most {
			assert.Equal(t, all, p.Moves(), "there was no need to hold back")
		}
	})
}

// A gateway moves only to a valid candidate.
func TestRebalance_moves_to_candidates(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, s schedule.State) {
		chassis := byName(s)
		for _, c := range schedule.Rebalance(s, schedule.Options{}).Changes {
			if !c.Interrupts {
				continue
			}
			assert.Contains(t, groupOf(s, c.Group).Ranked(), c.To())
			to := chassis[c.To()]
			assert.True(t, mayHost(to, schedule.Group{Ports: c.Ports}) && !to.Unresponsive && !to.Cordoned, c.Group)
		}
	})
}

// Each change has a reason, and writes only rows that differ.
func TestG7_rows_differ(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, s schedule.State) {
		for _, p := range []schedule.Plan{
			schedule.Reschedule(s, schedule.Options{}),
			schedule.Rebalance(s, schedule.Options{}),
		} {
			for _, c := range p.Changes {
				assert.NotEmpty(t, c.Rows, c.Group)
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

// Rows move to a new chassis, and never between other chassis.
func TestReschedule_new_chassis_share(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := schedule.State{Groups: many(0, 20+r.IntN(100))}
		for i := range 6 + r.IntN(6) {
			s.Chassis = append(s.Chassis, chassis(fmt.Sprintf("c%02d", i), "provnet1"))
		}
		scheduler := []schedule.Scheduler{schedule.LeastLoaded, schedule.Random}[r.IntN(2)]
		s = applied(s, schedule.Reschedule(s, options(scheduler, seed)))
		s.Chassis = append(s.Chassis, chassis("new", "provnet1"))
		p := schedule.Reschedule(s, options(scheduler, seed))
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

// wide returns a cloud in which every chassis may host the gateways of both networks.
func wide(r *rand.Rand) schedule.State {
	var s schedule.State
	for i := range 2 + r.IntN(11) {
		s.Chassis = append(s.Chassis, chassis(fmt.Sprintf("c%02d", i), "provnet1", "provnet2"))
	}
	for i := range r.IntN(150) {
		s.Groups = append(s.Groups, hostedIn([]string{"provnet1", "provnet2"}[r.IntN(2)], i))
	}
	return s
}

// If every chassis may host everything, the loads after any failure differ by at most one.
func TestG4_even_after_any_failure(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		s := wide(rand.New(rand.NewPCG(seed, 2)))
		s = applied(s, schedule.Reschedule(s, schedule.Options{}))
		for _, n := range schedule.Reschedule(s, schedule.Options{}).Before {
			assert.LessOrEqual(t, n.Spread(), 1)
			for _, h := range n.Hosts {
				assert.LessOrEqual(t, h.Failure.Most-h.Failure.Least, 1, "seed %d: %s without %s: %+v", seed, n.Name, h.Chassis,
					h.Failure)
				assert.Equal(t, h.Failure.Best, h.Failure.Most)
			}
		}
		require.False(t, t.Failed())
	}
}
