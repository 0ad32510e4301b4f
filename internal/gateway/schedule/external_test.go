package schedule_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// An external port works only where its router's gateway is.
func TestReschedule_external_ports_follow(t *testing.T) {
	t.Parallel()
	follower := func(follows string, chassis ...string) schedule.Group {
		return schedule.Group{
			Name: "extport", Storage: schedule.HAChassisGroup, Kind: schedule.ExternalPorts, Follows: follows,
			Ports: []schedule.Port{{Name: "vm", External: true}}, Candidates: candidates(chassis...),
		}
	}
	with := func(g schedule.Group) schedule.State { // every gateway is on c1
		s := two(4, 0)
		s.Groups = append(s.Groups, g)
		return s
	}
	lead := two(1, 0).Groups[0].Name
	for name, x := range map[string]struct{ before, after []string }{
		"a candidate already": {[]string{"c2", "c1"}, []string{"c1", "c2"}},
		"no candidate yet":    {[]string{"c2"}, []string{"c1", "c2"}},
		"first already":       {[]string{"c1"}, []string{"c1"}},
	} {
		s := with(follower(lead, x.before...))
		p := schedule.Reschedule(s, schedule.Options{})
		assert.Equal(t, x.before[0] == "c1", p.Empty(), name)
		assert.Equal(t, candidates(x.after...), groupOf(applied(s, p), "extport").Candidates, name)
	}
	assert.Equal(t, []string{"warning EXTERNAL_GATEWAY_UNKNOWN extport Value=lrp-gone"},
		findingtest.All(schedule.Reschedule(with(follower("lrp-gone")), schedule.Options{}).Findings))

	// A pinned router leads too, as long as its chassis exists and responds.
	for chassis, want := range map[string][]string{"c2": {"c2", "c1"}, "gone": {"c1", "c2"}} {
		pinned := with(follower("gr", "c1", "c2"))
		pinned.Pinned = []schedule.Pinned{{Name: "gr", Kind: schedule.PinnedRouter, Chassis: chassis}}
		p := schedule.Reschedule(pinned, schedule.Options{})
		assert.Equal(t, candidates(want...), groupOf(applied(pinned, p), "extport").Candidates, chassis)
		assert.Empty(t, p.Findings, chassis)
	}

	// In a rebalancing it moves with its router.
	s := with(follower(lead, "c1"))
	after := applied(s, schedule.Rebalance(s, schedule.Options{}))
	assert.Equal(t, order(after, lead)[0], order(after, "extport")[0])
	moved := with(follower(two(4, 0).Groups[3].Name, "c1"))
	moved = applied(moved, schedule.Rebalance(moved, schedule.Options{}))
	assert.ElementsMatch(t, []string{"c1", "c2"}, []string{order(after, "extport")[0], order(moved, "extport")[0]})
}

// Bare metal on one physical network reaches the world by a gateway on another one only if the gateway's chassis is
// connected to both (LP#2125553).
func TestPlans_gateway_stays_with_external_ports_of_another_network(t *testing.T) {
	t.Parallel()
	machines := schedule.Group{
		Name: "baremetal", Storage: schedule.HAChassisGroup, Kind: schedule.ExternalPorts, Follows: hosted(9).Name,
		Ports:      []schedule.Port{{Name: "vm", Network: "provnet2", External: true}},
		Candidates: candidates("c1", "c4"),
	}
	with := func(others int, lead ...string) schedule.State {
		return schedule.State{
			Chassis: append(pool("provnet1", "c2", "c3"), chassis("c1", "provnet1", "provnet2"),
				chassis("c4", "provnet1", "provnet2")),
			Groups: append(many(0, others, "c1", "c2", "c3"), hosted(9, lead...), machines),
		}
	}
	both := func(s schedule.State) []string {
		return []string{top(groupOf(s, hosted(9).Name).Candidates), top(groupOf(s, "baremetal").Candidates)}
	}
	for name, order := range map[string][]string{"a candidate": {"c1", "c2", "c3", "c4"}, "none": {"c1", "c2", "c3"}} {
		after, _, _ := drained(with(0, order...), "c1")
		assert.Equal(t, []string{"c4", "c4"}, both(after), "drain, c4 is %s", name)
	}
	s := with(6, "c1", "c2", "c3")
	assert.Equal(t, []string{"c1", "c1"}, both(applied(s, schedule.Rebalance(s, schedule.Options{}))))
	s = with(2)
	assert.Equal(t, []string{"c4", "c4"}, both(applied(s, schedule.Reschedule(s, schedule.Options{}))))

	// The gateway moves without them if it would otherwise have no chassis.
	s = with(0, "c1", "c2")
	s.Chassis = s.Chassis[:3]
	after, _, _ := drained(s, "c1")
	assert.Equal(t, "c2", both(after)[0])
}

