package schedule_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/shelltest"
)

// moves returns the chassis to which the commands pin the gateways that are pinned to c1; empty means no command.
func moves(t *testing.T, s schedule.State) (to []string) {
	t.Helper()
	for _, f := range s.Moves("c1") {
		if len(f.Remedies) == 0 {
			to = append(to, "")
			continue
		}
		words := f.Remedies[0].Command.Words
		require.Len(t, words, 5)
		_, chassis, _ := strings.Cut(words[4], "=")
		to = append(to, chassis)
	}
	return to
}

func TestMoves(t *testing.T) {
	t.Parallel()
	chassis := func(name string, gateway bool, networks ...string) schedule.Chassis {
		return schedule.Chassis{Name: name, Gateway: gateway, Networks: networks}
	}
	pinned := func(name string, networks ...string) schedule.Pinned {
		p := schedule.Pinned{Name: name, Kind: schedule.PinnedRouter, Chassis: "c1", Record: name}
		if networks != nil {
			p.Networks = []string{schedule.JoinNetworks(networks)}
		}
		return p
	}
	busy := schedule.Pinned{Name: "busy", Kind: schedule.PinnedRouter, Chassis: "c2"}
	silent, shut, remote := chassis("c5", true, "n"), chassis("c6", true, "n"), chassis("c7", true, "n")
	silent.Unresponsive, shut.Cordoned, remote.Remote = true, true, true
	vtep := schedule.Chassis{Name: "c8", VTEP: true}
	all := []schedule.Chassis{
		chassis("c1", true, "n"), chassis("c10", true, "n", "m"), chassis("c2", true, "n"),
		chassis("c3", false, "n", "o"), silent, shut, remote,
	}
	for name, test := range map[string]struct {
		chassis []schedule.Chassis
		pinned  []schedule.Pinned
		want    []string
	}{
		"one after the other, names as people order them": {
			all, []schedule.Pinned{pinned("r10", "n"), pinned("r2", "n"), pinned("r1", "n")}, []string{"c2", "c10", "c2"},
		},
		"to which fewer are pinned":                {all, []schedule.Pinned{pinned("r", "n"), busy}, []string{"c10"}},
		"of several networks one is enough":        {all, []schedule.Pinned{pinned("r", "x", "m")}, []string{"c10"}},
		"one without the mark, if no other has it": {all, []schedule.Pinned{pinned("r", "o")}, []string{"c3"}},
		"none that is dead, cordoned or remote": {
			[]schedule.Chassis{all[0], silent, shut, remote}, []schedule.Pinned{pinned("r", "n")}, []string{""},
		},
		"any, if no network is known": {all[:3], []schedule.Pinned{pinned("r")}, []string{"c2"}},
		"no VTEP gateway":             {[]schedule.Chassis{all[0], vtep}, []schedule.Pinned{pinned("r")}, []string{""}},
		"alone":                       {all[:1], []schedule.Pinned{pinned("r", "n")}, []string{""}},
		"VTEP": {
			all, []schedule.Pinned{{Name: "v", Kind: schedule.PinnedVTEP, Chassis: "c1", Record: "v"}}, []string{""},
		},
	} {
		s := schedule.State{Chassis: test.chassis, Pinned: test.pinned}
		assert.Equal(t, test.want, moves(t, s), name)
		slices.Reverse(s.Chassis)
		slices.Reverse(s.Pinned)
		assert.Equal(t, test.want, moves(t, s), "%s, in another order", name)
		slices.Reverse(s.Chassis)
	}
}

