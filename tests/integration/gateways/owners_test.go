package gateways

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A. The owner of a gateway determines which chassis should host it, and the Southbound database shows which one does.
func TestOwners_of_gateways(t *testing.T) {
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
			bound: map[string]string{"cr-lrp-gw0": "c1", "cr-lrp-gw1": "c1", "cr-lrp-gw2": "c1"}, problems: []string{""}, marks: true,
			after: map[string]string{"lrp-gw2": "c1 c3 c2"}, moves: 2,
		},
		// Bug 2019217: gateways that were scheduled before the upgrade stay, and new ones get nothing.
		"Neutron of 2024.1 without marks": {
			build: func(c *cloud) {
				c.provider("ext", "physnet1")
				c.host("c1", "", "physnet1")
				c.host("c2", "", "physnet1")
				c.hang("neutron-r1", "lrp-gw1", "ext", later, "c1=1")
				c.hang("neutron-r2", "lrp-gw2", "ext", later)
			},
			bound: map[string]string{"cr-lrp-gw1": "c1"}, nowhere: 1, problems: []string{"", "lrp-gw1", "lrp-gw2"}, marks: true,
		},
		// get_unhosted_gateways in impl_idl_ovn.py leaves gateways for which no marked chassis has the network.
		"Neutron of 2024.1 with marks on another network": {
			build: func(c *cloud) {
				c.provider("ext", "physnet1")
				c.host("c1", "", "physnet1")
				c.host("c2", "", "physnet1")
				c.host("m1", marked, "physnet2")
				c.hang("neutron-r1", "lrp-gw1", "ext", later, "c1=2", "c2=1")
			},
			bound: map[string]string{"cr-lrp-gw1": "c1"}, problems: []string{""}, marks: true,
		},
		// lxd/network/driver_ovn.go (6.9): every member is in the group, at a random priority, and no member is marked.
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
		// pkg/ovs/ovn-nb-gateway_chassis.go of kube-ovn: priorities from 100 down, and unmarked nodes.
		"kube-ovn": {
			build: func(c *cloud) {
				c.provider("ovn-external", "external")
				c.host("n1", "", "external")
				c.host("n2", "", "external")
				c.hang("ovn-cluster", "ovn-cluster-ovn-external", "ovn-external", []string{"vendor=kube-ovn"}, "n1=100", "n2=99")
			},
			bound: map[string]string{"cr-ovn-cluster-ovn-external": "n1"},
		},
		// reconcileVpcBfdLRP in pkg/controller/vpc.go of kube-ovn: a port with a group and without a switch.
		"BFD of kube-ovn": {
			build: func(c *cloud) {
				c.host("n1", "")
				c.host("n2", "")
				c.nbctl("lr-add", "ovn-cluster", "--",
					"lrp-add", "ovn-cluster", "bfd@ovn-cluster", "00:00:00:01:00:01", "10.255.255.255/32", "--",
					"lrp-set-options", "bfd@ovn-cluster", "bfd-only=true")
				c.grouped("bfd@ovn-cluster", []string{"lrp=bfd@ovn-cluster"},
					"Logical_Router_Port", []string{"bfd@ovn-cluster"}, "n1=2", "n2=1")
			},
			bound: map[string]string{"cr-bfd@ovn-cluster": "n1"},
		},
		// neutron/services/bgp/commands.py (28.0.0): each chassis has a pinned router, and its peer a group of one member.
		"BGP of Neutron 2026.1": {
			build: func(c *cloud) {
				c.host("c1", marked, "physnet1", "br-bgp")
				c.nbctl("lr-add", "bgp-lr-main", "--", "lr-add", "bgp-lr-c1", "--",
					"set", "Logical_Router", "bgp-lr-c1", "options:chassis=c1", "--",
					"lrp-add", "bgp-lr-main", "main-c1", "02:00:00:00:00:01", "169.254.0.1/30", "peer=c1-main", "--",
					"lrp-add", "bgp-lr-c1", "c1-main", "02:00:00:00:00:02", "169.254.0.2/30", "peer=main-c1")
				c.grouped("bgp-hcg-c1", nil, "Logical_Router_Port", []string{"main-c1"}, "c1=10")
			},
			bound: map[string]string{"cr-main-c1": "c1", "c1-main": "c1"},
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
			nowhere: 2, problems: []string{""},
		},
		"a zone that no chassis is in": {
			build: func(c *cloud) {
				c.provider("ext", "physnet1")
				c.host("c1", marked+",availability-zones=az1", "physnet1")
				c.hang("neutron-r1", "lrp-gw1", "ext", later)
				c.nbctl(ids("Logical_Router", "neutron-r1", "neutron:availability_zone_hints=nova")[1:]...)
			},
			nowhere: 1, problems: []string{"", "lrp-gw1"},
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
			nowhere: 1, problems: []string{"", "lrp1"}, after: map[string]string{"lrp1": "00000001-aaaa 00000002-aaaa"},
		},
	} {
		t.Run(name, func(t *testing.T) { x.try(t) })
	}
}

