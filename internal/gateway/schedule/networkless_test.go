package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

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

func TestClaimant_dead_remote_and_absent_chassis_host_nothing(t *testing.T) {
	t.Parallel()
	s := schedule.State{Chassis: pool("provnet1", "dead", "far", "here", "later")}
	s.Chassis[0].Unresponsive, s.Chassis[1].Remote = true, true
	assert.Equal(t, "here", s.Claimant(hosted(1, "gone", "dead", "far", "here", "later").Candidates))
	assert.Empty(t, s.Claimant(hosted(1, "gone", "dead", "far").Candidates))
}
