package schedule_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

func TestStatus_of_one_network_counts_other_problems(t *testing.T) {
	t.Parallel()
	here, elsewhere := hosted(0), hostedIn("provnet2", 1)
	s := schedule.State{
		Chassis: pool("provnet1", "c1"), Groups: []schedule.Group{here, elsewhere},
		Pinned: []schedule.Pinned{{Name: "gr", Networks: []string{"provnet2"}}},
	}
	all := schedule.Evaluate(s, schedule.Options{})
	all.Findings = []finding.Finding{
		finding.About(finding.NorthdBehind, "", finding.Args{}), finding.About(finding.MappingsInvalid, "c1", finding.Args{}),
		finding.About(finding.GatewayUnbound, here.Ports[0].Name, finding.Args{}),
		finding.About(finding.GatewayWithoutCandidate, elsewhere.Name, finding.Args{}),
		finding.About(finding.GatewayUnbound, "gr", finding.Args{}),
	}
	of := all.OnNetworks(s, []string{"provnet1"})
	assert.Equal(t, all.Findings[:3], of.Findings)
	assert.Equal(t, 2, of.Elsewhere)
	assert.Regexp(t, `(?m)^2 `, document.Gateways(of))
	assert.Equal(t, all, all.OnNetworks(s, nil))
}

func TestEvaluate_findings(t *testing.T) {
	t.Parallel()
	c1, both := chassis("c1", "provnet1"), pool("provnet1", "c1", "c2")
	silent, cordoned, unmarked := chassis("c3", "provnet1"), chassis("c4", "provnet1"), chassis("c5", "provnet1")
	silent.Unresponsive, cordoned.Cordoned, unmarked.Gateway = true, true, false
	dead := append(pool("provnet1", "c1", "c2"), silent)
	good, single, first := bind(hosted(1, "c1", "c2"), "c1"), bind(hosted(0, "c1"), "c1"), hosted(0, "c3", "c1", "c2")
	tied := bind(hosted(0, "c1", "c2"), "c2")
	tied.Candidates[0].Priority = 1
	name := hosted(0).Name
	for title, test := range map[string]struct {
		chassis []schedule.Chassis
		groups  []schedule.Group
		// network limits the request if it is not empty.
		network string
		// want is the only finding; empty means none.
		want string
	}{
		"nothing is bound": {
			both,
			[]schedule.Group{hosted(0, "c1", "c2")},
			"",
			"error NO_GATEWAY_BOUND Count=2 Total=2 Reasons=GATEWAY_COUNT 1 -> " + string(finding.ReadLogsOfOVN),
		},
		"a gateway without candidates": {
			both, []schedule.Group{good, hosted(0)}, "", "warning GATEWAY_WITHOUT_CANDIDATE " + name,
		},
		"no chassis may be a candidate": {
			[]schedule.Chassis{chassis("c1", "provnet2"), chassis("c2", "provnet2"), unmarked},
			[]schedule.Group{bind(hostedIn("provnet2", 1, "c1", "c2"), "c1"), hosted(0)},
			"",
			"warning NO_CHASSIS_MARKED Reasons=NEUTRON_GIVES_NONE; ON_NETWORKS provnet1" +
				" -> config ovn-chassis prefer-chassis-as-gw=true\nwarning GATEWAY_WITHOUT_CANDIDATE " + name,
		},
		"one candidate of two": {
			both, []schedule.Group{single}, "", "warning SINGLE_CANDIDATE " + name + " Value=c1 Count=2",
		},
		"one candidate and chassis": {
			both[:1],
			[]schedule.Group{single},
			"",
			"warning SINGLE_CANDIDATE " + name + " Value=c1 Count=1 Reasons=NO_CHASSIS_LEFT",
		},
		"one candidate may take over": {
			[]schedule.Chassis{c1, silent, cordoned, unmarked},
			[]schedule.Group{single},
			"",
			"warning SINGLE_CANDIDATE " + name + " Value=c1 Count=1 Reasons=" +
				"CHASSIS_COUNT 1 (NO_GATEWAY_CHASSIS); CHASSIS_COUNT 1 (IS_CORDONED); CHASSIS_COUNT 1 (CHASSIS_SILENT)",
		},
		"two candidates of one priority": {
			both, []schedule.Group{tied}, "", "info CANDIDATES_TIED " + name + " Other=c1 Value=c2 Count=1",
		},
		"an unknown network": {
			both,
			[]schedule.Group{good, hostedIn("provnet2", 2)},
			"physnet7",
			"warning NETWORK_UNKNOWN physnet7 Reasons=NETWORKS_ARE provnet1, provnet2",
		},
		"a network while no gateway has one": {both, nil, "physnet7", "warning NETWORK_UNKNOWN physnet7"},
		"a gateway without a network": {
			both, []schedule.Group{good, hostedIn("", 0)}, "", "warning GATEWAY_NETWORK_UNKNOWN lrp--0000",
		},
		"bound to the first candidate, which is dead": {
			dead,
			[]schedule.Group{bind(first, "c3")},
			"",
			"warning GATEWAY_HOST_SILENT " + name + " Value=c3 -> IF_THIS_LASTS_THERE: systemctl restart ovn-controller",
		},
		"bound to the second candidate, the first is dead": {dead, []schedule.Group{bind(first, "c1")}, "", ""},
		"bound to the third candidate, the first is dead": {
			dead,
			[]schedule.Group{bind(first, "c2")},
			"",
			"warning GATEWAY_MISPLACED " + name + " Other=c2 Value=c1 Reasons=BEST_IS_SILENT c3",
		},
		"bound nowhere, the first candidate is dead": {
			dead,
			[]schedule.Group{good, first},
			"",
			"warning GATEWAY_UNBOUND " + name + " Value=c1 Reasons=BEST_IS_SILENT c3",
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			var o schedule.Options
			if test.network != "" {
				o.Networks = []string{test.network}
			}
			s := schedule.State{Chassis: test.chassis, Groups: test.groups}
			var want []string
			if test.want != "" {
				want = strings.Split(test.want, "\n")
			}
			assert.Equal(t, want, findingtest.All(schedule.Evaluate(s, o).Findings))
		})
	}
	lone := schedule.State{Chassis: dead[2:], Groups: []schedule.Group{bind(first, "c3")}}
	assert.Contains(t, findingtest.All(schedule.Evaluate(lone, schedule.Options{}).Findings),
		"error NO_CHASSIS_RESPONDS Total=1 Reasons=GATEWAY_COUNT 1 -> "+string(finding.StartControllers))
	s := schedule.State{Chassis: both, Groups: []schedule.Group{good}}
	p := schedule.Reschedule(s, schedule.Options{Added: []string{"c9"}})
	assert.Equal(t, []string{"info CHASSIS_UNKNOWN c9"}, findingtest.All(p.Findings))
}

