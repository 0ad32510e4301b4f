package deployment

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// The order in docs/how-to/change-addresses-or-spaces.md: a unit that Juju offers another address
// is a member at the old one still, and there a new unit finds it.
func TestAddress_new_unit_replaces_one_at_old_address(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 1, lab.Options{JujuVersion: lab.Juju4})
	old := units[0].Address()
	require.NoError(t, c.SetAddress(t.Context(), units[0], "10.99.0.100"))
	added, err := c.AddUnitWith(t.Context(), lab.AddOptions{Fresh: true})
	require.NoError(t, err)
	c.Tick("two units that work", c.AllActive)
	c.Says(units[0], "active")
	assert.Contains(t, c.Finds(units[0], finding.AddressChanged, "nb").Message, "ssl:"+old+":6643")
	require.NoError(t, c.RemoveUnit(t.Context(), units[0], lab.RemoveOptions{}))
	c.Tick("one unit that works", c.AllActive)
	c.Says(added, "active", "1 of 1 up")
}
