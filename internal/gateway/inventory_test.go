package gateway_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// northbound has two provider networks. On the first are a router with Gateway_Chassis and a router with a group; the
// latter is also on the second network. A switch with an external port is behind the second router.
func northbound() ovsdb.Northbound {
	return ovsdb.Northbound{
		Config: 5,
		Routers: []ovsdb.LogicalRouter{
			{
				UUID: "R1", Name: "r1", Ports: []string{"P1"},
				ExternalIDs: map[string]string{"neutron:availability_zone_hints": "az1,az2"},
			},
			{UUID: "R2", Name: "r2", Ports: []string{"P2", "P3", "P4"}},
		},
		RouterPorts: []ovsdb.LogicalRouterPort{
			{UUID: "P1", Name: "lrp-1", GatewayChassis: []string{"G1", "G2"}, ExternalIDs: gatewayIDs()},
			{UUID: "P2", Name: "lrp-2", Group: "H1", ExternalIDs: gatewayIDs()},
			{UUID: "P3", Name: "lrp-3", Group: "H1", ExternalIDs: gatewayIDs()},
			{UUID: "P4", Name: "lrp-inside"},
		},
		Switches: []ovsdb.LogicalSwitch{
			{UUID: "S1", Name: "one", Ports: []string{"N1", "L1", "L2"}},
			{UUID: "S2", Name: "two", Ports: []string{"N2", "L3"}},
			{UUID: "S3", Name: "inside", Ports: []string{"L4", "X1"}},
		},
		SwitchPorts: []ovsdb.LogicalSwitchPort{
			{UUID: "N1", Type: "localnet", Options: map[string]string{"network_name": "physnet1"}},
			{UUID: "N2", Type: "localnet", Options: map[string]string{"network_name": "physnet2"}},
			{UUID: "L1", Type: "router", Options: map[string]string{"router-port": "lrp-1"}},
			{UUID: "L2", Type: "router", Options: map[string]string{"router-port": "lrp-2"}},
			{UUID: "L3", Type: "router", Options: map[string]string{"router-port": "lrp-3"}},
			{UUID: "L4", Type: "router", Options: map[string]string{"router-port": "lrp-inside"}},
			{UUID: "X1", Name: "baremetal", Type: "external", Group: "H2"},
		},
		GatewayChassis: map[string]ovsdb.CandidateRow{
			"G1": {UUID: "G1", Name: "lrp-1_c1", Chassis: "c1", Priority: 2},
			"G2": {UUID: "G2", Name: "lrp-1_c2", Chassis: "c2", Priority: 1},
		},
		HAChassis: map[string]ovsdb.CandidateRow{
			"M1": {UUID: "M1", Chassis: "c1", Priority: 2}, "M2": {UUID: "M2", Chassis: "c2", Priority: 1},
			"M3": {UUID: "M3", Chassis: "c2", Priority: 1},
		},
		Groups: []ovsdb.HAChassisGroup{
			{UUID: "H1", Name: "neutron-R2", Members: []string{"M1", "M2"}},
			{
				UUID: "H2", Name: "neutron-extport", Members: []string{"M3"},
				ExternalIDs: map[string]string{"neutron:availability_zone_hints": ""},
			},
			{UUID: "H3", Name: "unused"},
		},
	}
}

// gatewayIDs returns the external IDs that Neutron from 2024.1 on gives a router's gateway.
func gatewayIDs() map[string]string { return map[string]string{"neutron:is_ext_gw": "True"} }

func southbound() ovsdb.Southbound {
	config := func(options, mappings string) map[string]string {
		return map[string]string{"ovn-cms-options": options, "ovn-bridge-mappings": mappings}
	}
	return ovsdb.Southbound{
		Config: 5,
		Chassis: []ovsdb.ChassisRow{
			{Name: "c1", Hostname: "one", Config: config("enable-chassis-as-gw,availability-zones=az1:az3",
				"physnet1:br-ex,physnet2:br-2"), Known: true, Follows: 5},
			{
				Name: "c2", Hostname: "two", Config: config("availability-zones=, enable-chassis-as-gw", "physnet1:br-ex"),
				Known: true, Follows: 4,
			},
			{Name: "c3", Config: map[string]string{"is-remote": "true"}},
			{Name: "c4", Config: config("card-serial-number=1", "physnet2:br-ex,,physnet1:br-ex")},
		},
		Redirects: map[string]string{"cr-lrp-1": "c1", "cr-lrp-2": "c2", "cr-lrp-3": ""},
		Externals: map[string]string{"baremetal": "c2"},
	}
}

