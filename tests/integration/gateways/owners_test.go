package gateways

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// host adds a chassis with the options of a CMS and the provider networks that it is connected to. Its ovn-controller
// follows what was asked up to then.
func (c *cloud) host(name, options string, networks ...string) {
	c.t.Helper()
	c.addChassis(name)
	mappings := make([]string, len(networks))
	for i, n := range networks {
		mappings[i] = n + ":br-" + n
	}
	c.sbctl("set", "Chassis", name, "hostname="+name+".maas", fmt.Sprintf("other_config:ovn-cms-options=%q", options),
		fmt.Sprintf("other_config:ovn-bridge-mappings=%q", strings.Join(mappings, ",")))
}

// provider adds a switch with a port of type localnet for each network; NETWORK:TAG has a VLAN.
func (c *cloud) provider(name string, networks ...string) {
	c.t.Helper()
	args := []string{"ls-add", name}
	for i, n := range networks {
		port := fmt.Sprintf("ln%d-%s", i, name)
		n, tag, tagged := strings.Cut(n, ":")
		args = append(args, "--", "lsp-add", name, port, "--", "lsp-set-type", port, "localnet", "--", "lsp-set-options", port, "network_name="+n)
		if tagged {
			args = append(args, "--", "set", "Logical_Switch_Port", port, "tag="+tag)
		}
	}
	c.nbctl(args...)
}

// ids are arguments that set external IDs of a row.
func ids(table, row string, pairs ...string) (args []string) {
	for _, p := range pairs {
		args = append(args, "--", "set", table, row, "external_ids:"+strings.ReplaceAll(p, "neutron:", `neutron\:`))
	}
	return args
}

// hang adds a router, unless it is there, with a port on a switch, which has such external IDs; candidates are CHASSIS=PRIORITY.
func (c *cloud) hang(router, port, network string, own []string, candidates ...string) {
	c.t.Helper()
	c.addresses++
	args := []string{
		"--may-exist", "lr-add", router, "--", "lrp-add", router, port, fmt.Sprintf("00:00:00:00:03:%02x", c.addresses), fmt.Sprintf("10.7.%d.1/24", c.addresses), "--",
		"lsp-add", network, "sw-" + port, "--", "lsp-set-type", "sw-" + port, "router", "--", "lsp-set-addresses", "sw-" + port, "router", "--",
		"lsp-set-options", "sw-" + port, "router-port=" + port,
	}
	args = append(args, ids("Logical_Router_Port", port, own...)...)
	for i, x := range candidates {
		chassis, priority, _ := strings.Cut(x, "=")
		row := fmt.Sprintf("@g%d", i)
		args = append(args, "--", "--id="+row, "create", "Gateway_Chassis", "name="+port+"_"+chassis, "chassis_name="+chassis, "priority="+priority, "--",
			"add", "Logical_Router_Port", port, "gateway_chassis", row)
	}
	c.nbctl(args...)
}

// grouped makes a group of such members, and sets it of rows of a table.
func (c *cloud) grouped(name string, own []string, table string, rows []string, members ...string) {
	c.t.Helper()
	var args, all []string
	for i, x := range members {
		chassis, priority, _ := strings.Cut(x, "=")
		all = append(all, fmt.Sprintf("@m%d", i))
		args = append(args, fmt.Sprintf("--id=@m%d", i), "create", "HA_Chassis", "chassis_name="+chassis, "priority="+priority, "--")
	}
	args = append(args, "--id=@g", "create", "HA_Chassis_Group", "name="+name)
	if len(all) > 0 {
		args = append(args, "ha_chassis="+strings.Join(all, ","))
	}
	for _, p := range own {
		args = append(args, "external_ids:"+strings.ReplaceAll(p, "neutron:", `neutron\:`))
	}
	for _, r := range rows {
		args = append(args, "--", "set", table, r, "ha_chassis_group=@g")
	}
	c.nbctl(args...)
}

// external adds external ports to a switch.
func (c *cloud) external(network string, ports ...string) {
	for _, p := range ports {
		c.nbctl("lsp-add", network, p, "--", "lsp-set-type", p, "external")
	}
}