// LP#2125553: a gateway works on a chassis without the network of the external ports behind it. A rescheduling moves it
// to a chassis that has it: to its host if that is a backup, to the candidate with the smallest load, or to another
// chassis. The agent moves nothing for their sake, and a rebalancing only says so.
func TestReschedule_gateway_moves_to_network_behind(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		candidates   []string
		host, silent string
		want         string
		interrupts   int
	}{
		"candidate with smallest load":  {[]string{"c2", "c1", "c4"}, "c2", "", "c4", 1},
		"only candidate that has it":    {[]string{"c2", "c3", "c1"}, "c2", "", "c1", 1},
		"no candidate":                  {[]string{"c2", "c3"}, "c2", "", "c4", 1},
		"a backup hosts it":             {[]string{"c2", "c1", "c4"}, "c1", "c2", "c1", 0},
		"no schedulable chassis has it": {[]string{"c2", "c3", "c1"}, "c2", "c1 c4", "c2", 0},
		"the first candidate has it":    {[]string{"c1", "c2", "c4"}, "c1", "", "c1", 0},
	} {
		s := schedule.State{
			Chassis: append(pool("provnet1", "c2", "c3"), chassis("c1", "provnet1", "provnet2"),
				chassis("c4", "provnet1", "provnet2")),
			Groups: append(many(0, 1, "c1", "c2"), bind(hosted(9, x.candidates...), x.host), schedule.Group{
				Name: "baremetal", Storage: schedule.HAChassisGroup, Kind: schedule.ExternalPorts, Follows: hosted(9).Name,
				Ports:      []schedule.Port{{Name: "vm", Network: "provnet2", External: true}},
				Candidates: candidates("c1", "c4"),
			}),
		}
		for i, c := range s.Chassis {
			s.Chassis[i].Unresponsive = strings.Contains(x.silent, c.Name)
		}
		p := schedule.Reschedule(s, schedule.Options{})
		after := applied(s, p)
		assert.Equal(t, x.want, order(after, hosted(9).Name)[0], name)
		assert.Equal(t, x.interrupts, p.Moves(), name)
		for _, groups := range []schedule.State{s, after} {
			cutOff := order(groups, hosted(9).Name)[0] == "c2" && x.host == "c2"
			found := findingtest.All(schedule.Rebalance(groups, schedule.Options{}).Findings)
			assert.Equal(t, cutOff, slices.Contains(found, "warning GATEWAY_CUT_OFF "+hosted(9).Name+" Other=provnet2 Value=c2"),
				"%s: %v", name, found)
		}
		for i := range s.Chassis { // now other chassis than the gateways' serve the external ports: they stay apart
			s.Chassis[i].Gateway, s.Chassis[i].External = true, s.Chassis[i].Name == "c4"
		}
		s.Groups[1].Owner, s.Groups[2].Owner = schedule.Neutron, schedule.Neutron
		apart := applied(s, schedule.Reschedule(s, schedule.Options{}))
		assert.Equal(t, x.candidates[0], order(apart, hosted(9).Name)[0], name)
		s.Groups[2].Kind = schedule.RoutedExternalPorts
		kept := applied(s, schedule.Reschedule(s, schedule.Options{KeepHosts: true}))
		assert.Equal(t, x.candidates[0], order(kept, hosted(9).Name)[0], name)
	}
}