func TestBuildInventory(t *testing.T) {
	t.Parallel()
	c := gateway.BuildInventory(northbound(), southbound())
	assert.Equal(t, []schedule.Chassis{
		{
			Name: "c1", Hostname: "one", Gateway: true, Networks: []string{"physnet1", "physnet2"},
			Zones: []string{"az1", "az3"},
		},
		{Name: "c2", Hostname: "two", Gateway: true, Networks: []string{"physnet1"}, Unresponsive: true},
		{Name: "c3", Remote: true},
		{Name: "c4", Networks: []string{"physnet2"}, Unresponsive: true},
	}, c.State.Chassis)
	assert.Equal(t, []schedule.Group{
		{
			Name: "lrp-1", Storage: schedule.GatewayChassis, Zones: []string{"az1", "az2"},
			Ports:      []schedule.Port{{Name: "lrp-1", Router: "r1", Network: "physnet1", Active: "c1"}},
			Candidates: []schedule.Candidate{{Chassis: "c1", Priority: 2}, {Chassis: "c2", Priority: 1}},
		},
		{
			Name: "neutron-R2", Storage: schedule.HAChassisGroup,
			Ports: []schedule.Port{
				{Name: "lrp-2", Router: "r2", Network: "physnet1", Active: "c2"},
				{Name: "lrp-3", Router: "r2", Network: "physnet2"},
			},
			Candidates: []schedule.Candidate{{Chassis: "c1", Priority: 2}, {Chassis: "c2", Priority: 1}},
		},
		{
			Name: "neutron-extport", Storage: schedule.HAChassisGroup, Kind: schedule.ExternalPorts, Follows: "neutron-R2",
			Ports:      []schedule.Port{{Name: "baremetal", Active: "c2", External: true}},
			Candidates: []schedule.Candidate{{Chassis: "c2", Priority: 1}},
		},
	}, c.State.Groups)
	assert.Equal(t, []string{
		`warning BRIDGE_MAPPINGS_INVALID c4 Count=1 Detail="physnet1:br-ex"`, "warning LOCALNET_MISSING inside",
	}, findingtest.All(c.Findings))
}

// A chassis has the networks that ovn-controller finds in its bridge mappings (add_ovs_bridge_mappings in
// controller/patch.c), also if Neutron would find more.
func TestBuildInventory_bridge_mappings(t *testing.T) {
	t.Parallel()
	for mappings, want := range map[string]struct {
		networks []string
		ignored  string
	}{
		"":                 {nil, ""},
		"a:br-a,b:br-b":    {[]string{"a", "b"}, ""},
		"a:br-a,a:br-b,":   {[]string{"a", "a"}, ""},
		"a:br-a, b:br-b":   {[]string{"a"}, `Count=1 Detail=" b:br-b"`},
		"a: br-a,b:br-b":   {[]string{"b"}, `Count=1 Detail="a: br-a"`},
		"a,b:br-b":         {nil, `Count=2 Detail="a", "b:br-b"`},
		"a:br-a,:x,b:br-b": {[]string{"a"}, `Count=2 Detail=":x", "b:br-b"`},
		"a:br-a,,b:br-b":   {[]string{"a"}, `Count=1 Detail="b:br-b"`},
	} {
		c := gateway.BuildInventory(ovsdb.Northbound{}, ovsdb.Southbound{Chassis: []ovsdb.ChassisRow{
			{Name: "c", Config: map[string]string{"ovn-bridge-mappings": mappings}},
		}})
		assert.Equal(t, want.networks, c.State.Chassis[0].Networks, mappings)
		var found []string
		if want.ignored != "" {
			found = []string{"warning BRIDGE_MAPPINGS_INVALID c " + want.ignored}
		}
		assert.Equal(t, found, findingtest.All(c.Findings), mappings)
	}
}

