package deployment

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// garbage has data that a broken peer may publish.
var garbage = map[string]string{
	"bound-address": `"not an address"`, "nb-identity": "{{{", "nb-server-id": strings.Repeat("f", 5000),
	"sb-identity": "13e4", "sb-server-id": "not-an-id", "sb-cluster-id": "\x1b[31m", "nb-cluster-id": "deadbeef",
	"package-source": "\n\n", "running-version": ",, ,%s openvswitch ", "trusted-cas": ",,,;", "certificate-issuer": "?", "northd": "null",
}

// publishes puts data on the peer relation instead of the charm.
func publishes(c *labtest.Model, u *lab.Unit, bag map[string]string) {
	c.T.Helper()
	dispatch := filepath.Join(u.CharmDir(), "dispatch")
	charm := dispatch + ".charm"
	require.NoError(c.T, os.Rename(dispatch, charm))
	values, err := json.Marshal(bag) // which is YAML, too
	require.NoError(c.T, err)
	require.NoError(c.T, os.WriteFile(dispatch+".bag", values, 0o644))
	require.NoError(c.T, os.WriteFile(dispatch, []byte("#!/bin/sh\nexec relation-set -r ovsdb-peer:1 --file - <"+dispatch+".bag\n"), 0o755))
	require.NoError(c.T, c.RunHook(c.T.Context(), u, "update-status"))
	require.NoError(c.T, os.Rename(charm, dispatch))
}

// No unit fails because of invalid data in the leader settings or from a peer, and no unit uses these data.
func TestNonsense_from_peers_harms_nothing(t *testing.T) {
	t.Parallel()
	c, units := labtest.Fresh(t, 3, lab.Options{JujuVersion: lab.Juju3})

	// They do not stop a working application either.
	c.Run("in the leader settings", func(c *labtest.Model) {
		t := c.T
		before, good := c.Processes(units...), c.LeaderSettings()
		require.NoError(t, c.SetLeaderSettings(t.Context(), map[string]string{"nb_cid": "rubbish", "sb_cid": ""}))
		require.NoError(t, c.RunHook(t.Context(), units[0], "config-changed"))
		for _, u := range units {
			c.Says(u, "blocked")
			assert.Contains(t, c.Finds(u, finding.PublishedDataInvalid, "").Message, "rubbish")
		}
		assert.Equal(t, before, c.Processes(units...))
		c.RequireWritable()
		require.NoError(t, c.SetLeaderSettings(t.Context(), good))
		require.NoError(t, c.RunHook(t.Context(), units[0], "config-changed"))
		c.RequireActive(units...)
		assert.Equal(t, before, c.Processes(units...))
	})

	// No unit fails because of a peer's invalid data, or uses them. The peer's next hook repairs them.
	c.Run("from a peer", func(c *labtest.Model) {
		t := c.T
		settings, before := c.LeaderSettings(), c.Processes(units...)
		publishes(c, units[2], garbage)
		require.NoError(t, c.Settle(t.Context()))
		require.NoError(t, c.RunHook(t.Context(), units[0], "update-status"))
		require.NoError(t, c.RunHook(t.Context(), units[1], "config-changed"))
		for _, u := range units[:2] {
			assert.Equal(t, "idle", u.Agent().Status, u.Agent().Message)
			assert.NotContains(t, u.Workload().Message, "kick", "the member is the unit's, whatever it says")
		}
		assert.Equal(t, settings, c.LeaderSettings())
		assert.Equal(t, before, c.Processes(units...))
		c.RunUpdateStatus(units[2])
		require.NoError(t, c.Settle(t.Context()))
		c.Tick("all are active", c.AllActive)
		c.RequireOneCluster(units...)
	})

	// Data larger than the limit of a hook tool's answer harm no other unit, whether or not the charm reads the key.
	c.Run("more than a hook tool may say", func(c *labtest.Model) {
		t, oversized, before := c.T, strings.Repeat("x", 9<<20), c.Processes(units...)
		const cms = "neutron-api-plugin-ovn/0"
		for _, key := range []string{"note", "cms-client-bound-address"} { // the second one is read
			require.NoError(t, c.RemoteSet(t.Context(), c.CMS, cms, map[string]string{key: oversized}))
			require.NoError(t, c.Settle(t.Context()))
			c.RequireActive(units...)
		}
		publishes(c, units[2], map[string]string{"note": oversized, "running-version": oversized, "hostname": oversized})
		require.NoError(t, c.Settle(t.Context()))
		c.RequireActive(units[:2]...)
		publishes(c, units[2], map[string]string{"nb-identity": oversized})
		require.NoError(t, c.Settle(t.Context()))
		for _, u := range units[:2] {
			require.NoError(t, c.RunHook(t.Context(), u, "config-changed"))
			assert.Equal(t, "idle", u.Agent().Status, u.Agent().Message)
			assert.NotContains(t, u.Workload().Message, "kick", "the member is the unit's, whatever it publishes")
		}
		assert.Equal(t, before, c.Processes(units...))
		c.RunUpdateStatus(units[2])
		require.NoError(t, c.Settle(t.Context()))
		c.Tick("all are active", c.AllActive)
	})

	// A unit that joins ignores the peer that published invalid data.
	c.Run("from a peer, while a unit joins", func(c *labtest.Model) {
		t := c.T
		c.Hold(true)
		publishes(c, units[1], garbage)
		joiner := c.AddEmpty()
		c.DeliverAll(joiner)
		assert.Len(t, c.Raft(joiner, lab.NB).Servers, 4, "it has joined")
		c.Hold(false)
		require.NoError(t, c.Settle(t.Context()))
		c.RunUpdateStatus(units[1])
		c.Tick("all are active", c.AllActive)
		c.RequireOneCluster(append(units, joiner)...)
	})
}
