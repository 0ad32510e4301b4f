package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

func TestNetworkless_unbound_gateway_is_listed_and_not_interrupted(t *testing.T) {
	t.Parallel()
	bound, unbound := bind(hosted(1, "c1", "c2"), "c1"), hosted(2, "c1", "c2")
	bound.Ports[0].Network, unbound.Ports[0].Network = "", ""
	s := schedule.State{Chassis: pool("", "c1", "c2"), Groups: []schedule.Group{bound, unbound}}
	assert.Equal(t, []schedule.Networkless{{Name: bound.Name, Active: "c1"}, {Name: unbound.Name}},
		schedule.Evaluate(s, schedule.Options{}).Networkless)
	_, _, p := drained(s, "c1")
	assert.Equal(t, 2, p.Cost.Gateways)
	assert.Equal(t, 1, p.Cost.Interruptions)
}

// A candidate that is no chassis here is a finding, as it is for a gateway with a provider network. No plan replaces
// it, so a command does; the last candidate stays.
func TestNetworkless_missing_candidate_is_found(t *testing.T) {
	t.Parallel()
	transit, grouped := bind(hosted(1, "gone", "c1", "far"), "c1"), bind(hosted(2, "c1", "gone"), "c1")
	lone := bind(hosted(3, "gone"), "c1")
	grouped.Storage = schedule.HAChassisGroup
	for _, g := range []*schedule.Group{&transit, &grouped, &lone} {
		g.Ports[0].Network = ""
	}
	s := schedule.State{Chassis: pool("", "c1", "far"), Groups: []schedule.Group{transit, grouped, lone}}
	s.Chassis[1].Remote = true
	assert.Equal(t, []string{
		"warning CANDIDATE_INVALID " + transit.Name + " Value=far Reasons=OF_OTHER_OVN -> " +
			"ovn-nbctl lrp-del-gateway-chassis " + transit.Name + " far",
		"warning CANDIDATE_INVALID " + transit.Name + " Value=gone Reasons=CHASSIS_ABSENT -> UNLESS_IT_RETURNS: " +
			"ovn-nbctl lrp-del-gateway-chassis " + transit.Name + " gone {unit=gone}",
		"warning CANDIDATE_INVALID " + grouped.Name + " Value=gone Reasons=CHASSIS_ABSENT -> UNLESS_IT_RETURNS: " +
			"ovn-nbctl ha-chassis-group-remove-chassis " + grouped.Name + " gone {unit=gone}",
		"warning CANDIDATE_INVALID " + lone.Name + " Value=gone Reasons=CHASSIS_ABSENT",
	}, findingtest.All(schedule.Evaluate(s, schedule.Options{}).Findings))
	assert.Equal(t, 3, schedule.Conditions(s)[finding.CandidateInvalid])
}

// A router has a gateway to a provider network and one to a tunnelled network, in one group: the provider network
// decides which chassis may host both.
func TestNetworkless_gateway_in_group_goes_with_others(t *testing.T) {
	t.Parallel()
	g := bind(hosted(1, "c1", "c3"), "c1")
	tunnelled := g.Ports[0]
	tunnelled.Name, tunnelled.Network = "tunnelled", ""
	g.Ports, g.Storage = append(g.Ports, tunnelled), schedule.HAChassisGroup
	chassis := append(pool(g.Ports[0].Network, "c1", "c2"), pool("other", "c3")...)
	s := schedule.State{Chassis: chassis, Groups: []schedule.Group{g}}
	status := schedule.Evaluate(s, schedule.Options{})
	assert.Equal(t, 1, status.Networks[0].Ports)
	assert.Equal(t, []schedule.Networkless{{Name: "tunnelled", Active: "c1"}}, status.Networkless)
	assert.True(t, finding.Has(status.Findings, finding.CandidateInvalid), "c3 lacks the network")
	assert.Equal(t, []string{"c1", "c2"}, order(applied(s, schedule.Reschedule(s, schedule.Options{})), g.Name))
	after, _, p := drained(s, "c1")
	assert.Empty(t, p.Blocked)
	assert.Equal(t, "c2", order(after, g.Name)[0])
}

func TestClaimant_dead_remote_and_absent_chassis_host_nothing(t *testing.T) {
	t.Parallel()
	s := schedule.State{Chassis: pool("provnet1", "dead", "far", "here", "later")}
	s.Chassis[0].Unresponsive, s.Chassis[1].Remote = true, true
	assert.Equal(t, "here", s.Claimant(hosted(1, "gone", "dead", "far", "here", "later").Candidates))
	assert.Empty(t, s.Claimant(hosted(1, "gone", "dead", "far").Candidates))
}