// told reads a document for programs.
func told[T any](c *cloud, args ...string) (v T) {
	c.t.Helper()
	require.NoError(c.t, json.Unmarshal([]byte(c.operated(append(args, "--format", "json")...)), &v))
	return v
}

// later is what Neutron from 2024.1 on has of a gateway, earlier what it had of one before, hints what it has of a group.
var (
	later   = []string{"neutron:is_ext_gw=True", "neutron:revision_number=1"}
	earlier = []string{"neutron:revision_number=1"}
	hints   = []string{`neutron:availability_zone_hints=""`}
)

const (
	marked    = "enable-chassis-as-gw"
	markedFor = "enable-chassis-as-extport-host"
)

// realCloud is one from a tracker, or as the source of a client makes it, and what is right to find there.
type realCloud struct {
	build func(*cloud)
	// bound are the chassis of ports, nowhere is how many gateways have none.
	bound   map[string]string
	nowhere int
	// problems are where there is one; marks says that one of them is the missing mark.
	problems []string
	marks    bool
	// after are the candidates that a reschedule gives groups, moves is how many a rebalancing moves.
	after map[string]string
	moves int
}

func (x realCloud) try(t *testing.T) {
	t.Helper()
	t.Parallel()
	c := newCloud(t)
	x.build(c)
	c.nbctl("--wait=sb", "sync")
	for port, chassis := range x.bound {
		c.sbctl("lsp-bind", port, chassis)
	}
	status := told[schedule.Status](c, "status")
	nowhere, marks := 0, 0
	for _, n := range status.Networks {
		nowhere += n.Unhosted
		for _, h := range n.Hosts {
			assert.Equal(t, h.Hosts, bound(x.bound, h.Chassis, status.Networks), h.Chassis)
		}
	}
	assert.Equal(t, x.nowhere, nowhere, "gateways that are hosted nowhere")
	var problems []string
	for _, f := range status.Findings {
		problems = append(problems, f.Where)
		marks += strings.Count(f.Text, "juju config ovn-chassis prefer-chassis-as-gw=true")
	}
	assert.Equal(t, x.problems, slices.Compact(problems), "%v", status.Findings)
	assert.Equal(t, x.marks, marks == 1, "%v", status.Findings)
	after := map[string]string{}
	for _, change := range told[schedule.Plan](c, "reschedule", "--dry-run").Changes {
		var names []string
		for _, candidate := range change.After {
			names = append(names, candidate.Chassis)
		}
		after[change.Group] = strings.Join(names, " ")
	}
	if len(after)+len(x.after) > 0 {
		assert.Equal(t, x.after, after)
	}
	assert.Equal(t, x.moves, told[schedule.Plan](c, "rebalance", "--dry-run").Cost.Interruptions)
}

// bound counts the gateways that are bound to a chassis, if it is in one network alone.
func bound(all map[string]string, chassis string, networks []schedule.Network) (n int) {
	in := 0
	for _, network := range networks {
		for _, h := range network.Hosts {
			if h.Chassis == chassis {
				in++
			}
		}
	}
	for port, on := range all {
		if on == chassis && strings.HasPrefix(port, "cr-") {
			n++
		}
	}
	return n / max(1, in)
}

