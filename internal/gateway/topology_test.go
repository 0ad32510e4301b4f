package gateway_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// A localnet port that connects no chassis to a network is found if a gateway or an external port is on its switch, and
// no other localnet port of that switch connects one.
func TestBuildInventory_localnet_port_that_connects_nothing(t *testing.T) {
	t.Parallel()
	localnet := func(c *gateway.Inventory) (found []string) {
		for _, line := range findingtest.All(c.Findings) {
			if strings.Contains(line, "LOCALNET_UNMAPPED") {
				found = append(found, line)
			}
		}
		return found
	}
	nb := northbound()
	nb.SwitchPorts[0].Name, nb.SwitchPorts[0].Options = "ln1", nil
	nb.SwitchPorts[1].Name, nb.SwitchPorts[1].Options = "ln2", map[string]string{"network_name": "physnet9"}
	assert.Equal(t, []string{`warning LOCALNET_UNMAPPED ln1 Value=""`, `warning LOCALNET_UNMAPPED ln2 Value="physnet9"`},
		localnet(gateway.BuildInventory(nb, southbound())))

	sb := southbound()
	sb.Chassis[2].Config["ovn-bridge-mappings"] = "physnet9:br-ex" // of another OVN
	assert.Len(t, localnet(gateway.BuildInventory(nb, sb)), 2)

	for on, p := range []string{"physnet1", "physnet2"} { // another port of each switch connects
		nb.SwitchPorts = append(nb.SwitchPorts, ovsdb.LogicalSwitchPort{
			UUID: "more-" + p, Type: "localnet", Options: map[string]string{"network_name": p},
		})
		nb.Switches[on].Ports = append(nb.Switches[on].Ports, "more-"+p)
	}
	assert.Empty(t, localnet(gateway.BuildInventory(nb, southbound())))

	bare := northbound() // no gateway is on the switch
	bare.Switches = append(bare.Switches, ovsdb.LogicalSwitch{UUID: "S9", Ports: []string{"N9"}})
	bare.SwitchPorts = append(bare.SwitchPorts, ovsdb.LogicalSwitchPort{UUID: "N9", Name: "ln9", Type: "localnet"})
	assert.Empty(t, localnet(gateway.BuildInventory(bare, southbound())))
}

// The localnet port, or the switch port, of a gateway is gone (understack#2330). A tunnelled network needs no localnet
// port, unless it has external ports.
func TestBuildInventory_gateway_that_is_not_connected(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		change func(nb *ovsdb.Northbound)
		want   string
	}{
		"nothing": {func(*ovsdb.Northbound) {}, ""},
		"localnet port": {func(nb *ovsdb.Northbound) {
			nb.Switches[1].Ports, nb.Switches[1].NetworkType = []string{"L3"}, "vlan"
		}, "warning LOCALNET_MISSING two"},
		"tunnelled": {func(nb *ovsdb.Northbound) {
			nb.Switches[1].Ports, nb.Switches[1].NetworkType = []string{"L3"}, "geneve"
		}, ""},
		"network without gateways": {func(nb *ovsdb.Northbound) {
			nb.Switches = append(nb.Switches, ovsdb.LogicalSwitch{UUID: "S4", NetworkType: "flat"})
		}, ""},
		"external port": {func(nb *ovsdb.Northbound) {
			nb.SwitchPorts = append(nb.SwitchPorts, ovsdb.LogicalSwitchPort{UUID: "X1", Type: "external"})
		}, "warning LOCALNET_MISSING inside"},
		"switch port": {func(nb *ovsdb.Northbound) { nb.SwitchPorts[4].Type = "" }, "warning GATEWAY_UNPLUGGED lrp-3"},
		"two switch ports": {func(nb *ovsdb.Northbound) {
			again := nb.SwitchPorts[4]
			again.UUID, again.Name = "again", "again"
			nb.SwitchPorts = append(nb.SwitchPorts, again)
		}, "warning GATEWAY_PLUGGED_TWICE lrp-3 Count=2 Detail=, again"},
		"switch port that is not needed": {func(nb *ovsdb.Northbound) {
			nb.SwitchPorts[4].Type, nb.RouterPorts[2].Switchless = "", true
		}, ""},
	} {
		nb := northbound()
		nb.SwitchPorts = nb.SwitchPorts[:6]
		x.change(&nb)
		found := slices.DeleteFunc(findingtest.All(gateway.BuildInventory(nb, southbound()).Findings),
			func(f string) bool {
				return !strings.Contains(f, "LOCALNET_MISSING") && !strings.Contains(f, "PLUGGED")
			})
		assert.Equal(t, x.want, strings.Join(found, "\n"), name)
	}
}

