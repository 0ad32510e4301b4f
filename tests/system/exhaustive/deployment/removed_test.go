package deployment

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// requireRejoined requires that a unit has archived its old databases and is a member under new IDs.
func (c *cloud) requireRejoined(u *lab.Unit, before map[string]string, times int, units ...*lab.Unit) {
	c.T.Helper()
	c.Tick("all work again", c.AllActive)
	c.RequireOneCluster(units...)
	for db, id := range c.ServerIDs(u) {
		assert.NotEqual(c.T, before[db], id, "a server that was removed can't come back under its ID")
		assert.Len(c.T, c.PutAway(u, lab.DB(db)), times)
	}
}

func (c *cloud) requireKicked(u *lab.Unit, servers map[string]string) {
	c.T.Helper()
	for _, db := range lab.Databases {
		require.Eventually(c.T, func() bool {
			return !slices.ContainsFunc(c.Raft(u, db).Servers, func(m raft.Member) bool { return m.Short == servers[string(db)][:4] })
		}, labtest.Patience, 50*time.Millisecond, "%s: %s is no member", db, servers[string(db)])
	}
}

func TestRejoin_unit_removed_while_off(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{})
	away := units[2]

	// Kicked by an operator, which leaves a record in the databases.
	before := c.ServerIDs(away)
	require.NoError(t, away.PowerOff())
	c.Tick("the others see that it is down", func() bool { return labtest.Shows(units[0], "2 of 3 up") && labtest.Shows(units[1], "2 of 3 up") })
	c.Act(units[0], "kick", "nb-identity="+before["nb"], "sb-identity="+before["sb"], "i-really-mean-it=true", "force=true")
	c.requireKicked(units[0], before)
	require.NoError(t, away.PowerOn(t.Context()))
	require.NoError(t, c.Settle(t.Context()))
	assert.Contains(t, labtest.HookLogFrom(t, away, 0), "leave the cluster of nb (the other members have removed this server)")
	c.requireRejoined(away, before, 1, units...)

	// Kicked by hand, before any other unit has seen its member. It returns while it reaches no member, and then does.
	before = c.ServerIDs(away)
	require.NoError(t, away.PowerOff())
	for _, db := range lab.Databases {
		leader := c.LeaderOf(db)
		_, err := leader.Appctl(t.Context(), db, "cluster/kick", map[lab.DB]string{lab.NB: "OVN_Northbound", lab.SB: "OVN_Southbound"}[db], before[string(db)][:4])
		require.NoError(t, err)
	}
	c.requireKicked(units[0], before)
	for _, u := range units[:2] {
		require.NoError(t, os.Remove(filepath.Join(u.DBDir(), "ovn-central-operator.json")))
		require.NoError(t, u.Cut(true))
	}
	require.NoError(t, away.PowerOn(t.Context()))
	c.RunUpdateStatus(away)
	c.Says(away, "blocked")
	c.Finds(away, finding.NoQuorum, "") // it may be this unit that is cut off
	assert.Equal(t, before, c.ServerIDs(away), "as long as it can't be established nothing is thrown away")
	assert.Len(t, c.PutAway(away, lab.NB), 1)
	for _, u := range units[:2] {
		require.NoError(t, u.Cut(false))
	}
	c.requireRejoined(away, before, 2, units...)
}