// A. Who owns a gateway decides which chassis should host it, and the Southbound database has which does.
func TestOwnersOfGateways(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]realCloud{
		// ovn-chassis before 24.03 and Neutron before 2024.1, as juju deploys them.
		"Neutron of Yoga without marks": {
			build: func(c *cloud) {
				c.provider("ext", "physnet1")
				for _, h := range []string{"c1", "c2", "c3"} {
					c.host(h, "", "physnet1")
				}
				for r := range 3 {
					c.hang(fmt.Sprint("neutron-r", r), fmt.Sprint("lrp-gw", r), "ext", earlier, "c1=3", "c2=2", "c3=1")
				}
			},
			bound: map[string]string{"cr-lrp-gw0": "c1", "cr-lrp-gw1": "c1", "cr-lrp-gw2": "c1"}, problems: []string{"cloud"}, marks: true,
			after: map[string]string{"lrp-gw2": "c1 c3 c2"}, moves: 2,
		},
		// Bug 2019217: what was scheduled before the upgrade stays, and what is new gets nothing.
		"Neutron of 2024.1 without marks": {
			build: func(c *cloud) {
				c.provider("ext", "physnet1")
				c.host("c1", "", "physnet1")
				c.host("c2", "", "physnet1")
				c.hang("neutron-r1", "lrp-gw1", "ext", later, "c1=1")
				c.hang("neutron-r2", "lrp-gw2", "ext", later)
			},
			bound: map[string]string{"cr-lrp-gw1": "c1"}, nowhere: 1, problems: []string{"cloud", "lrp-gw1", "lrp-gw2"}, marks: true,
		},
		// lxd/network/driver_ovn.go (6.9): every member is in the group, at a random priority, and none is marked.
		"LXD beside Neutron": {
			build: func(c *cloud) {
				c.provider("ext", "physnet1")
				c.provider("lxd-net2-ls-ext", "UPLINK")
				c.host("c1", marked, "physnet1")
				c.host("c2", marked, "physnet1")
				c.host("m1", "", "UPLINK")
				c.host("m2", "", "UPLINK")
				c.hang("neutron-r1", "lrp-gw1", "ext", later, "c1=2", "c2=1")
				c.hang("lxd-net2-lr", "lxd-net2-lr-lrp-ext", "lxd-net2-ls-ext", nil)
				c.grouped("lxd-net2", nil, "Logical_Router_Port", []string{"lxd-net2-lr-lrp-ext"}, "m1=11817", "m2=30201")
			},
			bound: map[string]string{"cr-lrp-gw1": "c1", "cr-lxd-net2-lr-lrp-ext": "m2"},
		},
		// pkg/ovs/ovn-nb-gateway_chassis.go of kube-ovn: priorities from 100 down, and nodes that nothing marks.
		"kube-ovn": {
			build: func(c *cloud) {
				c.provider("ovn-external", "external")
				c.host("n1", "", "external")
				c.host("n2", "", "external")
				c.hang("ovn-cluster", "ovn-cluster-ovn-external", "ovn-external", []string{"vendor=kube-ovn"}, "n1=100", "n2=99")
			},
			bound: map[string]string{"cr-ovn-cluster-ovn-external": "n1"},
		},
		// base_network_controller.go of ovn-kubernetes: a port for each node, on a switch without a provider network.
		"ovn-kubernetes": {
			build: func(c *cloud) {
				for _, n := range []string{"w1", "w2"} {
					c.host(n, "", "physnet")
					c.nbctl("ls-add", n)
					c.hang("ovn_cluster_router", "rtos-"+n, n, nil, n+"=1")
				}
			},
			bound: map[string]string{"cr-rtos-w1": "w1", "cr-rtos-w2": "w2"},
		},
		"nothing is bound": {
			build: func(c *cloud) {
				c.provider("ext", "physnet1")
				c.host("c1", marked, "physnet1")
				c.host("c2", marked, "physnet1")
				c.hang("neutron-r1", "lrp-gw1", "ext", later, "c1=2", "c2=1")
				c.hang("neutron-r2", "lrp-gw2", "ext", later, "c2=2", "c1=1")
			},
			nowhere: 2, problems: []string{"cloud"},
		},
		"a zone that no chassis is in": {
			build: func(c *cloud) {
				c.provider("ext", "physnet1")
				c.host("c1", marked+",availability-zones=az1", "physnet1")
				c.hang("neutron-r1", "lrp-gw1", "ext", later)
				c.nbctl(ids("Logical_Router", "neutron-r1", "neutron:availability_zone_hints=nova")[1:]...)
			},
			nowhere: 1, problems: []string{"cloud", "lrp-gw1"},
		},
		// ovn-ic(8), and names of chassis that are host names.
		"a candidate of another zone": {
			build: func(c *cloud) {
				c.provider("ext", "physnet1")
				for _, h := range []string{"hertz.example", "ohm.example", "far.example"} {
					c.host(h, marked, "physnet1")
				}
				c.sbctl("set", "Chassis", "far.example", "other_config:is-remote=true")
				c.hang("r1", "lrp1", "ext", nil, "far.example=3", "hertz.example=2")
			},
			bound: map[string]string{"cr-lrp1": "hertz.example"}, problems: []string{"lrp1"}, after: map[string]string{"lrp1": "hertz.example ohm.example"},
		},
		"candidates by host name and UUID": {
			build: func(c *cloud) {
				c.provider("ext", "physnet1")
				c.host("00000001-aaaa", marked, "physnet1")
				c.host("00000002-aaaa", marked, "physnet1")
				c.hang("r1", "lrp1", "ext", nil, "00000001-aaaa.maas=20", c.sbctl("get", "Chassis", "00000002-aaaa", "_uuid")+"=10")
			},
			nowhere: 1, problems: []string{"cloud", "lrp1"}, after: map[string]string{"lrp1": "00000001-aaaa 00000002-aaaa"},
		},
	} {
		t.Run(name, func(t *testing.T) { x.try(t) })
	}
}