// A chassis maps one of the networks of a switch (ovn-architecture(7)), or it joins them.
func TestBuildInventory_chassis_that_joins_networks(t *testing.T) {
	t.Parallel()
	joined := func(nb ovsdb.Northbound, sb ovsdb.Southbound) string {
		all := findingtest.All(gateway.BuildInventory(nb, sb).Findings)
		other := func(f string) bool { return !strings.Contains(f, "NETWORKS_JOINED") }
		return strings.Join(slices.DeleteFunc(all, other), "\n")
	}
	nb := northbound()
	assert.Empty(t, joined(nb, southbound()))
	nb.Switches[0].Ports = append(nb.Switches[0].Ports, "N9")
	nb.SwitchPorts = append(nb.SwitchPorts, ovsdb.LogicalSwitchPort{
		UUID: "N9", Type: "localnet", Options: map[string]string{"network_name": "physnet2"},
	})
	assert.Equal(t, "warning NETWORKS_JOINED one Value=physnet1, physnet2 Count=1 Detail=c1", joined(nb, southbound()))
	sb := southbound()
	sb.Chassis[0].Config["is-remote"] = "true"
	assert.Empty(t, joined(nb, sb), "it is of another OVN")
	sb.Chassis[0].Config["is-remote"], sb.Chassis[0].Config["ovn-bridge-mappings"] = "", "physnet2:br-2"
	assert.Empty(t, joined(nb, sb))

	nb.SwitchPorts[len(nb.SwitchPorts)-1].Options["network_name"] = "physnet1" // with another VLAN
	assert.Empty(t, joined(nb, southbound()))
}

// Traffic of a switch crosses the router on its only gateway's chassis if the router's port has
// reside-on-redirect-chassis, or if the gateway has redirect-type=bridged. That chassis then needs the network of the
// switch.
func TestBuildInventory_networks_behind_gateway(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		resides, bridged bool
		gateways         int
		want             []string
	}{
		"resides":          {true, false, 1, []string{"physnet2"}},
		"bridged":          {false, true, 1, []string{"physnet2"}},
		"neither":          {false, false, 1, nil},
		"several gateways": {true, true, 2, nil},
	} {
		nb := northbound()
		nb.Routers[1].Ports = append([]string{"P4"}, []string{"P2", "P3"}[:x.gateways]...)
		nb.RouterPorts[1].Bridged, nb.RouterPorts[3].Resides = x.bridged, x.resides
		nb.Switches[2].Ports = append(nb.Switches[2].Ports, "N3")
		nb.SwitchPorts = append(nb.SwitchPorts, ovsdb.LogicalSwitchPort{
			UUID: "N3", Type: "localnet", Options: map[string]string{"network_name": "physnet2"},
		})
		for _, g := range gateway.BuildInventory(nb, southbound()).State.Groups {
			if g.Name == "neutron-R2" {
				assert.Equal(t, x.want, g.Behind, name)
			} else {
				assert.Empty(t, g.Behind, name)
			}
		}
	}
}

// Several routers may have the same name, or none. Their gateways are of different routers: a rebalancing need not
// separate them.
func TestBuildInventory_routers_of_the_same_name(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"r", ""} {
		nb := northbound()
		nb.Routers[0].Name, nb.Routers[1].Name = name, name
		c := gateway.BuildInventory(nb, southbound())
		assert.Equal(t, "R1", c.State.Groups[0].Ports[0].Router, name)
		assert.Equal(t, "R2", c.State.Groups[1].Ports[0].Router, name)
	}
}

// ovn-northd makes no binding for a port whose address it can't read, or while it is stopped. No chassis can mend that.
func TestBuildInventory_gateway_without_binding(t *testing.T) {
	t.Parallel()
	sb := southbound()
	delete(sb.Redirects, "cr-lrp-3")
	status := schedule.Evaluate(gateway.BuildInventory(northbound(), sb).State, schedule.Options{})
	other := func(f string) bool { return !strings.Contains(f, "lrp-3") }
	found := slices.DeleteFunc(findingtest.All(status.Findings), other)
	assert.Equal(t, []string{"warning BINDING_MISSING lrp-3"}, found)
}

// A port gets the networks of its switch that any chassis has or, if none has any, all of them. OVN connects a port of
// several switches to any one of them, so that no network is known.
func TestBuildInventory_network_of_a_port(t *testing.T) {
	t.Parallel()
	localnet := func(name string) ovsdb.LogicalSwitchPort {
		return ovsdb.LogicalSwitchPort{
			UUID: "to-" + name, Type: "localnet", Options: map[string]string{"network_name": name},
		}
	}
	for name, x := range map[string]struct {
		change func(*ovsdb.Northbound)
		want   string
	}{
		"one": {func(*ovsdb.Northbound) {}, "physnet1"},
		"one of two has a chassis": {func(nb *ovsdb.Northbound) {
			nb.SwitchPorts = append(nb.SwitchPorts, localnet("physnet9"))
			nb.Switches[0].Ports = append(nb.Switches[0].Ports, "to-physnet9")
		}, "physnet1"},
		"both have": {func(nb *ovsdb.Northbound) {
			nb.SwitchPorts = append(nb.SwitchPorts, localnet("physnet2"))
			nb.Switches[0].Ports = append(nb.Switches[0].Ports, "to-physnet2")
		}, "physnet1,physnet2"},
		"no chassis has it": {func(nb *ovsdb.Northbound) {
			nb.SwitchPorts[0].Options = map[string]string{"network_name": "physnet9"}
		}, "physnet9"},
		"two switches": {func(nb *ovsdb.Northbound) {
			again := nb.SwitchPorts[2]
			again.UUID = "again"
			nb.SwitchPorts, nb.Switches[1].Ports = append(nb.SwitchPorts, again), append(nb.Switches[1].Ports, "again")
		}, ""},
	} {
		nb := northbound()
		x.change(&nb)
		assert.Equal(t, x.want, gateway.BuildInventory(nb, southbound()).State.Groups[0].Ports[0].Network, name)
	}
}
