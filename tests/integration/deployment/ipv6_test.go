package deployment

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// addWithIPv6 adds a unit with its endpoints in a space of IPv6.
func addWithIPv6(c *labtest.Model) *lab.Unit {
	c.T.Helper()
	u := c.AddEmpty()
	for _, endpoint := range []string{"ovsdb-peer", "ovsdb", "ovsdb-cms"} {
		require.NoError(c.T, c.Bind(c.T.Context(), u, endpoint, u.Address6()))
	}
	return u
}

func TestIPv6_units_form_clusters_beside_IPv4_space(t *testing.T) {
	t.Parallel()
	c := labtest.Empty(t, lab.Options{IPv6: true})
	c.RelateVault()
	c.RelateClients()
	units := []*lab.Unit{addWithIPv6(c), addWithIPv6(c)}
	require.NoError(t, c.Settle(t.Context()))
	c.Tick("two units that work", c.AllActive)
	for i, u := range units {
		assert.Equal(t, "ssl:["+u.Address6()+"]:6643", c.Raft(u, lab.NB).Address)
		assert.Equal(t, "ssl:["+u.Address6()+"]:6644", c.Raft(u, lab.SB).Address)
		for _, relation := range []int{1, c.Chassis, c.CMS} {
			assert.Equal(t, `"[`+u.Address6()+`]"`, c.RelationData(relation).Units[u.Name()]["bound-address"])
		}
		assert.Contains(t, c.FileOf(u, "ovn-northd-db-params.conf"), "ssl:["+units[0].Address6()+"]:6641,ssl:["+units[1].Address6()+"]:6641")
		assert.Contains(t, c.FirewallRules(u), "6641,6643,6644,16402,16642/tcp ALLOW IN "+units[1-i].Address6()+" # charm-ovn-central")
	}
	assert.Contains(t, c.Connections(lab.NB), "pssl:6641:[::]")
	assert.Contains(t, c.Connections(lab.SB), "pssl:6642:[::]")
	assert.Contains(t, c.Connections(lab.SB), "pssl:16642:[::]")

	// A unit with only IPv4 joins, and each reaches the others with their family of addresses.
	third := c.AddFresh(1)[0]
	require.NoError(t, c.Bind(t.Context(), third, "ovsdb-peer", third.Address()))
	units = append(units, third)
	c.Tick("three units that work", c.AllActive)
	for _, u := range units {
		address := "[" + u.Address6() + "]"
		if u == third {
			address = u.Address()
		}
		for _, port := range []string{"6641", "16642"} {
			program := map[string]string{"6641": "ovn-nbctl", "16642": "ovn-sbctl"}[port]
			_, err := c.Exec(t.Context(), program, "--timeout=20", "--no-leader-only", "--db=ssl:"+address+":"+port, "list", "Connection")
			assert.NoError(t, err, "%s by %s", u.Name(), address)
		}
	}
	c.RequireOneCluster(units...)
}
