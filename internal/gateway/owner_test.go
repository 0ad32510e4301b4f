package gateway_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// Each mark alone makes Neutron the owner; neutron:is_ext_gw tells the releases apart.
func TestBuildInventory_owner_by_each_mark(t *testing.T) {
	t.Parallel()
	port := func(nb *ovsdb.Northbound) *ovsdb.LogicalRouterPort { return &nb.RouterPorts[0] }
	for name, x := range map[string]struct {
		mark func(*ovsdb.Northbound)
		want schedule.Owner
	}{
		"none": {func(*ovsdb.Northbound) {}, schedule.Other},
		"external IDs of the port": {func(nb *ovsdb.Northbound) {
			port(nb).ExternalIDs = map[string]string{"neutron:revision_number": "3"}
		}, schedule.EarlierNeutron},
		"external IDs of the router": {func(nb *ovsdb.Northbound) {
			nb.Routers[0].ExternalIDs = map[string]string{"neutron:revision_number": "3"}
		}, schedule.EarlierNeutron},
		"name of the router": {func(nb *ovsdb.Northbound) { nb.Routers[0].Name = "neutron-1" }, schedule.EarlierNeutron},
		"a later release":    {func(nb *ovsdb.Northbound) { port(nb).ExternalIDs = gatewayIDs() }, schedule.Neutron},
	} {
		nb := northbound()
		nb.Routers[0].ExternalIDs, port(&nb).ExternalIDs = nil, nil
		x.mark(&nb)
		groups := gateway.BuildInventory(nb, southbound()).State.Groups
		require.Equal(t, "lrp-1", groups[0].Name, name)
		assert.Equal(t, x.want, groups[0].Owner, name)
	}
}

// Neutron owns a group of external ports if the group's name or external IDs, or those of a port, are Neutron's.
func TestBuildInventory_owner_of_external_ports(t *testing.T) {
	t.Parallel()
	ids := map[string]string{"neutron:revision_number": "3"}
	for name, x := range map[string]struct {
		mark func(*ovsdb.HAChassisGroup, *ovsdb.LogicalSwitchPort)
		want schedule.Owner
	}{
		"none": {func(*ovsdb.HAChassisGroup, *ovsdb.LogicalSwitchPort) {}, schedule.Other},
		"name of the group": {
			func(g *ovsdb.HAChassisGroup, _ *ovsdb.LogicalSwitchPort) { g.Name = "neutron-x" }, schedule.Neutron,
		},
		"external IDs of the group": {
			func(g *ovsdb.HAChassisGroup, _ *ovsdb.LogicalSwitchPort) { g.ExternalIDs = ids }, schedule.Neutron,
		},
		"external IDs of a port": {
			func(_ *ovsdb.HAChassisGroup, p *ovsdb.LogicalSwitchPort) { p.ExternalIDs = ids }, schedule.Neutron,
		},
	} {
		nb := northbound()
		nb.Groups[1].Name, nb.Groups[1].ExternalIDs = "metal", nil
		x.mark(&nb.Groups[1], &nb.SwitchPorts[6])
		groups := gateway.BuildInventory(nb, southbound()).State.Groups
		require.Equal(t, nb.Groups[1].Name, groups[2].Name, name)
		assert.Equal(t, x.want, groups[2].Owner, name)
	}
}

// Each release names the gateway of a router without candidates in another way.
func TestBuildInventory_gateway_by_what_each_release_writes(t *testing.T) {
	t.Parallel()
	ids := func(key, value string) map[string]string { return map[string]string{key: value} }
	for name, x := range map[string]struct {
		port, router map[string]string
		nat          bool // the switch port has nat-addresses=router
		want         bool
	}{
		"marked":                     {port: ids("neutron:is_ext_gw", "True"), want: true},
		"marked in lower case":       {port: ids("neutron:is_ext_gw", "true"), want: true},
		"marked as an inner port":    {port: ids("neutron:is_ext_gw", "False"), router: ids("neutron:gw_port_id", "inside")},
		"named by its router":        {router: ids("neutron:gw_port_id", "inside"), want: true},
		"its router names another":   {router: ids("neutron:gw_port_id", "outside"), nat: true},
		"by its switch port":         {port: ids("neutron:revision_number", "3"), nat: true, want: true},
		"by that and its router":     {router: ids("neutron:revision_number", "3"), nat: true, want: true},
		"a switch port of others":    {nat: true},
		"of Neutron, nothing else":   {port: ids("neutron:revision_number", "3")},
		"of another client, nothing": {},
	} {
		nb := northbound()
		nb.RouterPorts[3].ExternalIDs, nb.Routers[1].ExternalIDs = x.port, x.router
		if x.nat {
			nb.SwitchPorts[5].Options["nat-addresses"] = "router"
		}
		groups := gateway.BuildInventory(nb, southbound()).State.Groups
		found := false
		for _, g := range groups {
			found = found || g.Name == "lrp-inside"
		}
		assert.Equal(t, x.want, found, name)
	}
}
