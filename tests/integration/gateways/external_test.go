package gateways

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// D. External ports are served by the kind of host that Neutron uses for them, with their network.
func TestExternalPorts_keep_network_and_kind(t *testing.T) {
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
		c.host("x3", markedFor, "physnet2") // it runs the virtual machine
		c.provider("neutron-n2", "physnet2")
		c.external("neutron-n2", "vf1")
		c.nbctl("lsp-set-options", "vf1", "requested-chassis=x3.maas")
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
			bound: map[string]string{"cr-lrp-gw1": "gw2"}, problems: []string{"neutron-n1"},
			after: map[string]string{"neutron-n1": "gw2 gw1"},
		},
		// understack PR 2150: the chassis of all members were replaced.
		"members that are gone": {
			build: func(c *cloud) {
				gateways(c)
				c.grouped("neutron-n1", hints, "Logical_Switch_Port", []string{"bm1"}, "old1=32767", "old2=32766")
			},
			problems: []string{"neutron-n1"}, after: map[string]string{"neutron-n1": "gw1 gw2"},
		},
		// Commit 4824a714bf of Neutron, in 16 and 17: one group for all external ports, which only the ports show to be its.
		"the default group of Ussuri": {
			build: func(c *cloud) {
				gateways(c)
				c.host("k1", "", "physnet1")
				c.nbctl(ids("Logical_Switch_Port", "bm1", "neutron:port_name=bm")[1:]...)
				c.grouped("default_ha_chassis_group", nil, "Logical_Switch_Port", []string{"bm1"}, "gone=32767", "gw2=32766")
			},
			bound: map[string]string{"bm1": "gw2"}, problems: []string{"default_ha_chassis_group"},
			after: map[string]string{"default_ha_chassis_group": "gw2 gw1"},
		},
		// LP#1995078: Neutron up to 2025.2 chooses the members of both lists without the other.
		"apart from the gateway": {
			build: func(c *cloud) {
				gateways(c)
				behind(c, "neutron-n1")
				c.grouped("neutron-n1", hints, "Logical_Switch_Port", []string{"bm1"}, "gw1=32767", "gw2=32766")
			},
			bound: map[string]string{"cr-lrp-gw1": "gw2", "bm1": "gw1"}, problems: []string{"neutron-n1"},
			after: map[string]string{"neutron-n1": "gw2 gw1"}, moves: 1,
		},
		// The gateway has no provider network, so that its list has no network either.
		"apart from a tunnelled gateway": {
			build: func(c *cloud) {
				gateways(c)
				c.nbctl("ls-add", "tunnel")
				c.hang("neutron-r1", "lrp-in1", "neutron-n1", []string{"neutron:is_ext_gw=False"})
				c.hang("neutron-r1", "lrp-gw1", "tunnel", later, "gw2=2", "gw1=1")
				c.grouped("neutron-n1", hints, "Logical_Switch_Port", []string{"bm1"}, "gw1=32767", "gw2=32766")
			},
			bound: map[string]string{"cr-lrp-gw1": "gw2", "bm1": "gw1"}, problems: []string{"neutron-n1"},
			after: map[string]string{"neutron-n1": "gw2 gw1"}, moves: 1,
		},
		// Nothing is gained by a move as long as the router is disabled: no chassis hosts its gateway.
		"behind a disabled router": {
			build: func(c *cloud) {
				gateways(c)
				behind(c, "neutron-n1")
				c.nbctl("set", "Logical_Router", "neutron-r1", "enabled=false")
				c.grouped("neutron-n1", hints, "Logical_Switch_Port", []string{"bm1"}, "gw1=32767", "gw2=32766")
			},
			bound: map[string]string{"bm1": "gw1"},
		},
		// ReconcileNeutronSwitchCommand in neutron/services/bgp/commands.py (28.0.0) connects each flat network to the main
		// router, whose gateways are per chassis: the ports follow none of them.
		"on a network of Neutron's BGP": {
			build: func(c *cloud) {
				c.host("gw1", marked+",availability-zones=az1", "physnet1")
				c.host("gw2", marked+",availability-zones=az2", "physnet1")
				c.provider("neutron-n1", "physnet1")
				c.external("neutron-n1", "bm1")
				c.hang("bgp-lr-main", "bgp-lrp-n1", "neutron-n1", nil)
				c.nbctl("lr-add", "bgp-lr-gw2", "--", "set", "Logical_Router", "bgp-lr-gw2", "options:chassis=gw2", "--",
					"lrp-add", "bgp-lr-main", "main-gw2", "02:00:00:00:00:01", "169.254.0.1/30", "peer=gw2-main", "--",
					"lrp-add", "bgp-lr-gw2", "gw2-main", "02:00:00:00:00:02", "169.254.0.2/30", "peer=main-gw2")
				c.grouped("bgp-hcg-gw2", nil, "Logical_Router_Port", []string{"main-gw2"}, "gw2=10")
				c.grouped("neutron-n1", []string{"neutron:availability_zone_hints=az1"}, "Logical_Switch_Port", []string{"bm1"})
			},
			bound: map[string]string{"cr-main-gw2": "gw2", "gw2-main": "gw2"}, problems: []string{"neutron-n1"},
			after: map[string]string{"neutron-n1": "gw1"},
		},
		"a port without a group":         {build: gateways, problems: []string{"bm1"}},
		"hosts for external ports alone": {build: func(c *cloud) { extport(c, "x2=32766") }, bound: served},
		// An earlier plan of this product made this group.
		"a gateway chassis among them": {
			build: func(c *cloud) { extport(c, "gw1=32766") }, bound: served, problems: []string{"neutron-extport-vf1"},
			after: map[string]string{"neutron-extport-vf1": "x1 x2"},
		},
	} {
		t.Run(name, func(t *testing.T) { x.try(t) })
	}
}

// D. Bare metal on physnet2 reaches the world by a router's gateway on physnet1, if one chassis hosts both
// (LP#2125553). A drain takes the gateway to the candidate with both networks, though another one is better and hosts
// fewer.
func TestExternalPorts_gateway_keeps_their_network(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	c.addNetwork("physnet2")
	for chassis, networks := range map[string][]string{
		"c1": {"physnet1", "physnet2"}, "c2": {"physnet1"}, "c3": {"physnet1", "physnet2"},
	} {
		c.configure(chassis, marked, networks...)
	}
	c.hang("neutron-r1", "lrp-gw", "physnet1", later, "c1", "c2", "c3")
	c.addGateways(1, "c3", "c1")
	c.hang("neutron-r1", "lrp-in", "physnet2", earlier)
	c.external("physnet2", "baremetal")
	c.grouped("neutron-physnet2", []string{"neutron:network_id=physnet2", "neutron:router_id=r1"}, "Logical_Switch_Port",
		[]string{"baremetal"}, "c1", "c3")
	c.nbctl("--wait=sb", "sync")
	c.sbctl("lsp-bind", "cr-lrp-gw", "c1", "--", "lsp-bind", "baremetal", "c1")
	c.drain("c1", "--timeout", "1s")
	assert.Equal(t, "3 c3", c.candidates("lrp-gw")[0])
	assert.Equal(t, "2 c3", c.members("neutron-physnet2")[0])
}