func TestClass(t *testing.T) {
	t.Parallel()
	classes := func(candidates ...string) map[schedule.Class]int {
		count := map[schedule.Class]int{}
		s := schedule.State{Chassis: pool("provnet1", "c1", "c2"), Groups: many(1, 1, candidates...)}
		for _, c := range schedule.Reschedule(s, schedule.Options{}).Changes {
			for _, r := range c.Rows {
				count[c.Class(r)]++
				assert.Contains(t, schedule.Classes(), c.Class(r))
			}
		}
		return count
	}
	assert.Equal(t, map[schedule.Class]int{schedule.ClassUnhosted: 2}, classes())
	assert.Equal(t, map[schedule.Class]int{schedule.ClassIncomplete: 1, schedule.ClassRank: 1}, classes("c1"))
	assert.Equal(t, map[schedule.Class]int{schedule.ClassReplaced: 2}, classes("c1", "c9"))
}

// Conditions counts what Evaluate finds.
func TestConditions(t *testing.T) {
	t.Parallel()
	lost := bind(hosted(5, "c1"), "c1")
	lost.Kind, lost.Follows, lost.Ports[0].External = schedule.ExternalPorts, "none", true
	s := schedule.State{Chassis: pool("provnet1", "c1", "c2"), Groups: []schedule.Group{
		hosted(1), bind(hosted(2, "c1"), "c1"), bind(hosted(3, "c1", "c2", "c9"), "c1"),
		bind(hosted(4, "c1", "c2"), "c2"), lost,
	}}
	assert.Equal(t, map[finding.Code]int{
		finding.GatewayUnbound: 1, finding.SingleCandidate: 1, finding.CandidateInvalid: 1, finding.GatewayMisplaced: 1,
		finding.ExternalGatewayUnknown: 1, finding.ExternalUnserved: 0, finding.GatewayHostSilent: 0,
		finding.NoGatewayBound: 0, finding.NoChassisResponds: 0,
	}, schedule.Conditions(s))
	assert.Len(t, schedule.Evaluate(s, schedule.Options{}).Findings, 5)

	s = two(3, 2)
	s.Groups[0] = bind(s.Groups[0], "c1")
	assert.Equal(t, 4, schedule.Conditions(s)[finding.GatewayUnbound])
	assert.Zero(t, schedule.Conditions(s)[finding.GatewayMisplaced], "what is bound nowhere is not misplaced")
	s.Chassis[0].Unresponsive = true
	silent := schedule.Conditions(s)
	assert.Equal(t, 1, silent[finding.GatewayHostSilent])
	assert.Equal(t, 4, silent[finding.GatewayUnbound])
}

