package gateway_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// ovn-northd ignores the candidates of a pinned router, so that none of its gateways is planned for. Neutron has pinned
// it by mistake if it marks gateways and all of these have candidates.
func TestBuildInventory_pinned_router(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		change   func(*ovsdb.Northbound)
		mistaken bool
		ofNode   bool
	}{
		"all have candidates": {change: func(*ovsdb.Northbound) {}, mistaken: true},
		"one has none":        {change: func(nb *ovsdb.Northbound) { nb.RouterPorts[2].Group = "" }},
		"none is marked": {change: func(nb *ovsdb.Northbound) {
			nb.RouterPorts[1].ExternalIDs, nb.RouterPorts[2].ExternalIDs = nil, nil
		}},
		"a router of ovn-kubernetes": {
			change: func(nb *ovsdb.Northbound) { nb.Routers[1].Name = "GR_node" }, mistaken: true, ofNode: true,
		},
		"a router of Neutron's BGP": {
			change: func(nb *ovsdb.Northbound) { nb.Routers[1].Name = "bgp-lr-node" }, mistaken: true, ofNode: true,
		},
	} {
		nb := northbound()
		nb.Routers[1].Pinned, nb.Routers[1].Chassis = true, "c1"
		x.change(&nb)
		state := gateway.BuildInventory(nb, southbound()).State
		require.Len(t, state.Pinned, 1, name)
		assert.Equal(t, x.mistaken, state.Pinned[0].Mistaken, name)
		assert.Equal(t, x.ofNode, state.Pinned[0].OfNode, name)
		for _, g := range state.Groups {
			for _, p := range g.Ports {
				assert.NotEqual(t, nb.Routers[1].Name, p.Router, "%s: %s", name, p.Name)
			}
		}
	}
}

// A pinned router is on the chassis to which all its ports are bound, or on another one if any port is.
func TestBuildInventory_where_pinned_router_is(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		bound map[string]string
		want  string
	}{
		"everywhere as pinned": {map[string]string{"lrp-2": "c1", "lrp-3": "c1", "lrp-inside": "c1"}, "c1"},
		"the last elsewhere":   {map[string]string{"lrp-2": "c1", "lrp-3": "c1", "lrp-inside": "c2"}, "c2"},
		"the first elsewhere":  {map[string]string{"lrp-2": "c2", "lrp-3": "c1", "lrp-inside": "c1"}, "c2"},
		"nowhere":              {nil, ""},
	} {
		nb, sb := northbound(), southbound()
		nb.Routers[1].Pinned, nb.Routers[1].Chassis = true, "c1"
		sb.Pinned = x.bound
		pinned := gateway.BuildInventory(nb, sb).State.Pinned
		require.Len(t, pinned, 1, name)
		assert.Equal(t, x.want, pinned[0].Active, name)
	}
}

// ovn-nbctl takes a name like a UUID for a UUID, and a leading dash for an option. Then the UUID of the row is printed.
func TestBuildInventory_record_that_commands_name(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"r2": "r2", "GR_node-1.example": "GR_node-1.example", "beef": "R2", "-r2": "R2", "my router": "R2", "": "R2",
		"be": "be",
	} {
		nb := northbound()
		nb.Routers[1].Name, nb.Routers[1].Pinned = name, true
		assert.Equal(t, want, gateway.BuildInventory(nb, southbound()).State.Pinned[0].Record, name)
	}
}
