package schedule_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/goldentest"
)

// chassis returns a chassis that may host gateways of networks.
func chassis(name string, networks ...string) schedule.Chassis {
	return schedule.Chassis{Name: name, Hostname: name + ".example", Gateway: true, Networks: networks}
}

// pool returns chassis that may host gateways of a network.
func pool(network string, names ...string) (all []schedule.Chassis) {
	for _, name := range names {
		all = append(all, chassis(name, network))
	}
	return all
}

// hosted returns a gateway of provnet1 with these candidates, best first, as Neutron writes them.
func hosted(n int, candidates ...string) schedule.Group {
	return hostedIn("provnet1", n, candidates...)
}

func hostedIn(network string, n int, chassis ...string) schedule.Group {
	name := fmt.Sprintf("lrp-%s-%04d", network, n)
	return schedule.Group{
		Name: name, Storage: schedule.GatewayChassis, Candidates: candidates(chassis...),
		Ports: []schedule.Port{{Name: name, Router: fmt.Sprintf("r%d", n), Network: network}},
	}
}

// candidates returns candidates, best first.
func candidates(chassis ...string) (all []schedule.Candidate) {
	for i, c := range chassis {
		all = append(all, schedule.Candidate{Chassis: c, Priority: len(chassis) - i})
	}
	return all
}

// many returns gateways of provnet1 that have the same candidates.
func many(from, n int, candidates ...string) (all []schedule.Group) {
	for i := range n {
		all = append(all, hosted(from+i, candidates...))
	}
	return all
}

func applied(s schedule.State, p schedule.Plan) schedule.State {
	after := map[string][]schedule.Candidate{}
	for _, c := range p.Changes {
		after[c.Group] = c.After
	}
	s.Groups = slices.Clone(s.Groups)
	for i, g := range s.Groups {
		if candidates, changed := after[g.Name]; changed {
			s.Groups[i].Candidates = candidates
		}
	}
	return s
}

// masters counts the gateways that each chassis hosts.
func masters(s schedule.State) map[string]int {
	count := map[string]int{}
	for _, n := range schedule.Reschedule(s, schedule.Options{}).Before {
		for _, h := range n.Hosts {
			count[h.Chassis] += h.Masters
		}
	}
	return count
}

func TestSpecReschedule_case1_second_chassis(t *testing.T) {
	t.Parallel()
	s := schedule.State{
		Chassis: pool("provnet1", "c1", "c2"),
		Groups:  many(0, 7, "c1"),
	}
	for _, scheduler := range []schedule.Scheduler{schedule.LeastLoaded, schedule.Random} {
		p := schedule.Reschedule(s, options(scheduler, 1))
		assert.Len(t, p.Changes, 7)
		for _, c := range p.Changes {
			assert.Equal(t, candidates("c1", "c2"), c.After)
		}
	}
}

func TestSpecReschedule_case2_returning_chassis(t *testing.T) {
	t.Parallel()
	groups := append(many(0, 4, "c1", "c2"), many(4, 4, "c2", "c1")...)
	down := schedule.State{Chassis: pool("provnet1", "c2"), Groups: groups}
	p := schedule.Reschedule(down, schedule.Options{})
	assert.Len(t, p.Changes, 8)
	for _, c := range p.Changes {
		assert.Equal(t, candidates("c2"), c.After)
	}
	back := applied(down, p)
	back.Chassis = append(back.Chassis, chassis("c1", "provnet1"))
	p = schedule.Reschedule(back, schedule.Options{})
	assert.Len(t, p.Changes, 8)
	for _, c := range p.Changes {
		assert.Equal(t, candidates("c2", "c1"), c.After)
	}
}

func TestSpecReschedule_case3_third_chassis(t *testing.T) {
	t.Parallel()
	s := schedule.State{
		Chassis: pool("provnet1", "c1", "c2", "c3"),
		Groups:  append(many(0, 6, "c1", "c2"), many(6, 6, "c2", "c1")...),
	}
	for _, scheduler := range []schedule.Scheduler{schedule.LeastLoaded, schedule.Random} {
		p := schedule.Reschedule(s, options(scheduler, 1))
		assert.Len(t, p.Changes, 12)
		for _, c := range p.Changes {
			assert.Equal(t, c.From(), c.To())
			assert.Len(t, c.After, 3)
		}
	}
}

func TestSpecRebalance_cases1_and_2_even_load(t *testing.T) {
	t.Parallel()
	assert.True(t, schedule.Rebalance(two(3, 3), schedule.Options{}).Empty())
	assert.True(t, schedule.Rebalance(two(3, 2), schedule.Options{}).Empty(), "a difference of one")
}