// B. A gateway is what the rows of each release of Neutron make one, with candidates or without.
func TestGatewaysOfEachReleaseOfNeutron(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]struct{ router, port, peer []string }{
		"up to 2023.1": {router: []string{"neutron:gw_port_id=gw2"}, port: earlier},
		"2023.2":       {port: earlier, peer: []string{`neutron:device_owner="network:router_gateway"`}},
		"from 2024.1":  {port: later},
	} {
		t.Run(name, realCloud{
			build: func(c *cloud) {
				c.provider("ext", "physnet1")
				c.host("c1", marked, "physnet1")
				c.host("c2", marked, "physnet1")
				c.hang("neutron-r1", "lrp-gw1", "ext", own.port, "c1=2", "c2=1")
				c.hang("neutron-r2", "lrp-gw2", "ext", own.port)
				c.hang("neutron-r2", "lrp-vlan", "ext", earlier) // a VLAN network inside has a localnet port too
				for _, args := range [][]string{ids("Logical_Router", "neutron-r2", own.router...), ids("Logical_Switch_Port", "sw-lrp-gw2", own.peer...)} {
					if len(args) > 0 {
						c.nbctl(args[1:]...)
					}
				}
			},
			bound: map[string]string{"cr-lrp-gw1": "c1"}, nowhere: 1, problems: []string{"lrp-gw2"}, after: map[string]string{"lrp-gw2": "c2 c1"},
		}.try)
	}
}

// D. External ports are served by the kind of host that Neutron has for them, with their network.
func TestExternalPorts(t *testing.T) {
	t.Parallel()
	gateways := func(c *cloud) {
		c.provider("ext", "physnet1")
		for _, h := range []string{"gw1", "gw2"} {
			c.host(h, marked+",availability-zones=nova", "physnet1")
		}
		c.provider("neutron-n1", "physnet1:100")
		c.external("neutron-n1", "bm1")
	}
	behind := func(c *cloud, network string) {
		c.hang("neutron-r1", "lrp-in1", network, []string{"neutron:is_ext_gw=False"})
		c.hang("neutron-r1", "lrp-gw1", "ext", later, "gw2=2", "gw1=1")
	}
	extport := func(c *cloud, member string) {
		gateways(c)
		c.host("x1", markedFor, "physnet2")
		c.host("x2", markedFor, "physnet2")
		c.provider("neutron-n2", "physnet2")
		c.external("neutron-n2", "vf1")
		c.grouped("neutron-extport-vf1", hints, "Logical_Switch_Port", []string{"vf1"}, "x1=32767", member)
		behind(c, "neutron-n2")
		c.grouped("neutron-n1", hints, "Logical_Switch_Port", []string{"bm1"}, "gw2=32767", "gw1=32766")
	}
	served := map[string]string{"cr-lrp-gw1": "gw2", "vf1": "x1", "bm1": "gw2"}
	for name, x := range map[string]realCloud{
		"an empty group": {
			build: func(c *cloud) {
				gateways(c)
				c.grouped("neutron-n1", hints, "Logical_Switch_Port", []string{"bm1"})
			},
			problems: []string{"neutron-n1"}, after: map[string]string{"neutron-n1": "gw1 gw2"},
		},
		"an empty group behind a router": {
			build: func(c *cloud) {
				gateways(c)
				behind(c, "neutron-n1")
				c.grouped("neutron-n1", hints, "Logical_Switch_Port", []string{"bm1"})
			},
			bound: map[string]string{"cr-lrp-gw1": "gw2"}, problems: []string{"neutron-n1"}, after: map[string]string{"neutron-n1": "gw2 gw1"},
		},
		// understack PR 2150: each member is of a chassis that was replaced.
		"members that are gone": {
			build: func(c *cloud) {
				gateways(c)
				c.grouped("neutron-n1", hints, "Logical_Switch_Port", []string{"bm1"}, "old1=32767", "old2=32766")
			},
			problems: []string{"neutron-n1"}, after: map[string]string{"neutron-n1": "gw1 gw2"},
		},
		"a port without a group":         {build: gateways, problems: []string{"bm1"}},
		"hosts for external ports alone": {build: func(c *cloud) { extport(c, "x2=32766") }, bound: served},
		// What an earlier plan of this product has done to it.
		"a gateway chassis among them": {
			build: func(c *cloud) { extport(c, "gw1=32766") }, bound: served, problems: []string{"neutron-extport-vf1"},
			after: map[string]string{"neutron-extport-vf1": "x1 x2"},
		},
	} {
		t.Run(name, func(t *testing.T) { x.try(t) })
	}
}