// Neutron has traffic of VLAN networks cross the router on its gateway's chassis, which needs their networks
// (reside-on-redirect-chassis, redirect-type=bridged). The product treats them like those of external ports.
func TestReschedule_gateway_moves_to_centralized_networks(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		behind []string
		want   []string
		found  string
	}{
		"a candidate has it": {[]string{"vlans"}, []string{"c2", "c1"}, "warning GATEWAY_CUT_OFF g Other=vlans Value=c1"},
		"one of several is enough": {
			[]string{"old,vlans"}, []string{"c2", "c1"}, "warning GATEWAY_CUT_OFF g Other=old or vlans Value=c1",
		},
		"no chassis has it": {[]string{"old"}, []string{"c1", "c2"}, "warning GATEWAY_CUT_OFF g Other=old Value=c1"},
		"none":              {nil, []string{"c1", "c2"}, ""},
	} {
		g := bind(hosted(0, "c1", "c2"), "c1")
		g.Name, g.Behind = "g", x.behind
		s := schedule.State{
			Chassis: append(pool("provnet1", "c1"), chassis("c2", "provnet1", "vlans")), Groups: []schedule.Group{g},
		}
		assert.Equal(t, x.found, strings.Join(findingtest.All(schedule.Evaluate(s, schedule.Options{}).Findings), " "), name)
		assert.Equal(t, x.want, order(applied(s, schedule.Reschedule(s, schedule.Options{})), "g"), name)
	}
}

// A group that ports of two physical networks share has one host, which needs both.
func TestPlans_shared_group_needs_all_networks(t *testing.T) {
	t.Parallel()
	shared := func(names ...string) schedule.Group {
		g := hosted(0, names...)
		g.Name, g.Storage = "shared", schedule.HAChassisGroup
		g.Ports = append(g.Ports, schedule.Port{Name: "vm", Network: "provnet2", External: true})
		return bind(g, top(g.Candidates))
	}
	s := schedule.State{
		Chassis: append(pool("provnet1", "c2", "c3"), chassis("c1", "provnet1", "provnet2"),
			chassis("c4", "provnet1", "provnet2")),
		Groups: append(many(1, 6, "c1", "c2"), shared("c1", "c2", "c3")),
	}
	assert.Equal(t, []string{"c1", "c4"}, order(applied(s, schedule.Reschedule(s, schedule.Options{})), "shared"))
	anywhere := schedule.Rebalance(s, schedule.Options{AllowNewCandidates: true})
	assert.Contains(t, []string{"c1", "c4"}, order(applied(s, anywhere), "shared")[0])
	after, _, _ := drained(s, "c1")
	assert.Equal(t, "c4", order(after, "shared")[0])

	s.Chassis = s.Chassis[:3]
	s.Groups = s.Groups[6:]
	assert.Empty(t, schedule.Rebalance(s, schedule.Options{AllowNewCandidates: true}).Changes)
	_, _, p := drained(s, "c1")
	assert.Empty(t, p.Changes)
	assert.Equal(t, []string{"error GATEWAY_STAYS shared Reasons=CHASSIS_COUNT 2 (NOT_CONNECTED_TO provnet2)"},
		findingtest.All(p.Blocked))
}

// An external port of a virtual machine is not served by the chassis that runs the machine, as in Neutron
// (sync_ha_chassis_group_network in utils.py).
func TestReschedule_external_port_beside_its_machine(t *testing.T) {
	t.Parallel()
	s := schedule.State{Chassis: pool("n", "c1", "c2", "c3"), Groups: []schedule.Group{{
		Name: "g", Kind: schedule.OneExternalPort, Ports: []schedule.Port{{Name: "p", Network: "n", External: true}},
		Machines: []string{"c1", "c2.maas"},
	}}}
	s.Chassis[1].Hostname = "c2.maas"
	assert.Equal(t, []string{"c3"}, order(applied(s, schedule.Reschedule(s, schedule.Options{})), "g"))
	s.Groups[0].Candidates = candidates("c1", "c3")
	assert.Equal(t, []string{"c3"}, order(applied(s, schedule.Reschedule(s, schedule.Options{})), "g"))
	s.Groups[0].Candidates, s.Chassis = nil, s.Chassis[:2]
	assert.Equal(t, []string{
		"warning EXTERNAL_PORTS_UNSERVED g Detail=p Reasons=NONE_ELIGIBLE (CHASSIS_COUNT 2 (RUNS_MACHINE))",
	}, findingtest.All(schedule.Evaluate(s, schedule.Options{}).Findings))
}