// ovn-controllers can't have followed an nb_cfg that ovn-northd has not passed on to them. They lag behind if they are
// behind nb_cfg of SB; the difference to nb_cfg of NB is ovn-northd's.
func TestBuildInventory_northd_behind(t *testing.T) {
	t.Parallel()
	nb := northbound()
	nb.Config = 9
	c := gateway.BuildInventory(nb, southbound())
	assert.False(t, c.State.Chassis[0].Unresponsive)
	assert.True(t, c.State.Chassis[1].Unresponsive)
	assert.Contains(t, findingtest.All(c.Findings), "warning NORTHD_BEHIND Count=5 Total=9")
}

func TestBuildInventory_odd_rows(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		change  func(*ovsdb.Northbound)
		problem string
	}{
		"both forms": {
			func(nb *ovsdb.Northbound) { nb.RouterPorts[1].GatewayChassis = []string{"G1"} },
			"info GATEWAY_STORED_TWICE lrp-2 -> ovn-nbctl clear Logical_Router_Port lrp-2 gateway_chassis",
		},
		"a group of two routers": {
			func(nb *ovsdb.Northbound) {
				nb.RouterPorts[0].GatewayChassis, nb.RouterPorts[0].Group = nil, "H1"
			},
			"info GROUP_SHARED neutron-R2 Count=2 Detail=r1, r2",
		},
		"hints with nothing in between": {
			func(nb *ovsdb.Northbound) {
				nb.Routers[0].ExternalIDs["neutron:availability_zone_hints"] = "az1,,az2"
			},
			`info ZONE_HINTS_INVALID r1 Detail="az1,,az2"`,
		},
		"an external port whose switch is connected to two routers": {
			func(nb *ovsdb.Northbound) {
				connect(nb, "R1", "lrp-inside-1", "S3")
			},
			"info EXTERNAL_ROUTERS_SEVERAL neutron-extport Value=lrp-1 Detail=lrp-1, neutron-R2",
		},
		"an external port without a group": {
			func(nb *ovsdb.Northbound) { nb.SwitchPorts[6].Group = "" }, "warning EXTERNAL_PORT_UNGROUPED baremetal",
		},
		"a gateway without a router": {
			func(nb *ovsdb.Northbound) {
				nb.RouterPorts[0] = ovsdb.LogicalRouterPort{UUID: "P5", Name: "lrp-5", ExternalIDs: gatewayIDs()}
				nb.GatewayChassis = nil
			},
			"warning GATEWAY_WITHOUT_ROUTER lrp-5",
		},
		"a group of the same name as a port": {
			func(nb *ovsdb.Northbound) { nb.Groups[0].Name = "lrp-1" },
			"warning GROUP_NAME_TAKEN lrp-1",
		},
	} {
		nb := northbound()
		x.change(&nb)
		c := gateway.BuildInventory(nb, southbound())
		assert.Contains(t, findingtest.All(c.Findings), x.problem, name)
		require.NotEmpty(t, c.State.Groups, name)
		alone := slices.ContainsFunc(c.State.Groups, func(g schedule.Group) bool { return g.Name == "lrp-2" })
		assert.False(t, alone, "%s: a port of a group has no candidates of its own", name)
	}
}

// connect adds a port to a router and to a switch, by their UUIDs.
func connect(nb *ovsdb.Northbound, router, port, on string) {
	for i := range nb.Routers {
		if nb.Routers[i].UUID == router {
			nb.Routers[i].Ports = append(nb.Routers[i].Ports, port)
		}
	}
	for i := range nb.Switches {
		if nb.Switches[i].UUID == on {
			nb.Switches[i].Ports = append(nb.Switches[i].Ports, "to-"+port)
		}
	}
	nb.RouterPorts = append(nb.RouterPorts, ovsdb.LogicalRouterPort{UUID: port, Name: port})
	nb.SwitchPorts = append(nb.SwitchPorts, ovsdb.LogicalSwitchPort{
		UUID: "to-" + port, Name: "to-" + port, Type: "router", Options: map[string]string{"router-port": port},
	})
}

