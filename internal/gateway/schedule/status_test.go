package schedule_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

func TestEvaluate_single_candidate(t *testing.T) {
	t.Parallel()
	problems := func(chassis ...schedule.Chassis) []string {
		s := schedule.State{Chassis: chassis, Groups: []schedule.Group{hostedIn("physnet1", 1, "c1")}}
		s.Groups[0].Ports[0].Active = "c1"
		return findingtest.All(schedule.Evaluate(s, schedule.Options{}).Findings)
	}
	port := hostedIn("physnet1", 1).Name
	silent, cordoned, plain := chassis("c2", "physnet1"), chassis("c3", "physnet1"), chassis("c4", "physnet1")
	silent.Unresponsive, cordoned.Cordoned, plain.Gateway = true, true, false

	assert.Equal(t, []string{"warning SINGLE_CANDIDATE " + port + " Value=c1 Count=2"},
		problems(chassis("c1", "physnet1"), chassis("c2", "physnet1")))
	assert.Equal(t, []string{"warning SINGLE_CANDIDATE " + port + " Value=c1 Count=1 Detail=there are none"},
		problems(chassis("c1", "physnet1")))
	assert.Equal(t, []string{"warning SINGLE_CANDIDATE " + port + " Value=c1 Count=1 Detail=" +
		"1 chassis: no enable-chassis-as-gw; 1 chassis: cordoned; " +
		"1 chassis: ovn-controller is not responding (nb_cfg is stale)"},
		problems(chassis("c1", "physnet1"), silent, cordoned, plain))
}

// A plan that gives fewer candidates than possible reports why.
func TestReschedule_incomplete(t *testing.T) {
	t.Parallel()
	silent := chassis("c3", "physnet1")
	silent.Unresponsive = true
	s := schedule.State{
		Chassis: []schedule.Chassis{chassis("c1", "physnet1"), chassis("c2", "physnet1"), silent, chassis("c4", "physnet2")},
		Groups: []schedule.Group{
			hostedIn("physnet1", 1, "c1"), hostedIn("physnet1", 2, "c2", "c3"),
			hostedIn("physnet2", 3, "c4"),
		},
	}
	p := schedule.Reschedule(s, schedule.Options{})
	assert.Len(t, p.Changes, 2)
	assert.Equal(t, []string{"info CANDIDATES_INCOMPLETE physnet1 Count=1 Total=5 Detail=1 chassis: " +
		"ovn-controller is not responding (nb_cfg is stale)"}, findingtest.All(p.Findings))
	s.Chassis[2].Unresponsive = false
	assert.Empty(t, schedule.Reschedule(s, schedule.Options{}).Findings)
}

func TestEvaluate_next(t *testing.T) {
	t.Parallel()
	next := func(s schedule.State) (all []string) {
		for _, step := range schedule.Evaluate(s, schedule.Options{}).Next {
			all = append(all, fmt.Sprint(step.Operation, " ", step.Cost.Gateways, " ", step.Cost.Interruptions))
		}
		return all
	}
	s := schedule.State{Chassis: []schedule.Chassis{chassis("c1", "physnet1"), chassis("c2", "physnet1")}}
	for n := range 4 {
		g := hostedIn("physnet1", n, "c1")
		g.Ports[0].Active = "c1"
		s.Groups = append(s.Groups, g)
	}
	assert.Equal(t, []string{"reschedule 4 0"}, next(s))
	s = applied(s, schedule.Reschedule(s, schedule.Options{}))
	assert.Equal(t, []string{"rebalance 2 2"}, next(s))
	assert.Contains(t, document.Gateways(schedule.Evaluate(s, schedule.Options{})),
		"\nnext\n  rebalance: 2 gateways and 4 rows change; interrupts 2 gateways for about a second each\n")
	s = applied(s, schedule.Rebalance(s, schedule.Options{}))
	assert.Empty(t, next(s))
	assert.NotContains(t, document.Gateways(schedule.Evaluate(s, schedule.Options{})), "next")
}

// A gateway that is bound to its new first candidate already is marked.
func TestChange_arrived(t *testing.T) {
	t.Parallel()
	g := hostedIn("physnet1", 1, "c1", "c2")
	c := schedule.Change{
		Group: g.Name, Ports: g.Ports, Before: g.Candidates,
		After: []schedule.Candidate{{Chassis: "c2", Priority: 2}, {Chassis: "c1", Priority: 1}},
	}
	assert.False(t, c.Arrived())
	c.Ports[0].Active = "c1"
	assert.False(t, c.Arrived())
	c.Ports[0].Active = "c2"
	assert.True(t, c.Arrived())
	assert.Contains(t, document.Plan(schedule.Plan{Changes: []schedule.Change{c}}), "c1 -> c2 (bound to c2 already)\n")
}

func TestStatus_unknown_network_is_not_reported_as_no_gateways(t *testing.T) {
	t.Parallel()
	s := schedule.State{
		Chassis: []schedule.Chassis{chassis("c1", "physnet1")},
		Groups:  []schedule.Group{hostedIn("physnet1", 1, "c1")},
	}
	const none = "no gateways are connected to provider networks"
	shown := func(networks ...string) string {
		return document.Gateways(schedule.Evaluate(s, schedule.Options{Networks: networks}))
	}
	unknown := shown("physnet7")
	assert.NotContains(t, unknown, none)
	assert.Contains(t, unknown, "physnet1")
	s.Groups = nil
	assert.Contains(t, shown(), none)
}