// Neutron keeps the external ports of a network on the kind of chassis that their group has, and one external port on
// chassis for external ports.
func TestReschedule_external_ports_keep_kind_of_chassis(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		kind        schedule.Kind
		owner       schedule.Owner
		first, want string
	}{
		"on a chassis for gateways":       {schedule.ExternalPorts, schedule.Neutron, "gateways", "gateways"},
		"on a chassis for external ports": {schedule.ExternalPorts, schedule.Neutron, "externals", "externals"},
		"on none":                         {schedule.ExternalPorts, schedule.Neutron, "", "externals"},
		"on one without the network":      {schedule.ExternalPorts, schedule.Neutron, "elsewhere", "externals"},
		"one port":                        {schedule.OneExternalPort, schedule.Neutron, "gateways", "externals"},
		"tied to a router":                {schedule.RoutedExternalPorts, schedule.Neutron, "externals", "gateways"},
		"of another client":               {schedule.OneExternalPort, schedule.Other, "gateways", "gateways"},
	} {
		s := schedule.State{
			Chassis: []schedule.Chassis{
				chassis("gateways", "n"),
				{Name: "externals", External: true, Networks: []string{"n"}},
				chassis("elsewhere", "m"),
			},
			Groups: []schedule.Group{{
				Name: "g", Kind: x.kind, Owner: x.owner, Ports: []schedule.Port{{Name: "p", Network: "n", External: true}},
			}},
		}
		if x.first != "" {
			s.Groups[0].Candidates = candidates(x.first)
		}
		assert.Equal(t, x.want, order(applied(s, schedule.Reschedule(s, schedule.Options{})), "g")[0], name)
	}
}

// A gateway's first backups serve its external ports too, if any chassis does: bare metal of another physical network
// goes with the gateway when its chassis fails.
func TestReschedule_backups_serve_external_ports(t *testing.T) {
	t.Parallel()
	with := func(lead ...string) schedule.State {
		return schedule.State{
			Chassis: append(pool("provnet1", "c2", "c3", "c5"), chassis("c1", "provnet1", "provnet2"),
				chassis("c4", "provnet1", "provnet2")),
			Groups: append(many(0, 6, "c1"), hosted(9, lead...), schedule.Group{
				Name: "baremetal", Storage: schedule.HAChassisGroup, Kind: schedule.RoutedExternalPorts, Follows: hosted(9).Name,
				Ports: []schedule.Port{{Name: "vm", Network: "provnet2", External: true}}, Candidates: candidates("c1", "c4"),
			}),
		}
	}
	for _, lead := range [][]string{{"c1"}, {"c1", "c2", "c3", "c4"}, {"c1", "c2", "c3", "c4", "c5"}} {
		for seed := range uint64(5) {
			for _, scheduler := range []schedule.Scheduler{schedule.LeastLoaded, schedule.Random} {
				if len(lead) > 1 && scheduler == schedule.Random {
					continue // it leaves first backups
				}
				s := with(lead...)
				after := applied(s, schedule.Reschedule(s, options(scheduler, seed)))
				assert.Equal(t, []string{"c1", "c4"}, order(after, hosted(9).Name)[:2], "%s %v", scheduler, lead)
			}
		}
	}
	for seed := range uint64(9) {
		s := with()
		after := applied(s, schedule.Reschedule(s, options(schedule.Random, seed)))
		assert.ElementsMatch(t, []string{"c1", "c4"}, order(after, hosted(9).Name)[:2])
	}

	// An added chassis gets no share of the backups that serve them.
	s := with("c1", "c4", "c2", "c3", "c5")
	s.Chassis = append(s.Chassis, chassis("c6", "provnet1"))
	for _, scheduler := range []schedule.Scheduler{schedule.LeastLoaded, schedule.Random} {
		after := applied(s, schedule.Reschedule(s, options(scheduler, 1)))
		assert.NotContains(t, order(after, hosted(9).Name), "c6", scheduler)
	}
}

