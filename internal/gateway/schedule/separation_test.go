package schedule_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// of returns a gateway as one of several of a router.
func of(router string, g schedule.Group) schedule.Group {
	g.Ports[0].Router = router
	return g
}

// pairs counts the pairs of gateways of one router that have the same master.
func pairs(s schedule.State) (n int) {
	for i, g := range s.Groups {
		for _, other := range s.Groups[:i] {
			n += btoi(g.Ports[0].Router == other.Ports[0].Router && len(g.Candidates) > 0 &&
				top(g.Candidates) == top(other.Candidates))
		}
	}
	return n
}

func TestReschedule_gateways_of_a_router_get_different_masters(t *testing.T) {
	t.Parallel()
	for name, groups := range map[string][]schedule.Group{
		"new ones": {of("r", hosted(0)), of("s", hosted(1)), of("r", hosted(2)), of("s", hosted(3))},
		"beside one that is there": {
			of("r", hosted(0, "c1", "c2")), of("s", hosted(1, "c2", "c1")), of("r", hosted(2)),
		},
		"on two networks": {
			of("r", hosted(0)), of("s", hosted(1)), of("r", hostedIn("provnet2", 0)), of("s", hostedIn("provnet2", 1)),
		},
	} {
		s := schedule.State{
			Chassis: []schedule.Chassis{chassis("c1", "provnet1", "provnet2"), chassis("c2", "provnet1", "provnet2")},
			Groups:  groups,
		}
		p := schedule.Reschedule(s, schedule.Options{})
		assert.Zero(t, pairs(applied(s, p)), "%s\n%s", name, document.Plan(p))
		for _, n := range p.After {
			assert.LessOrEqual(t, n.Spread(), 1, name)
		}
	}
}

// Two gateways of a router may share a chassis if the load is less even otherwise, and none that works moves for it.
func TestReschedule_gateways_of_a_router_cost_no_balance_and_no_move(t *testing.T) {
	t.Parallel()
	s := schedule.State{
		Chassis: pool("provnet1", "c1", "c2"),
		Groups:  append(many(0, 2, "c1", "c2"), of("r", hosted(4)), of("r", hosted(5))),
	}
	after := applied(s, schedule.Reschedule(s, schedule.Options{}))
	assert.Equal(t, map[string]int{"c1": 2, "c2": 2}, masters(after))
	assert.Equal(t, 1, pairs(after))
	assert.Empty(t, schedule.Reschedule(after, schedule.Options{}).Changes)
}

func TestDrain_gateways_of_a_router_get_different_masters(t *testing.T) {
	t.Parallel()
	s := schedule.State{Chassis: pool("provnet1", "c1", "c2", "c3"), Groups: []schedule.Group{
		of("r", hosted(0, "c2", "c1", "c3")), of("s", hosted(1, "c3", "c2", "c1")), of("r", hosted(2, "c1", "c2", "c3")),
	}}
	after, _, p := drained(s, "c1")
	assert.Zero(t, pairs(after))
	assert.Equal(t, 1, p.Cost.Interruptions)
}

// A rebalancing also separates gateways of a router. What balances the load takes the fewest moves; the other moves are
// counted apart, and the bound on moves holds for both.
func TestRebalance_separates_gateways_of_a_router(t *testing.T) {
	t.Parallel()
	s := schedule.State{Chassis: pool("provnet1", "c1", "c2"), Groups: []schedule.Group{
		of("r", hosted(0, "c1", "c2")), of("r", hosted(1, "c1", "c2")),
		of("s", hosted(2, "c2", "c1")), of("s", hosted(3, "c2", "c1")),
	}}
	for i, g := range s.Groups {
		s.Groups[i] = bind(g, top(g.Candidates))
	}
	p := schedule.Rebalance(s, schedule.Options{})
	assert.Equal(t, 2, p.Moves())
	assert.Zero(t, pairs(applied(s, p)))
	require.Len(t, p.Bounds, 1)
	b := p.Bounds[0]
	assert.Equal(t, []int{2, 0, 2}, []int{b.Moves, b.Fewest, b.Separating})
	assert.Equal(t, finding.BoundBalanced, b.Why.Code, b.Proof)
	assert.True(t, schedule.Rebalance(s, schedule.Options{MaxMoves: 1}).Empty(), "one move would cost balance")

	s.Groups = s.Groups[:3] // one move is enough: then c2 hosts two, and not c1
	p = schedule.Rebalance(s, schedule.Options{MaxMoves: 1})
	assert.Equal(t, 1, p.Moves())
	assert.Zero(t, pairs(applied(s, p)))
}

// apart returns the least number of pairs of gateways of one router on the same chassis, over all choices of candidates
// that are as even as possible.
func apart(s schedule.State) (best int) {
	even, _ := chosen(s, "provnet1", len(s.Groups))
	best = -1
	load := map[string]int{}
	hosts := make([]string, len(s.Groups))
	var choose func(i, shared int)
	choose = func(i, shared int) {
		if i == len(s.Groups) {
			if squares(load) == even && (best < 0 || shared < best) {
				best = shared
			}
			return
		}
		for _, c := range s.Groups[i].Candidates {
			more := 0
			for k, other := range s.Groups[:i] {
				more += btoi(hosts[k] == c.Chassis && other.Ports[0].Router == s.Groups[i].Ports[0].Router)
			}
			hosts[i] = c.Chassis
			load[c.Chassis]++
			choose(i+1, shared+more)
			load[c.Chassis]--
		}
	}
	choose(0, 0)
	return best
}

// The load is as even as possible with the fewest moves for that, whatever separates gateways of a router. In nearly
// all clouds no other choice that is as even separates more of them. A second run finds nothing.
func TestRebalance_separates_by_brute_force(t *testing.T) {
	t.Parallel()
	missed, tried := 0, 600*exploretest.Factor(t)
	for seed := range uint64(tried) {
		r := rand.New(rand.NewPCG(seed, 13))
		s := small(r)
		for i := range s.Groups {
			s.Groups[i].Ports[0].Router = []string{"r", "s", "t"}[r.IntN(3)]
		}
		p := schedule.Rebalance(s, schedule.Options{})
		after := applied(s, p)
		sum, moves := chosen(s, "provnet1", len(s.Groups))
		require.Equal(t, sum, squares(masters(after)), "seed %d: %+v", seed, s)
		if len(p.Bounds) > 0 {
			require.Equal(t, moves, p.Moves()-p.Bounds[0].Separating, "seed %d: %+v", seed, s)
		}
		best := apart(s)
		require.LessOrEqual(t, pairs(after), max(pairs(s), best)+moves, "seed %d: %+v", seed, s)
		missed += btoi(pairs(after) > best)
		require.Empty(t, schedule.Rebalance(after, schedule.Options{}).Changes, "seed %d: %+v", seed, s)
	}
	t.Logf("%d of %d missed", missed, tried)
	assert.LessOrEqual(t, missed, tried/50)
}