// A router that its client makes for each node stays: the client would undo a move. One that Neutron has pinned by
// mistake is unpinned, so that its candidates count. A member of a router's group comes first, and the
// old chassis last in the group.
func TestMoves_by_client(t *testing.T) {
	t.Parallel()
	r := schedule.Pinned{Name: "r", Kind: schedule.PinnedRouter, Chassis: "c1", Record: "r", Networks: []string{"n"}}
	s := schedule.State{Chassis: pool("n", "c1", "c2", "c3", "c4")}
	remedy := func(change func(*schedule.Pinned)) finding.Remedy {
		p := r
		change(&p)
		s.Pinned = []schedule.Pinned{p}
		all := s.Moves("c1")
		require.Len(t, all, 1)
		require.Len(t, all[0].Remedies, 1)
		return all[0].Remedies[0]
	}
	ofNode := remedy(func(p *schedule.Pinned) { p.OfNode = true })
	assert.Empty(t, ofNode.Command.Words)
	assert.Equal(t, finding.RemoveNodeInCMS, ofNode.Deed)
	assert.Equal(t, []string{"ovn-nbctl", "remove", "Logical_Router", "r", "options", "chassis"},
		remedy(func(p *schedule.Pinned) { p.Mistaken = true }).Command.Words)
	members := remedy(func(p *schedule.Pinned) { p.Group, p.Members = "g", candidates("c1", "c3", "c4") }).Command.Words
	assert.Equal(t, []string{
		"ovn-nbctl", "ha-chassis-group-add-chassis", "g", "c3", "3", "--",
		"ha-chassis-group-add-chassis", "g", "c4", "2", "--", "ha-chassis-group-add-chassis", "g", "c1", "1", "--",
		"set", "Logical_Router", "r", "options:chassis=c3",
	}, members)

	// Neutron pins a router with a group only to chassis with the mark, and in the zones of the group.
	s.Chassis = s.Chassis[:2]
	s.Chassis[1].Gateway, s.Chassis[1].Zones = false, []string{"az2"}
	for name, x := range map[string]struct {
		group string
		zones []string
		mark  bool
		moves bool
	}{
		"without a group":         {"", nil, false, true},
		"with a group, no mark":   {"g", nil, false, false},
		"with a group and a mark": {"g", nil, true, true},
		"in its zone":             {"g", []string{"az2"}, true, true},
		"outside of its zone":     {"g", []string{"az1"}, true, false},
	} {
		s.Chassis[1].Gateway = x.mark
		r.Group, r.Zones = x.group, x.zones
		s.Pinned = []schedule.Pinned{r}
		assert.Equal(t, x.moves, len(s.Moves("c1")[0].Remedies) > 0, name)
	}
}

// A router can't run on a chassis of another OVN (ovn-ic(8)), nor on a VTEP gateway. A port of a VTEP gateway can.
func TestEvaluate_pinned_to_chassis_of_another_kind(t *testing.T) {
	t.Parallel()
	s := schedule.State{
		Chassis: []schedule.Chassis{{Name: "c1"}, {Name: "far", Remote: true}, {Name: "tor", VTEP: true}},
		Pinned: []schedule.Pinned{
			{Name: "a", Kind: schedule.PinnedRouter, Chassis: "far"},
			{Name: "b", Kind: schedule.PinnedRouter, Chassis: "tor"},
			{Name: "c", Kind: schedule.PinnedVTEP, Chassis: "tor", Active: "tor", Ports: []string{"c"}},
		},
	}
	var found []string
	for _, f := range schedule.Evaluate(s, schedule.Options{}).Findings {
		found = append(found, string(f.Code)+" "+f.Subject.Name+" "+findingtest.Reasons(f.Args.Reasons...))
		assert.Equal(t, "options:chassis=c1", f.Remedies[0].Command.Words[4])
	}
	assert.Equal(t, []string{"PINNED_UNHOSTED a OF_OTHER_OVN", "PINNED_UNHOSTED b IS_VTEP_GATEWAY"}, found)
}