// A plan that can't balance reports why, and does not claim to be balanced.
func TestRebalance_proof_without_moves(t *testing.T) {
	t.Parallel()
	for _, s := range []schedule.State{two(3, 2), two(4, 1)} {
		p := schedule.Rebalance(s, schedule.Options{})
		assert.True(t, finding.Has(p.Findings, finding.NoGatewayBound))
		assert.NotEqual(t, finding.BoundBalanced, p.Bounds[0].Why.Code)
		for _, step := range schedule.Evaluate(s, schedule.Options{}).Next {
			assert.NotEqual(t, "rebalance", step.Operation)
		}
	}
	proof := func(unresponsive, cordoned int) finding.ReasonCode { // numbers of chassis
		s := schedule.State{Chassis: pool("provnet1", "c1", "c2"), Groups: many(1, 2, "c1", "c2")}
		for i := range s.Chassis {
			s.Chassis[i].Unresponsive, s.Chassis[i].Cordoned = i < unresponsive, i < cordoned
		}
		return schedule.Rebalance(s, schedule.Options{}).Bounds[0].Why.Code
	}
	assert.Equal(t, finding.BoundByChassis, proof(2, 0))
	assert.Equal(t, finding.BoundByChassis, proof(1, 2))
	assert.Equal(t, finding.BoundFewestMoves, proof(0, 1))
}

func TestOptions_networks(t *testing.T) {
	t.Parallel()
	g := hostedIn("phyext", 1)
	g.Kind, g.Ports[0].External = schedule.ExternalPorts, true
	s := schedule.State{Chassis: pool("phyext", "c1"), Groups: []schedule.Group{g}}
	o := schedule.Options{Networks: []string{"phyext"}}
	p := schedule.Reschedule(s, o)
	assert.Len(t, p.Changes, 1)
	for _, found := range [][]finding.Finding{p.Findings, schedule.Evaluate(s, o).Findings} {
		assert.False(t, finding.Has(found, finding.NetworkUnknown), "that only external ports are connected to")
	}
	s = schedule.State{Chassis: pool("provnet1", "c1"), Groups: many(0, 1, "c1")}
	shown, none := document.Gateways(schedule.Evaluate(s, o)), document.Gateways(schedule.Status{})
	assert.NotContains(t, shown, none)
	assert.Contains(t, shown, "provnet1", "another one was asked for")
}

func TestClear_blocked(t *testing.T) {
	t.Parallel()
	first, alone := hosted(0, "c1", "c2"), hosted(1, "c3", "c1")
	s := schedule.State{Chassis: pool("provnet1", "c1", "c2", "c3"), Groups: []schedule.Group{first, alone}}
	s.Chassis[2].Unresponsive = true
	assert.Equal(t, []string{
		"error CANDIDATE_STAYS " + first.Name + " Value=c1 Reasons=IS_FIRST",
		"error CANDIDATE_STAYS " + alone.Name + " Value=c1 Reasons=NO_OTHER_ALIVE",
	}, findingtest.All(schedule.Clear(s, "c1").Blocked))
	s.Pinned = []schedule.Pinned{
		{Name: "r1", Kind: schedule.PinnedRouter, Chassis: "c1", Record: "r1", Networks: []string{"provnet1"}},
		{Name: "v1", Kind: schedule.PinnedVTEP, Chassis: "c1", Record: "v1"},
	}
	assert.Equal(t, []string{
		"error GATEWAY_PINNED r1 Value=c1 Reasons=PINNED_BY chassis -> ovn-nbctl set Logical_Router r1 options:chassis=c2",
		"error GATEWAY_PINNED v1 Value=c1 Reasons=PINNED_VTEP vtep-physical-switch",
	}, findingtest.All(s.Moves("c1")))
}

// A plan that gives fewer candidates than possible reports why.
func TestReschedule_incomplete(t *testing.T) {
	t.Parallel()
	s := schedule.State{
		Chassis: append(pool("provnet1", "c1", "c2", "c3"), chassis("c4", "provnet2")),
		Groups:  []schedule.Group{hosted(1, "c1"), hosted(2, "c2", "c3"), hostedIn("provnet2", 3, "c4")},
	}
	s.Chassis[2].Unresponsive = true
	p := schedule.Reschedule(s, schedule.Options{})
	assert.Len(t, p.Changes, 2)
	assert.Equal(t,
		[]string{"info CANDIDATES_INCOMPLETE provnet1 Count=1 Total=5 Reasons=CHASSIS_COUNT 1 (CHASSIS_SILENT)"},
		findingtest.All(p.Findings))
	s.Chassis[2].Unresponsive = false
	assert.Empty(t, schedule.Reschedule(s, schedule.Options{}).Findings)
}