// Neutron from 2026.1 on copies the candidates of a router's gateway to the group of external ports behind it, also
// chassis without their network: it only warns of these (sync_ha_chassis_group_network_unified in utils.py). To drop
// them would be undone whenever the gateway's candidates change.
func TestReschedule_leaves_copy_of_gateway(t *testing.T) {
	t.Parallel()
	s := schedule.State{
		Chassis: append(pool("provnet1", "c2"), chassis("c1", "provnet1", "provnet2"), chassis("c3", "provnet1", "provnet2")),
		Groups: []schedule.Group{hosted(9, "c1", "c3", "c2"), {
			Name: "baremetal", Storage: schedule.HAChassisGroup, Kind: schedule.RoutedExternalPorts, Follows: hosted(9).Name,
			Ports:      []schedule.Port{{Name: "vm", Network: "provnet2", External: true}},
			Candidates: candidates("c1", "c3", "c2"),
		}},
	}
	assert.Empty(t, schedule.Reschedule(s, schedule.Options{}).Changes)
	assert.Contains(t, findingtest.All(schedule.Evaluate(s, schedule.Options{}).Findings),
		"warning CANDIDATE_INVALID baremetal Value=c2 Reasons=NOT_CONNECTED_TO provnet2")
	after, _, _ := drained(s, "c1")
	assert.Equal(t, "c3", order(after, "baremetal")[0])

	s.Groups[1].Candidates = candidates("c1", "c2") // no copy
	assert.Equal(t, []string{"c1", "c3"}, order(applied(s, schedule.Reschedule(s, schedule.Options{})), "baremetal"))
}

// LP#1995078: external ports are served on one chassis, and their router's gateway is on another one.
func TestEvaluate_external_ports_apart_from_gateway(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		gateway, ports string
		want           []string
	}{
		"together":        {"c1", "c1", nil},
		"apart":           {"c1", "c3", []string{"warning EXTERNAL_PORTS_APART x Other=c3 Value=c1"}},
		"gateway unbound": {"", "c1", nil},
		"ports unbound":   {"c1", "", nil},
		"without a network": {
			"c2", "c1", []string{"warning EXTERNAL_PORTS_APART x Other=c1 Value=c2 Reasons=NOT_CONNECTED_TO n"},
		},
	} {
		ports := schedule.Group{
			Name: "x", Storage: schedule.HAChassisGroup, Kind: schedule.ExternalPorts, Follows: hosted(9).Name,
			Ports: []schedule.Port{{Name: "vm", Network: "n", External: true}}, Candidates: candidates("c1", "c3"),
		}
		pinned := ports
		pinned.Follows = "gr"
		for _, s := range []schedule.State{
			{Groups: []schedule.Group{bind(hosted(9, "c1", "c2", "c3"), x.gateway), bind(ports, x.ports)}},
			{
				Groups: []schedule.Group{bind(pinned, x.ports)},
				Pinned: []schedule.Pinned{{
					Name: "gr", Kind: schedule.PinnedRouter, Chassis: x.gateway, Active: x.gateway, Ports: []string{"p"},
				}},
			},
		} {
			s.Chassis = append(pool("provnet1", "c2"), chassis("c1", "provnet1", "n"), chassis("c3", "provnet1", "n"))
			var found []string
			for _, f := range findingtest.All(schedule.Evaluate(s, schedule.Options{}).Findings) {
				if strings.Contains(f, "EXTERNAL_PORTS_APART") {
					found = append(found, f)
				}
			}
			assert.Equal(t, x.want, found, name)
		}
	}
}
