package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

func TestEvaluate_findings(t *testing.T) {
	t.Parallel()
	silent, unmarked := chassis("c1", "physnet1"), chassis("c3", "physnet1")
	silent.Unresponsive, unmarked.Gateway = true, false
	both := []schedule.Chassis{chassis("c1", "physnet1"), chassis("c2", "physnet1")}
	tied := bind(hostedIn("physnet1", 0, "c1", "c2"), "c1")
	tied.Candidates[0].Priority = 1
	good := bind(hostedIn("physnet1", 1, "c1", "c2"), "c1")
	name := hostedIn("physnet1", 0).Name
	dead := []schedule.Chassis{silent, chassis("c2", "physnet1"), chassis("c3", "physnet1")}
	third := bind(hostedIn("physnet1", 0, "c1", "c2", "c3"), "c3")
	for title, test := range map[string]struct {
		chassis []schedule.Chassis
		groups  []schedule.Group
		options schedule.Options
		want    string
	}{
		"nothing is bound": {
			both,
			[]schedule.Group{hostedIn("physnet1", 0, "c1", "c2")},
			schedule.Options{},
			"warning NO_GATEWAY_BOUND Count=2 Total=2 Detail=gateways: 1, external ports: 0",
		},
		"no chassis responds": {
			[]schedule.Chassis{silent},
			[]schedule.Group{good},
			schedule.Options{},
			"warning NO_CHASSIS_RESPONDS Total=1",
		},
		"a gateway without candidates": {
			both,
			[]schedule.Group{good, hostedIn("physnet1", 0)},
			schedule.Options{},
			"warning GATEWAY_WITHOUT_CANDIDATE " + name,
		},
		"no chassis may be a candidate": {
			[]schedule.Chassis{chassis("c1", "physnet2"), unmarked},
			[]schedule.Group{bind(hostedIn("physnet2", 1, "c1"), "c1"), hostedIn("physnet1", 0)},
			schedule.Options{},
			"warning GATEWAY_WITHOUT_CANDIDATE " + name +
				" Detail=no chassis is eligible: 1 chassis: no enable-chassis-as-gw; 1 chassis: not connected to physnet1",
		},
		"two candidates of one priority": {both, []schedule.Group{tied}, schedule.Options{}, "info CANDIDATES_TIED " + name +
			" Other=c1 Value=c2 Count=1"},
		"a network that is not known": {
			both,
			[]schedule.Group{good, hostedIn("physnet2", 2)},
			schedule.Options{Networks: []string{"physnet7"}},
			"warning NETWORK_UNKNOWN physnet7 Detail=networks with gateways: physnet1, physnet2",
		},
		"a network while no gateway has one": {
			both, nil, schedule.Options{Networks: []string{"physnet7"}}, "warning NETWORK_UNKNOWN physnet7",
		},
		"a gateway without a network": {
			both,
			[]schedule.Group{good, hostedIn("", 0)},
			schedule.Options{},
			"warning GATEWAY_NETWORK_UNKNOWN lrp--0000",
		},
		"bound to the first candidate, which is dead": {
			dead,
			[]schedule.Group{good},
			schedule.Options{},
			"warning GATEWAY_HOST_SILENT " + good.Name + " Value=c1 -> " +
				"IF_THIS_LASTS_THERE: systemctl restart ovn-controller",
		},
		"bound to the third candidate, the first is dead": {
			dead,
			[]schedule.Group{third},
			schedule.Options{},
			"warning GATEWAY_MISPLACED " + name + " Other=c3 Value=c2 Detail=ovn-controller on c1 is not responding",
		},
		"bound nowhere, the first candidate is dead": {
			dead,
			[]schedule.Group{good, hostedIn("physnet1", 0, "c1", "c2")},
			schedule.Options{},
			"warning GATEWAY_UNBOUND " + name + " Value=c2 Detail=ovn-controller on c1 is not responding",
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			found := schedule.Evaluate(schedule.State{Chassis: test.chassis, Groups: test.groups}, test.options).Findings
			assert.Contains(t, findingtest.All(found), test.want)
		})
	}
	p := schedule.Reschedule(schedule.State{Chassis: both, Groups: []schedule.Group{good}},
		schedule.Options{Added: []string{"c9"}})
	assert.Equal(t, []string{"info CHASSIS_UNKNOWN c9"}, findingtest.All(p.Findings))
}