func TestEvaluate_next(t *testing.T) {
	t.Parallel()
	s := schedule.State{Chassis: pool("provnet1", "c1", "c2")}
	for n := range 4 {
		s.Groups = append(s.Groups, bind(hosted(n, "c1"), "c1"))
	}
	for _, want := range []schedule.Step{
		{Operation: "reschedule", Cost: schedule.Cost{Gateways: 4, Rows: 8}},
		{Operation: "rebalance", Cost: schedule.Cost{Gateways: 2, Rows: 4, Interruptions: 2}},
	} {
		require.Equal(t, []schedule.Step{want}, schedule.Evaluate(s, schedule.Options{}).Next)
		plan := schedule.Rebalance
		if want.Operation == "reschedule" {
			plan = schedule.Reschedule
		}
		s = applied(s, plan(s, schedule.Options{}))
	}
	assert.Empty(t, schedule.Evaluate(s, schedule.Options{}).Next)
}

// A gateway that is already bound to its new first candidate is marked.
func TestChange_arrived(t *testing.T) {
	t.Parallel()
	for active, arrived := range map[string]bool{"": false, "c1": false, "c2": true} {
		g := bind(hosted(1, "c1", "c2"), active)
		c := schedule.Change{Group: g.Name, Ports: g.Ports, Before: g.Candidates, After: candidates("c2", "c1")}
		assert.Equal(t, arrived, c.Arrived(), active)
		text := document.Plan(schedule.Plan{Changes: []schedule.Change{c}})
		assert.Equal(t, arrived, strings.Contains(text, "c1 -> c2 ("), text)
	}
}

func TestEvaluate_dead_backup_takes_over_nothing(t *testing.T) {
	t.Parallel()
	s := schedule.State{
		Chassis: pool("provnet1", "c1", "c2", "c3"),
		Groups:  []schedule.Group{bind(hosted(1, "c1", "c2"), "c1"), bind(hosted(2, "c1", "c2", "c3"), "c1")},
	}
	s.Chassis[1].Unresponsive = true
	host := schedule.Evaluate(s, schedule.Options{}).Networks[0].Hosts[0]
	assert.Equal(t, "c1", host.Chassis)
	assert.Equal(t, 1, host.Failure.Lost)
	assert.Equal(t, 1, host.Failure.Most, "c3 takes over the other one")
}

// withDeadMaster returns a cloud of these groups whose third chassis does not respond.
func withDeadMaster(groups ...schedule.Group) schedule.State {
	s := schedule.State{Chassis: pool("provnet1", "c1", "c2", "dead"), Groups: groups}
	s.Chassis[2].Unresponsive = true
	return s
}

// A backup that hosts the gateways of a dead master has the load: a rebalancing leaves these gateways, and relieves the
// backup of others.
func TestRebalance_backup_has_load_of_dead_master(t *testing.T) {
	t.Parallel()
	s := withDeadMaster(bind(hosted(1, "dead", "c1", "c2"), "c1"), bind(hosted(2, "dead", "c2", "c1"), "c2"))
	p := schedule.Rebalance(s, schedule.Options{})
	assert.Empty(t, p.Changes, "each of c1 and c2 hosts one")
	left := "info GATEWAYS_ON_BACKUPS dead Count=2 Detail=" + s.Groups[0].Name + ", " + s.Groups[1].Name
	assert.Equal(t, []string{left}, findingtest.All(p.Findings))
	elsewhere := schedule.Rebalance(s, schedule.Options{Hold: map[string]bool{s.Groups[0].Name: true, s.Groups[1].Name: true}})
	assert.Empty(t, elsewhere.Findings, "the request leaves these out")

	s.Groups[1] = bind(hosted(2, "c1", "c2"), "c1")
	s.Groups = append(s.Groups, bind(hosted(3, "c1", "c2"), "c1"))
	p = schedule.Rebalance(s, schedule.Options{})
	require.Len(t, p.Changes, 1, "c1 hosts three, c2 none")
	assert.NotEqual(t, s.Groups[0].Name, p.Changes[0].Group)

	status := schedule.Evaluate(s, schedule.Options{}).Networks[0]
	assert.Equal(t, 3, status.Spread())
	host := status.Hosts[0]
	assert.Equal(t, []int{3, 2}, []int{host.Hosts, host.Masters})
	assert.Equal(t, 3, host.Failure.Most, "c2 takes over all")
}

// The drain of a dead master leaves each gateway on the backup that hosts it, and so interrupts nothing.
func TestDrain_dead_master_keeps_hosts(t *testing.T) {
	t.Parallel()
	s := withDeadMaster(bind(hosted(1, "dead", "c1", "c2"), "c1"), bind(hosted(2, "dead", "c1", "c2"), "c1"))
	p := schedule.Drain(s, "dead", nil)
	assert.Zero(t, p.Cost.Interruptions)
	for _, g := range s.Groups {
		assert.Equal(t, "c1", order(applied(s, p), g.Name)[0])
	}
}