// E. A port has the networks of every localnet port of its switch, of which a chassis needs one (ovn-architecture(7)).
func TestSwitchesOfSeveralNetworks(t *testing.T) {
	t.Parallel()
	renamed := func(networks ...string) realCloud {
		return realCloud{
			build: func(c *cloud) {
				c.host("c1", marked, "new")
				c.host("c2", marked, "new")
				for k := range 4 {
					c.provider(fmt.Sprint("ext", k), networks...)
					c.hang(fmt.Sprint("r", k), fmt.Sprint("lrp", k), fmt.Sprint("ext", k), nil, "c1=2", "c2=1")
				}
			},
			bound: map[string]string{"cr-lrp0": "c1", "cr-lrp1": "c1", "cr-lrp2": "c1", "cr-lrp3": "c1"}, moves: 2,
		}
	}
	for name, x := range map[string]realCloud{
		"renamed with the old name first": renamed("old", "new"),
		"renamed with the old name last":  renamed("new", "old"),
		"one network and two VLANs":       renamed("new:10", "new:20"),
		// Routed provider networks of Neutron: each segment has its own, and a rack has one of them.
		"segments in racks": {
			build: func(c *cloud) {
				c.provider("multisegment", "rack1", "rack2")
				c.host("c1", marked, "rack1")
				c.host("c2", marked, "rack2")
				c.host("c3", marked, "elsewhere")
				c.hang("neutron-r1", "lrp-gw1", "multisegment", later, "c1=3", "c3=2")
			},
			bound: map[string]string{"cr-lrp-gw1": "c1"}, problems: []string{"lrp-gw1"}, after: map[string]string{"lrp-gw1": "c1 c2"},
		},
	} {
		t.Run(name, func(t *testing.T) { x.try(t) })
	}
}

// A drain goes by the same rules: here no chassis is marked, and all take over.
func TestDrainWhereNoChassisIsMarked(t *testing.T) {
	t.Parallel()
	for name, own := range map[string][]string{"Yoga": earlier, "2024.1": later} {
		c := newCloud(t)
		c.provider("ext", "physnet1")
		for _, h := range []string{"c1", "c2", "c3"} {
			c.host(h, "", "physnet1")
		}
		for r := range 4 {
			c.hang(fmt.Sprint("neutron-r", r), fmt.Sprint("lrp-gw", r), "ext", own, "c1=3", "c2=2", "c3=1")
		}
		c.nbctl("--wait=sb", "sync")
		for r := range 4 {
			c.sbctl("lsp-bind", fmt.Sprint("cr-lrp-gw", r), "c1")
		}
		status := c.answer("drain", "c1.maas", "--dry-run")
		assert.Equal(t, 200, status.Code, "%s: %v", name, status)
		assert.True(t, c.node("c2.maas").Gateway, name)
		moved := map[string]int{}
		for _, m := range status.Details.MessageList {
			assert.False(t, m.Error, "%s: %v", name, m)
			moved[m.Name]++
		}
		assert.Contains(t, moved, "to c2", "%s: %v", name, status)
		assert.Contains(t, moved, "to c3", "%s: %v", name, status)
	}
}
