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
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// severalPorts is a small cloud of two networks in which many groups have several ports.
func severalPorts(r *rand.Rand) schedule.State {
	var s schedule.State
	n := 3 + r.IntN(2)
	for i := range n {
		s.Chassis = append(s.Chassis, chassis(fmt.Sprintf("c%d", i), "physnet0", "physnet1"))
	}
	for i := range 2 + r.IntN(6) {
		g := schedule.Group{Name: fmt.Sprintf("g%d", i), Storage: schedule.HAChassisGroup}
		for p := range 1 + r.IntN(3) {
			g.Ports = append(g.Ports, schedule.Port{
				Name: fmt.Sprintf("g%d-%d", i, p), Router: fmt.Sprintf("r%d", i),
				Network: fmt.Sprintf("physnet%d", r.IntN(2)),
			})
		}
		names := r.Perm(n)[:1+r.IntN(n)]
		for k, c := range names {
			g.Candidates = append(g.Candidates, schedule.Candidate{Chassis: fmt.Sprintf("c%d", c), Priority: len(names) - k})
		}
		s.Groups = append(s.Groups, g)
	}
	return s
}

// weighed is a load for each network and chassis.
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

// evenestOf is the least sum of squares of the loads, over all choices of one chassis for each group.
func evenestOf(load weighed, groups []schedule.Group, choices [][]string) int {
	best := -1
	var choose func(i int)
	choose = func(i int) {
		if i == len(groups) {
			if sum := load.squares(); best < 0 || sum < best {
				best = sum
			}
			return
		}
		for _, c := range choices[i] {
			load.add(groups[i], c, 1)
			choose(i + 1)
			load.add(groups[i], c, -1)
		}
	}
	choose(0)
	return best
}

// but are names without one.
func but(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
}

// hostOf is the first candidate that is not dead: it hosts the group.
func hostOf(g schedule.Group, dead map[string]bool) string {
	for _, name := range g.Ranked() {
		if !dead[name] {
			return name
		}
	}
	return ""
}

// activated binds every port where its group is hosted.
func activated(s schedule.State, dead map[string]bool) schedule.State {
	s.Groups = slices.Clone(s.Groups)
	for i, g := range s.Groups {
		s.Groups[i].Ports = slices.Clone(g.Ports)
		for p := range g.Ports {
			s.Groups[i].Ports[p].Active = hostOf(g, dead)
		}
	}
	return s
}

// lamed cordons some chassis, and makes some others than c0 unresponsive.
func lamed(r *rand.Rand, s schedule.State) schedule.State {
	for i := range s.Chassis {
		s.Chassis[i].Unresponsive, s.Chassis[i].Cordoned = i > 0 && r.IntN(8) == 0, r.IntN(8) == 0
	}
	return s
}

// A drain changes each gateway once. What the chassis hosts moves once, to one that lives and is not cordoned; nothing
// else moves; and those that move count as interrupted. What a backup hosts, since a chassis is dead, stays there.
func TestDrain_moves_each_gateway_once(t *testing.T) {
	t.Parallel()
	moved := 0
	for seed := range uint64(600 * exploretest.Factor(t)) {
		r := rand.New(rand.NewPCG(seed, 10))
		s, dead := lamed(r, []func(*rand.Rand) schedule.State{small, severalPorts}[r.IntN(2)](r)), map[string]bool{}
		for _, c := range s.Chassis {
			dead[c.Name] = c.Unresponsive && r.IntN(2) == 0
		}
		s = activated(s, dead)
		after, _, p := drained(s, "c0")
		changes, interrupted, stays := map[string]int{}, map[string]bool{}, map[string]bool{}
		for _, c := range p.Changes {
			changes[c.Group]++
			interrupted[c.Group] = c.Interrupts
		}
		for _, f := range p.Blocked {
			stays[f.Subject.Name] = true
		}
		for i, g := range s.Groups {
			require.LessOrEqual(t, changes[g.Name], 1, "seed %d: %s", seed, g.Name)
			from, to := hostOf(g, dead), hostOf(after.Groups[i], dead)
			moves := from == "c0" && !stays[g.Name]
			require.Equal(t, moves, interrupted[g.Name], "seed %d: %s: %+v\n%s", seed, g.Name, s, document.Plan(p))
			if !moves {
				if from != "" {
					require.Equal(t, from, to, "seed %d: %s moves without need: %+v\n%s", seed, g.Name, s, document.Plan(p))
				}
				continue
			}
			moved++
			c := byName(after)[to]
			require.True(t, to != "c0" && mayHost(c, g) && !c.Cordoned && !c.Unresponsive, "seed %d: %s goes to %s: %+v\n%s",
				seed, g.Name, to, s, document.Plan(p))
		}
	}
	assert.Greater(t, moved, 500)
}

// By brute force, with groups of several ports and unschedulable chassis, no other choice is evener.
func TestDrain_even_with_several_ports(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400 * exploretest.Factor(t)) {
		r := rand.New(rand.NewPCG(seed, 11))
		s := lamed(r, severalPorts(r))
		after, _, p := drained(s, "c0")
		shut := func(name string) bool {
			c := byName(after)[name]
			return c.Cordoned || c.Unresponsive
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
			var all []string
			for _, c := range after.Chassis {
				all = append(all, c.Name)
			}
			among := slices.DeleteFunc(names, shut)
			if len(among) == 0 {
				among = slices.DeleteFunc(all, shut)
			}
			if len(among) == 0 {
				among = []string{"c0"} // it stays
			}
			groups, choices = append(groups, g), append(choices, among)
		}
		require.Equal(t, evenestOf(load, groups, choices), got.squares(), "seed %d: %+v\n%s", seed, s, document.Plan(p))
	}
}

// By brute force, no other first backups of the gateways that a drain has touched make the load evener after one more
// failure.
func TestDrain_even_after_next_failure(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400 * exploretest.Factor(t)) {
		r := rand.New(rand.NewPCG(seed, 12))
		s := []func(*rand.Rand) schedule.State{small, severalPorts}[r.IntN(2)](r)
		after, _, p := drained(s, "c0")
		for _, fails := range s.Chassis[1:] {
			load, got := weighed{}, weighed{}
			var groups []schedule.Group
			var choices [][]string
			for i, g := range after.Groups {
				names := g.Ranked()
				switch {
				case names[0] != fails.Name:
					load.add(g, names[0], 1)
					got.add(g, names[0], 1)
					continue
				case len(names) == 1:
					continue // it is hosted nowhere then
				}
				got.add(g, names[1], 1)
				if among, at := but(names[1:], "c0"), slices.Index(s.Groups[i].Ranked(), "c0"); len(among) > 0 &&
					(at == 0 || at == 1) {
					groups, choices = append(groups, g), append(choices, among)
				} else {
					load.add(g, names[1], 1)
				}
			}
			require.Equal(t, evenestOf(load, groups, choices), got.squares(), "seed %d: %s fails: %+v\n%s", seed, fails.Name, s,
				document.Plan(p))
		}
	}
}