// Bare metal on the external network, where each router has its gateway: the routers are not its way out, and its group
// follows none of them. Neutron ties a group only to a router with an interface in the network
// (link_network_ha_chassis_group in ovn_client.py, bug 2125553).
func TestBuildInventory_external_port_beside_gateways_follows_none(t *testing.T) {
	t.Parallel()
	nb := northbound()
	nb.Switches[0].Ports, nb.Switches[2].Ports = append(nb.Switches[0].Ports, "X1"), nb.Switches[2].Ports[:1]
	c := gateway.BuildInventory(nb, southbound())
	assert.Empty(t, followed(c))
	assert.NotContains(t, findingtest.All(c.Findings), "EXTERNAL_ROUTERS_SEVERAL")
	connect(&nb, "R1", "lrp-inside-1", "S1")
	assert.Equal(t, "lrp-1", followed(gateway.BuildInventory(nb, southbound())))
}

// A port without a switch, as each chassis has one with Neutron's BGP, is not the way to a provider network.
func TestBuildInventory_external_ports_follow_no_port_without_switch(t *testing.T) {
	t.Parallel()
	nb := northbound()
	assert.Equal(t, "neutron-R2", followed(gateway.BuildInventory(nb, southbound())))
	nb.RouterPorts[1].Switchless, nb.RouterPorts[2].Switchless = true, true
	assert.Empty(t, followed(gateway.BuildInventory(nb, southbound())))
}

// followed returns what the group of external ports follows.
func followed(c *gateway.Inventory) string {
	at := slices.IndexFunc(c.State.Groups, func(g schedule.Group) bool { return g.Name == "neutron-extport" })
	return c.State.Groups[at].Follows
}

// Understack PR 2073, 2082: Neutron 2026.1 pins a router whose external network is a tunnel, and leaves the group of
// the external ports behind it empty. They work only on the router's chassis. ovn-northd ignores the router's
// candidates.
func TestBuildInventory_external_ports_follow_pinned_router(t *testing.T) {
	t.Parallel()
	nb := northbound()
	nb.Routers[1].Pinned, nb.Routers[1].Chassis = true, "c1"
	nb.SwitchPorts[3].Name = "public-2"
	c := gateway.BuildInventory(nb, southbound())
	assert.Equal(t, "r2", followed(c))
	require.Len(t, c.State.Pinned, 1)
	assert.Contains(t, c.State.Pinned[0].Peers, "public-2")
	assert.False(t, finding.Has(c.Findings, finding.GroupUnused), "its candidates are reported as ignored")
}

// Neutron keeps groups that no port uses yet or any more.
func TestBuildInventory_unused_group(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"lab": true, "default_ha_chassis_group": false, "neutron-1b5a4a3e-0000-4000-8000-000000000001": false,
	} {
		nb := northbound()
		nb.Groups = append(nb.Groups, ovsdb.HAChassisGroup{UUID: "unused", Name: name, Members: nb.Groups[0].Members})
		found := gateway.BuildInventory(nb, southbound()).Findings
		assert.Equal(t, want, finding.Has(found, finding.GroupUnused), name)
	}
}

// Neutron reads the first of several lists of zones (get_chassis_availability_zones in utils.py).
func TestBuildInventory_zones_given_twice(t *testing.T) {
	t.Parallel()
	for options, want := range map[string][]string{
		"availability-zones=az1:az2,availability-zones=az9": {"az1", "az2"},
		"availability-zones=,availability-zones=az9":        nil,
		" availability-zones= az1 : az2 ":                   {"az1", "az2"},
		"availability-zone=az1":                             nil,
	} {
		sb := southbound()
		sb.Chassis[0].Config["ovn-cms-options"] = options
		assert.Equal(t, want, gateway.BuildInventory(northbound(), sb).State.Chassis[0].Zones, options)
	}
}

// A port of layer 2 without a chassis is pinned to nothing.
func TestBuildInventory_port_of_layer_2(t *testing.T) {
	t.Parallel()
	nb := northbound()
	nb.SwitchPorts = append(nb.SwitchPorts, ovsdb.LogicalSwitchPort{UUID: "L9", Name: "l2", Type: "l2gateway"})
	assert.Equal(t, []schedule.Pinned{{Name: "l2", Kind: schedule.PinnedL2, Ports: []string{"l2"}, Record: "l2"}},
		gateway.BuildInventory(nb, southbound()).State.Pinned)
}

