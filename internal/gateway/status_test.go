package gateway_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
)

// What has one candidate only is named, whether or not something can be done about it.
func TestGatewaysThatHangOnOneChassisAreNamed(t *testing.T) {
	t.Parallel()
	problems := func(chassis ...gateway.Chassis) []gateway.Problem {
		s := gateway.State{Chassis: chassis, Groups: []gateway.Group{hostedIn("physnet1", 1, "c1")}}
		return gateway.Look(s, gateway.Options{}).Problems
	}
	port := hostedIn("physnet1", 1).Name
	silent, cordoned, plain := chassis("c2", "physnet1"), chassis("c3", "physnet1"), chassis("c4", "physnet1")
	silent.Silent, cordoned.Cordoned, plain.Gateway = true, true, false

	assert.Equal(t, []gateway.Problem{{port, "it hangs on c1 alone; 2 could host it"}},
		problems(chassis("c1", "physnet1"), chassis("c2", "physnet1")))
	assert.Equal(t, []gateway.Problem{{port, "it hangs on c1 alone; no other chassis may host it: there is none"}},
		problems(chassis("c1", "physnet1")))
	assert.Equal(t, []gateway.Problem{{port, "it hangs on c1 alone; no other chassis may host it: " +
		"1 × it has no enable-chassis-as-gw; 1 × it is cordoned; 1 × its ovn-controller is silent"}},
		problems(chassis("c1", "physnet1"), silent, cordoned, plain))
}

// A plan that gives fewer candidates than there could be says what stands against it.
func TestCandidatesThatTakeNothingNewAreMissed(t *testing.T) {
	t.Parallel()
	silent := chassis("c3", "physnet1")
	silent.Silent = true
	s := gateway.State{
		Chassis: []gateway.Chassis{chassis("c1", "physnet1"), chassis("c2", "physnet1"), silent, chassis("c4", "physnet2")},
		Groups:  []gateway.Group{hostedIn("physnet1", 1, "c1"), hostedIn("physnet1", 2, "c2", "c3"), hostedIn("physnet2", 3, "c4")},
	}
	p := gateway.Reschedule(s, gateway.Options{})
	assert.Len(t, p.Changes, 2)
	assert.Equal(t, []gateway.Problem{{"physnet1", "1 gateway with fewer than 5 candidates, and who could be one takes nothing new: 1 × its ovn-controller is silent"}}, p.Problems)
	s.Chassis[2].Silent = false
	assert.Empty(t, gateway.Reschedule(s, gateway.Options{}).Problems)
}

// Whoever reads a status need not guess what to type next, nor what it would cost.
func TestStatusSaysWhatToDoNext(t *testing.T) {
	t.Parallel()
	next := func(s gateway.State) (all []string) {
		for _, step := range gateway.Look(s, gateway.Options{}).Next {
			all = append(all, fmt.Sprint(step.Operation, " ", step.Cost.Gateways, " ", step.Cost.Interruptions))
		}
		return all
	}
	s := gateway.State{Chassis: []gateway.Chassis{chassis("c1", "physnet1"), chassis("c2", "physnet1")}}
	for n := range 4 {
		g := hostedIn("physnet1", n, "c1")
		g.Ports[0].Active = "c1"
		s.Groups = append(s.Groups, g)
	}
	assert.Equal(t, []string{"reschedule 4 0"}, next(s))
	s = applied(s, gateway.Reschedule(s, gateway.Options{}))
	assert.Equal(t, []string{"rebalance 2 2"}, next(s))
	assert.Contains(t, gateway.Look(s, gateway.Options{}).Text(),
		"\nnext\n  rebalance: 2 gateways and 4 rows change; it costs 2 gateways their traffic for about a second each\n")
	s = applied(s, gateway.Rebalance(s, gateway.Options{}))
	assert.Empty(t, next(s))
	assert.NotContains(t, gateway.Look(s, gateway.Options{}).Text(), "next")
}