func two(one, other int) schedule.State {
	return schedule.State{
		Chassis: pool("provnet1", "c1", "c2"),
		Groups:  append(many(0, one, "c1", "c2"), many(one, other, "c2", "c1")...),
	}
}

func TestSpecRebalance_case3_third_chassis(t *testing.T) {
	t.Parallel()
	s := two(6, 6)
	s.Chassis = append(s.Chassis, chassis("c3", "provnet1"))
	assert.True(t, schedule.Rebalance(s, schedule.Options{}).Empty(), "it is no candidate yet")
	s = applied(s, schedule.Reschedule(s, schedule.Options{}))
	p := schedule.Rebalance(s, schedule.Options{})
	assert.Equal(t, 4, p.Moves())
	assert.Equal(t, 4, p.Bounds[0].Moves)
	assert.Equal(t, 4, p.Bounds[0].Fewest)
	for _, c := range p.Changes {
		if c.Interrupts {
			assert.Equal(t, "c3", c.To())
		}
	}
	assert.Equal(t, map[string]int{"c1": 4, "c2": 4, "c3": 4}, masters(applied(s, p)))
}

func TestSpecRebalance_case4_networks(t *testing.T) {
	t.Parallel()
	s := schedule.State{
		Chassis: []schedule.Chassis{chassis("c1", "provnet1"), chassis("c2", "provnet2")},
		Groups:  many(0, 9, "c1"),
	}
	assert.True(t, schedule.Rebalance(s, schedule.Options{AllowNewCandidates: true}).Empty())
}

func TestPlan_texts(t *testing.T) {
	t.Parallel()
	third := two(6, 6)
	third.Chassis = append(third.Chassis, chassis("c3", "provnet1"))
	balanced := applied(third, schedule.Reschedule(third, schedule.Options{}))

	odd := schedule.State{
		Chassis: []schedule.Chassis{
			chassis("c1", "provnet1"), chassis("c2", "provnet1"), chassis("c3", "provnet2"),
			{Name: "c4", Networks: []string{"provnet1"}},
			{Name: "c5", Gateway: true, Networks: []string{"provnet1"}, Unresponsive: true},
		},
		Groups: []schedule.Group{
			hosted(0, "gone", "c1"), hosted(1, "c3"), hostedIn("provnet9", 2),
			hosted(3, "c5", "c1", "c2"), hostedIn("", 4, "c1"),
		},
	}
	odd.Groups[0].Candidates[0].Priority = 1 // both have this priority

	for name, p := range map[string]schedule.Plan{
		"nothing":           schedule.Rebalance(two(3, 2), schedule.Options{}),
		"third-chassis":     schedule.Reschedule(third, schedule.Options{}),
		"rebalance":         schedule.Rebalance(balanced, schedule.Options{}),
		"rebalance-bounded": schedule.Rebalance(balanced, schedule.Options{MaxMoves: 2}),
		"odd":               schedule.Reschedule(odd, schedule.Options{Networks: []string{"provnet1", "provnet7"}}),
	} {
		goldentest.Equal(t, name+".txt", document.Plan(p))
	}
	silent := two(4, 4)
	for i := range silent.Groups {
		silent.Groups[i].Ports[0].Active = silent.Groups[i].Candidates[0].Chassis
	}
	for i := range silent.Chassis {
		silent.Chassis[i].Unresponsive = true
	}
	works := func(s schedule.State) schedule.State {
		s.Groups = slices.Clone(s.Groups)
		for i, g := range s.Groups {
			s.Groups[i] = bind(g, g.Candidates[0].Chassis)
		}
		return s
	}
	goldentest.Equal(t, "status-well.txt", document.Gateways(schedule.Evaluate(works(two(4, 4)), schedule.Options{})))
	fragile := works(two(4, 4))
	fragile.Chassis[1].Unresponsive, fragile.Groups = true, fragile.Groups[:2]
	goldentest.Equal(t, "status-no-failover.txt", document.Gateways(schedule.Evaluate(fragile, schedule.Options{})))
	third.Groups = many(0, 8, "c1", "c2")
	goldentest.Equal(t, "status-next.txt", document.Gateways(schedule.Evaluate(works(third), schedule.Options{})))
	gone := schedule.State{Groups: slices.Clone(silent.Groups)}
	goldentest.Equal(t, "status-silent.txt", document.Gateways(schedule.Evaluate(silent, schedule.Options{})))
	goldentest.Equal(t, "status-gone.txt", document.Gateways(schedule.Evaluate(gone, schedule.Options{})))
	odd.Groups[3].Ports[0].Active = "c2"
	goldentest.Equal(t, "status.txt", document.Gateways(schedule.Evaluate(odd, schedule.Options{})))
	goldentest.Equal(t, "status-empty.txt", document.Gateways(schedule.Evaluate(schedule.State{}, schedule.Options{})))
}
