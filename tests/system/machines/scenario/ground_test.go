package scenario

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
	"github.com/ovn-central/ovn-central-operator/tests/system/machines/client"
)

// TestGroundCarriesAClusterWithoutTheCharm tests what the other tests rely on: if
// it fails, their failures don't show a fault of the charm.
func TestGroundCarriesAClusterWithoutTheCharm(t *testing.T) {
	if exploretest.Factor(t) == 1 {
		t.Skip("shows the machines and not the charm: set EXPLORE=2 if another test of them fails")
	}
	ctx, fleet := open(t, machines.Options{})
	ca := vault.New("ground")
	all, err := fleet.Boot(ctx, 4)
	require.NoError(t, err)
	units := all[:3]
	predecessor{ca: ca, units: units}.layOut(ctx, t)

	c, err := client.New(ctx, all[3], ca)
	require.NoError(t, err)
	bags := map[string]map[string]string{}
	for i, m := range units {
		bags[fmt.Sprintf("ovn-central/%d", i)] = map[string]string{"bound-address": published(m)}
	}
	remotes, err := client.NewRemotes(bags)
	require.NoError(t, err)
	require.NoError(t, c.SetRemotes(ctx, remotes))

	t.Run("the firewall rejects what isn't a peer", func(t *testing.T) {
		_, err := c.NB(ctx, "--timeout=3", "show")
		assert.Error(t, err)
		for _, m := range units {
			_, err := m.Exec(ctx, "ufw", "prepend", "allow", "proto", "tcp", "from", c.Machine.Address().String(), "comment", "test")
			require.NoError(t, err)
		}
	})
	t.Run("a chassis registers, and may write what is its own only", func(t *testing.T) {
		require.NoError(t, c.BecomeChassis(ctx))
		chassisRegisters(ctx, t, c)
		// A server keeps the role that a listener had when it was made, and here the
		// role was set afterwards.
		for _, m := range units {
			require.NoError(t, m.Reboot(ctx))
		}
		eventually(ctx, t, 3*time.Minute, func() error { _, err := c.SB(ctx, "show"); return err })
		accessIsControlled(ctx, t, c)
	})
	t.Run("writes survive that any machine loses its power", func(t *testing.T) {
		require.NoError(t, c.StartWriter(ctx))
		for _, m := range units {
			require.NoError(t, m.Kill(ctx))
			before := c.Acknowledged()
			eventually(ctx, t, 3*time.Minute, func() error { return more(c, before, 4) })
			require.NoError(t, m.Start(ctx))
			before = c.Acknowledged()
			eventually(ctx, t, 3*time.Minute, func() error { return more(c, before, 4) })
		}
		nothingIsLost(ctx, t, c)
	})
}
