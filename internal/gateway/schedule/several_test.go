package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// multihomed is a small cloud of two networks in which some routers have a gateway in each, or two in one, and one list
// for both.
func multihomed(r *rand.Rand) schedule.State {
	s := schedule.State{}
	for _, name := range []string{"c0", "c1", "c2"} {
		s.Chassis = append(s.Chassis, chassis(name, "physnet0", "physnet1"))
	}
	for i := range 2 + r.IntN(5) {
		g := schedule.Group{Name: fmt.Sprintf("g%d", i), Storage: schedule.HAChassisGroup}
		for p := range 1 + r.IntN(2) {
			g.Ports = append(g.Ports, schedule.Port{Name: fmt.Sprintf("g%d-%d", i, p), Network: fmt.Sprintf("physnet%d",
				r.IntN(2))})
		}
		for k, c := range r.Perm(3)[:1+r.IntN(3)] {
			g.Candidates = append(g.Candidates, schedule.Candidate{Chassis: fmt.Sprintf("c%d", c), Priority: 5 - k})
		}
		s.Groups = append(s.Groups, g)
	}
	return s
}

// cheapest is the least number of groups of a network that have to move to a candidate for its load to be even; -1 if
// that is not possible.
func cheapest(s schedule.State, network string) int {
	load, best := map[string]int{"c0": 0, "c1": 0, "c2": 0}, -1
	var choose func(i, moved int)
	choose = func(i, moved int) {
		if i == len(s.Groups) {
			all := []int{load["c0"], load["c1"], load["c2"]}
			if slices.Max(all)-slices.Min(all) <= 1 && (best < 0 || moved < best) {
				best = moved
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
	return best
}

// Where a proof claims the fewest moves, brute force finds no fewer. Most plans have such a proof.
func TestG2G3_proofs_with_several_ports(t *testing.T) {
	t.Parallel()
	proved, even := 0, 0
	for seed := range uint64(1500) {
		s := multihomed(rand.New(rand.NewPCG(seed, 9)))
		s.Groups[0].Ports[0].Active = top(s.Groups[0].Candidates)
		p := schedule.Rebalance(s, schedule.Options{})
		for _, b := range p.Bounds {
			best := cheapest(s, b.Network)
			if best >= 0 {
				even++
			}
			if strings.Contains(b.Proof, "lower bound") || strings.Contains(b.Proof, "already balanced") {
				proved++
				assert.LessOrEqual(t, b.Spread, 1, "seed %d: %v", seed, s)
				require.Equal(t, best, b.Moves, "seed %d: %s of %v", seed, b.Proof, s)
			}
		}
	}
	assert.Greater(t, 100*proved, 75*even, "most are")
	t.Logf("%d proved of %d that can be even", proved, even)
}