// A chassis responds only if its ovn-controller has written nb_cfg, since OVN 20.09 to Chassis_Private, and before that
// to Chassis. Chassis of another OVN (sync_isb_gw_to_sb in ic/ovn-ic.c) and VTEP gateways (controller-vtep/gateway.c)
// have no row of Chassis_Private, and nothing is wrong with that.
func TestBuildInventory_which_chassis_respond(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		row                      ovsdb.ChassisRow
		unresponsive, incomplete bool
	}{
		"current":               {row: ovsdb.ChassisRow{Known: true, Follows: 5}},
		"lags":                  {row: ovsdb.ChassisRow{Known: true, Follows: 4}, unresponsive: true},
		"row is left over":      {row: ovsdb.ChassisRow{Config: gateways()}, unresponsive: true, incomplete: true},
		"before 20.09":          {row: ovsdb.ChassisRow{Config: gateways(), Follows: 5}},
		"before 20.09, lags":    {row: ovsdb.ChassisRow{Config: gateways(), Follows: 4}, unresponsive: true},
		"remote":                {row: ovsdb.ChassisRow{Config: map[string]string{"is-remote": "true"}}},
		"VTEP gateway":          {row: ovsdb.ChassisRow{Config: map[string]string{"is-vtep": "true"}}},
		"VTEP gateway of 21.09": {},
	} {
		sb := southbound()
		x.row.Name = "x"
		sb.Chassis, sb.Private = []ovsdb.ChassisRow{x.row}, []string{"x", "c1"}
		if !x.row.Known {
			sb.Private = []string{"c1"}
		}
		c := gateway.BuildInventory(northbound(), sb)
		assert.Equal(t, x.unresponsive, c.State.Chassis[0].Unresponsive, name)
		assert.Equal(t, x.incomplete, slices.Contains(findingtest.All(c.Orphans()),
			"warning CHASSIS_INCOMPLETE x Value=Chassis_Private"), name)
	}
}

func gateways() map[string]string {
	return map[string]string{"ovn-cms-options": "enable-chassis-as-gw"}
}

func TestBuildInventory_gateway_without_candidates(t *testing.T) {
	t.Parallel()
	nb := northbound()
	misnamed := nb.GatewayChassis["G2"]
	misnamed.Name = "other"
	nb.GatewayChassis["G2"] = misnamed
	nb.RouterPorts = append(nb.RouterPorts, ovsdb.LogicalRouterPort{UUID: "P5", Name: "lrp-5", ExternalIDs: gatewayIDs()})
	c := gateway.BuildInventory(nb, southbound())
	var names []string
	for _, g := range c.State.Groups {
		names = append(names, g.Name)
	}
	assert.Equal(t, []string{"lrp-1", "neutron-R2", "neutron-extport", "lrp-5"}, names)
	at := slices.IndexFunc(c.Findings, func(f finding.Finding) bool { return f.Code == finding.CandidateMisnamed })
	require.GreaterOrEqual(t, at, 0)
	assert.Equal(t, "ROW_NAMED lrp-1_c2 other", findingtest.Reasons(c.Findings[at].Args.Reasons...))
}

// Neutron names the group of one external port after the port. The chassis of the port's machine do not serve it.
func TestBuildInventory_machines_of_one_external_port(t *testing.T) {
	t.Parallel()
	nb := northbound()
	nb.SwitchPorts[6].Options = map[string]string{"requested-chassis": "one, two"}
	assert.Empty(t, gateway.BuildInventory(nb, southbound()).State.Groups[2].Machines)
	nb.Groups[1].Name = "neutron-extport-baremetal"
	g := gateway.BuildInventory(nb, southbound()).State.Groups[2]
	assert.Equal(t, schedule.OneExternalPort, g.Kind)
	assert.Equal(t, []string{"one", "two"}, g.Machines)
}

// A group without ports keeps its members: a plan covers the others.
func TestUnused(t *testing.T) {
	t.Parallel()
	nb := northbound()
	nb.Groups[2].Members = []string{"M1"}
	inv := gateway.BuildInventory(nb, southbound())
	assert.Equal(t, []string{"unused"}, inv.Unused("c1"))
	assert.Empty(t, inv.Unused("c2"))
}