// B. The rows of each release of Neutron mark gateways, with candidates or without.
func TestOwners_gateways_of_each_Neutron_release(t *testing.T) {
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
				c.hang("neutron-r2", "lrp-vlan", "ext", earlier) // an internal VLAN network has a localnet port too
				for _, args := range [][]string{ids("Logical_Router", "neutron-r2", own.router...), ids("Logical_Switch_Port",
					"lrp-gw2-sw", own.peer...)} {
					if len(args) > 0 {
						c.nbctl(args[1:]...)
					}
				}
			},
			bound: map[string]string{"cr-lrp-gw1": "c1"}, nowhere: 1, problems: []string{"lrp-gw2"}, after: map[string]string{"lrp-gw2": "c2 c1"},
		}.try)
	}
}

// E. A port has the networks of every localnet port of its switch. A chassis needs one of them (ovn-architecture(7)).
func TestNetworks_switch_with_several(t *testing.T) {
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
		// Routed provider networks of Neutron: each segment has its own network, and each rack has one of them.
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
		// OVN connects the port to any one of both switches: join_logical_ports in northd.c takes the last of a hash table.
		"two switches with one router port": {
			build: func(c *cloud) {
				c.host("c1", marked, "physnet1", "physnet2")
				c.host("c2", marked, "physnet1")
				c.host("c3", marked, "physnet2")
				c.provider("ext", "physnet1")
				c.provider("ext2", "physnet2")
				c.hang("neutron-r1", "lrp-gw1", "ext", later, "c1=1")
				c.nbctl("lsp-add", "ext2", "again", "--", "lsp-set-type", "again", "router", "--",
					"lsp-set-options", "again", "router-port=lrp-gw1")
			},
			bound: map[string]string{"cr-lrp-gw1": "c1"}, problems: []string{"lrp-gw1"},
		},
		// ovn-kubernetes PR 6971: a node's uplink has changed, and the old localnet port is still on its external switch. An
		// other node has the old network. The router is pinned, and works.
		"stale localnet port of a node": {
			build: func(c *cloud) {
				c.host("w1", "", "uplink")
				c.host("w2", "", "physnet")
				c.provider("ext_w1", "physnet", "uplink")
				c.nbctl("lr-add", "GR_w1", "--", "set", "Logical_Router", "GR_w1", "options:chassis=w1")
				c.hang("GR_w1", "rtoe-GR_w1", "ext_w1", nil)
			},
			bound: map[string]string{"rtoe-GR_w1": "w1"},
		},
		// Bare metal on a routed provider network: a chassis of each rack serves it, whichever network the rack has.
		"bare metal in racks": {
			build: func(c *cloud) {
				c.provider("neutron-n1", "rack1", "rack2")
				c.host("c1", marked, "rack1")
				c.host("c2", marked, "rack2")
				c.host("c3", marked, "elsewhere")
				c.external("neutron-n1", "bm1")
				c.grouped("neutron-n1", hints, "Logical_Switch_Port", []string{"bm1"}, "c2=32767", "c3=32766")
			},
			bound: map[string]string{"bm1": "c2"}, problems: []string{"neutron-n1"},
			after: map[string]string{"neutron-n1": "c2 c1"},
		},
	} {
		t.Run(name, func(t *testing.T) { x.try(t) })
	}
}

// A drain follows the same rules: here no chassis is marked, and all can take over.
func TestDrain_without_marked_chassis(t *testing.T) {
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