// The first candidate is dead, and the second hosts the gateway: nothing is misplaced.
func TestEvaluate_dead_chassis_is_not_expected_to_host(t *testing.T) {
	t.Parallel()
	silent := chassis("c1", "physnet1")
	silent.Unresponsive = true
	s := schedule.State{
		Chassis: []schedule.Chassis{silent, chassis("c2", "physnet1")},
		Groups:  []schedule.Group{bind(hostedIn("physnet1", 0, "c1", "c2"), "c2")},
	}
	assert.Empty(t, schedule.Evaluate(s, schedule.Options{}).Findings)
	assert.Zero(t, schedule.Conditions(s)[finding.GatewayMisplaced])
}

func TestConditions_unbound_gateway_is_not_misplaced(t *testing.T) {
	t.Parallel()
	s := two(3, 2)
	s.Groups[0].Ports[0].Active = "c1"
	assert.Equal(t, 4, schedule.Conditions(s)[finding.GatewayUnbound])
	assert.Zero(t, schedule.Conditions(s)[finding.GatewayMisplaced])
}

func TestRebalance_no_gateway_bound(t *testing.T) {
	t.Parallel()
	for _, s := range []schedule.State{two(3, 2), two(4, 1)} {
		p := schedule.Rebalance(s, schedule.Options{})
		assert.True(t, finding.Has(p.Findings, finding.NoGatewayBound))
		assert.NotEqual(t, "already balanced", p.Bounds[0].Proof)
		for _, step := range schedule.Evaluate(s, schedule.Options{}).Next {
			assert.NotEqual(t, "rebalance", step.Operation)
		}
	}
}

// A network that only external ports are connected to has no table, and is known.
func TestOptions_network_of_external_ports_is_known(t *testing.T) {
	t.Parallel()
	g := hostedIn("phyext", 1)
	g.Kind, g.Ports[0].External = schedule.ExternalPorts, true
	s := schedule.State{Chassis: []schedule.Chassis{chassis("c1", "phyext")}, Groups: []schedule.Group{g}}
	o := schedule.Options{Networks: []string{"phyext"}}
	assert.False(t, finding.Has(schedule.Evaluate(s, o).Findings, finding.NetworkUnknown))
	p := schedule.Reschedule(s, o)
	assert.Len(t, p.Changes, 1)
	assert.False(t, finding.Has(p.Findings, finding.NetworkUnknown))
}

func TestClear_blocked(t *testing.T) {
	t.Parallel()
	silent := chassis("c3", "physnet1")
	silent.Unresponsive = true
	first, alone := hostedIn("physnet1", 0, "c1", "c2"), hostedIn("physnet1", 1, "c3", "c1")
	s := schedule.State{
		Chassis: []schedule.Chassis{chassis("c1", "physnet1"), chassis("c2", "physnet1"), silent},
		Groups:  []schedule.Group{first, alone},
	}
	assert.Equal(t, []string{
		"error CANDIDATE_STAYS " + first.Name + " Value=c1 Detail=it is the first candidate",
		"error CANDIDATE_STAYS " + alone.Name + " Value=c1 Detail=no other one is alive and not cordoned",
	}, findingtest.All(schedule.Clear(s, "c1").Blocked))
	s.Pinned = []schedule.Pinned{
		{Name: "r1", Kind: schedule.PinnedRouter, Chassis: "c1", Record: "r1", Networks: [][]string{{"physnet1"}}},
		{Name: "v1", Kind: schedule.PinnedVTEP, Chassis: "c1", Record: "v1"},
	}
	assert.Equal(t, []string{
		"error GATEWAY_PINNED r1 Value=c1 Detail=by options:chassis -> ovn-nbctl set Logical_Router r1 options:chassis=c2",
		"error GATEWAY_PINNED v1 Value=c1 Detail=by options:vtep-physical-switch, " +
			"which only another VTEP gateway could take over",
	}, findingtest.All(s.Moves("c1")))
}

func TestRebalance_without_eligible_chassis_is_not_called_balanced(t *testing.T) {
	t.Parallel()
	c1, c2 := chassis("c1", "physnet1"), chassis("c2", "physnet1")
	s := schedule.State{Groups: []schedule.Group{hostedIn("physnet1", 1, "c1", "c2"), hostedIn("physnet1", 2, "c1", "c2")}}
	proof := func() string {
		s.Chassis = []schedule.Chassis{c1, c2}
		p := schedule.Rebalance(s, schedule.Options{})
		require.Len(t, p.Bounds, 1)
		return p.Bounds[0].Proof
	}
	c1.Unresponsive, c2.Unresponsive = true, true
	assert.Equal(t, "no chassis can take a gateway now", proof())
	c1.Unresponsive, c1.Cordoned = false, true
	assert.Equal(t, "no chassis can take a gateway now", proof())
	c2.Unresponsive = false
	assert.NotEqual(t, "no chassis can take a gateway now", proof())
}