// A pinned gateway counts once for its chassis, however many ports it has.
func TestEvaluate_counts_pinned_gateway_once(t *testing.T) {
	t.Parallel()
	s := schedule.State{
		Chassis: pool("provnet1", "c1", "c2"),
		Groups:  []schedule.Group{bind(hosted(1, "c1", "c2"), "c1")},
		Pinned: []schedule.Pinned{{
			Name: "gr", Kind: schedule.PinnedRouter, Chassis: "c2", Active: "c2",
			Networks: []string{"provnet1"}, Ports: []string{"gr-1", "gr-2"}, Peers: []string{"one", "two"},
		}},
	}
	n := schedule.Evaluate(s, schedule.Options{}).Networks[0]
	assert.Equal(t, []int{1, 1}, []int{n.Hosts[0].Hosts, n.Hosts[1].Hosts})
	assert.Equal(t, []int{1, 1}, []int{n.Ports, n.Pinned()})
	assert.Equal(t, 1, n.Ports, "of those that plans move")
}

// S15: a name in the database can't become a command, or break one.
func TestMoves_quotes_commands(t *testing.T) {
	t.Parallel()
	for _, name := range shelltest.Hostile {
		s := schedule.State{
			Chassis: []schedule.Chassis{{Name: name}},
			Pinned:  []schedule.Pinned{{Name: name, Kind: schedule.PinnedL2, Chassis: "c1", Record: name}},
		}
		found := s.Moves("c1")
		require.Len(t, found, 1)
		line := juju.Version{}.Render(found[0].Remedies[0].Command)
		words := shelltest.Words(t, line)
		require.Len(t, words, 5, line)
		assert.Equal(t, []string{"ovn-nbctl", "set", "Logical_Switch_Port", name}, words[:4])
	}
}

func TestCompareNames(t *testing.T) {
	t.Parallel()
	names := []string{"lrp-10", "lrp-2", "lrp-1", "b", "lrp-02", "lrp", "a10b2", "a10b10", "a9", "lrp-2-x", ""}
	slices.SortFunc(names, schedule.CompareNames)
	assert.Equal(t, []string{"", "a9", "a10b2", "a10b10", "b", "lrp", "lrp-1", "lrp-02", "lrp-2", "lrp-2-x", "lrp-10"},
		names)
}

// Hosted means bound to a chassis that responds.
func TestConditions_pinned(t *testing.T) {
	t.Parallel()
	pinned := func(chassis, active string) schedule.Pinned {
		return schedule.Pinned{
			Name: "r", Kind: schedule.PinnedRouter, Chassis: chassis, Active: active, Ports: []string{"lrp"},
		}
	}
	off, empty := pinned("c1", ""), pinned("c1", "")
	off.Disabled, empty.Ports = true, nil
	s := schedule.State{
		Chassis: []schedule.Chassis{{Name: "c1", Hostname: "one"}, {Name: "c2", Unresponsive: true}},
		Pinned: []schedule.Pinned{
			pinned("c1", "c1"), pinned("c1", ""), pinned("c2", "c2"), pinned("c2", "c1"),
			pinned("gone", ""), pinned("one", ""), off, empty,
		},
		Misnamed: map[string]finding.Reason{"one": {Code: finding.NameIsHost, Name: "c1"}},
	}
	var reasons []string
	for _, f := range schedule.Evaluate(s, schedule.Options{}).Findings {
		if f.Code == finding.PinnedUnhosted {
			reasons = append(reasons, findingtest.Reasons(f.Args.Reasons...))
		}
	}
	assert.ElementsMatch(t, []string{"PINNED_TO_SILENT", "PINNED_TO_NONE", "IS_HOST_OF c1"}, reasons)
	count := schedule.Conditions(s)
	assert.Equal(t, 3, count[finding.GatewayUnbound])
	assert.Equal(t, 1, count[finding.GatewayHostSilent])
	assert.Equal(t, 1, count[finding.GatewayMisplaced], "one that is bound nowhere is unbound only")
	assert.Len(t, schedule.Dependent(s)["c1"], 3, "lost if their chassis goes, but for the one that is disabled")
}
