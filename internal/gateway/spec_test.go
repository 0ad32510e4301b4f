package gateway_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
)

// chassis is one that may host gateways of networks.
func chassis(name string, networks ...string) gateway.Chassis {
	return gateway.Chassis{Name: name, Hostname: name + ".example", Gateway: true, Networks: networks}
}

// hosted is a gateway of provnet1 with these candidates, best first, as Neutron writes
// them.
func hosted(n int, candidates ...string) gateway.Group {
	return hostedIn("provnet1", n, candidates...)
}

func hostedIn(network string, n int, candidates ...string) gateway.Group {
	name := fmt.Sprintf("lrp-%s-%04d", network, n)
	g := gateway.Group{Name: name, Storage: gateway.GatewayChassis, Ports: []gateway.Port{{Name: name, Router: fmt.Sprintf("r%d", n), Network: network}}}
	for i, c := range candidates {
		g.Candidates = append(g.Candidates, gateway.Candidate{Chassis: c, Priority: len(candidates) - i})
	}
	return g
}

// many are gateways of provnet1 that have the same candidates.
func many(from, n int, candidates ...string) (all []gateway.Group) {
	for i := range n {
		all = append(all, hosted(from+i, candidates...))
	}
	return all
}

// applied is the state after a plan.
func applied(s gateway.State, p gateway.Plan) gateway.State {
	after := gateway.State{Chassis: s.Chassis}
	changed := map[string]gateway.Change{}
	for _, c := range p.Changes {
		changed[c.Group] = c
	}
	for _, g := range s.Groups {
		if c, found := changed[g.Name]; found {
			g.Candidates = c.After
		}
		after.Groups = append(after.Groups, g)
	}
	return after
}

// masters counts who hosts what.
func masters(s gateway.State) map[string]int {
	count := map[string]int{}
	for _, n := range gateway.Reschedule(s, gateway.Options{}).Before {
		for _, h := range n.Hosts {
			count[h.Chassis] += h.Masters
		}
	}
	return count
}

func TestSpecRescheduleCase1SecondChassisIsAddedAtPriority1(t *testing.T) {
	t.Parallel()
	s := gateway.State{
		Chassis: []gateway.Chassis{chassis("c1", "provnet1"), chassis("c2", "provnet1")},
		Groups:  many(0, 7, "c1"),
	}
	for _, scheduler := range []gateway.Scheduler{gateway.LeastLoaded, gateway.Random} {
		p := gateway.Reschedule(s, options(scheduler, 1))
		assert.Len(t, p.Changes, 7)
		for _, c := range p.Changes {
			assert.Equal(t, []gateway.Candidate{{Chassis: "c1", Priority: 2}, {Chassis: "c2", Priority: 1}}, c.After)
		}
	}
}

func TestSpecRescheduleCase2ChassisThatReturnsComesLast(t *testing.T) {
	t.Parallel()
	groups := append(many(0, 4, "c1", "c2"), many(4, 4, "c2", "c1")...)
	down := gateway.State{Chassis: []gateway.Chassis{chassis("c2", "provnet1")}, Groups: groups}
	p := gateway.Reschedule(down, gateway.Options{})
	assert.Len(t, p.Changes, 8)
	for _, c := range p.Changes {
		assert.Equal(t, []gateway.Candidate{{Chassis: "c2", Priority: 1}}, c.After)
	}
	back := applied(down, p)
	back.Chassis = append(back.Chassis, chassis("c1", "provnet1"))
	p = gateway.Reschedule(back, gateway.Options{})
	assert.Len(t, p.Changes, 8)
	for _, c := range p.Changes {
		assert.Equal(t, []gateway.Candidate{{Chassis: "c2", Priority: 2}, {Chassis: "c1", Priority: 1}}, c.After)
	}
}

func TestSpecRescheduleCase3MastersStayAsAThirdChassisIsAdded(t *testing.T) {
	t.Parallel()
	s := gateway.State{
		Chassis: []gateway.Chassis{chassis("c1", "provnet1"), chassis("c2", "provnet1"), chassis("c3", "provnet1")},
		Groups:  append(many(0, 6, "c1", "c2"), many(6, 6, "c2", "c1")...),
	}
	for _, scheduler := range []gateway.Scheduler{gateway.LeastLoaded, gateway.Random} {
		p := gateway.Reschedule(s, options(scheduler, 1))
		assert.Len(t, p.Changes, 12)
		for _, c := range p.Changes {
			assert.Equal(t, c.From(), c.To())
			assert.Len(t, c.After, 3)
		}
	}
}

func TestSpecRebalanceCase1EvenLoadStays(t *testing.T) {
	t.Parallel()
	s := two(3, 3)
	assert.True(t, gateway.Rebalance(s, gateway.Options{}).Empty())
}

func two(one, other int) gateway.State {
	return gateway.State{
		Chassis: []gateway.Chassis{chassis("c1", "provnet1"), chassis("c2", "provnet1")},
		Groups:  append(many(0, one, "c1", "c2"), many(one, other, "c2", "c1")...),
	}
}

func TestSpecRebalanceCase2DifferenceOfOneStays(t *testing.T) {
	t.Parallel()
	s := two(3, 2)
	assert.True(t, gateway.Rebalance(s, gateway.Options{}).Empty())
}

func TestSpecRebalanceCase3ThirdChassisGetsItsShare(t *testing.T) {
	t.Parallel()
	s := two(6, 6)
	s.Chassis = append(s.Chassis, chassis("c3", "provnet1"))
	assert.True(t, gateway.Rebalance(s, gateway.Options{}).Empty(), "it is no candidate yet")
	s = applied(s, gateway.Reschedule(s, gateway.Options{}))
	p := gateway.Rebalance(s, gateway.Options{})
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

func TestSpecRebalanceCase4NetworksAreApart(t *testing.T) {
	t.Parallel()
	s := gateway.State{Chassis: []gateway.Chassis{chassis("c1", "provnet1"), chassis("c2", "provnet2")}, Groups: many(0, 9, "c1")}
	assert.True(t, gateway.Rebalance(s, gateway.Options{AllowNewCandidates: true}).Empty())
}
