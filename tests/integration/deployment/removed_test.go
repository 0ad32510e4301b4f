package deployment

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// requireRejoined requires that a unit has put its old databases away and is a
// member under new IDs.
func (c *cloud) requireRejoined(t *testing.T, u *lab.Unit, before map[string]string, times int, units ...*lab.Unit) {
	t.Helper()
	c.tick(t, "all work again", c.allActive)
	c.requireOneCluster(t, units...)
	for db, id := range serverIDs(t, u) {
		assert.NotEqual(t, before[db], id, "a server that was removed can't come back under its ID")
		assert.Len(t, archived(t, u, lab.DB(db)), times)
	}
}

func TestUnitThatWasRemovedWhileItWasOffJoinsAgainOnceItKnows(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{})
	away := units[2]

	// Kicked by an operator, who leaves a record in the databases.
	before := serverIDs(t, away)
	require.NoError(t, away.PowerOff())
	c.tick(t, "the others see that it is down", func() bool { return contains(units[0], "2 of 3 up") && contains(units[1], "2 of 3 up") })
	c.act(t, units[0], "kick", "nb-identity="+before["nb"], "sb-identity="+before["sb"], "i-really-mean-it=true", "force=true")
	c.requireKicked(t, units[0], before)
	require.NoError(t, away.PowerOn(t.Context()))
	require.NoError(t, c.Settle(t.Context()))
	assert.True(t, hasLogged(t, away, "leave the cluster of nb (the other members have removed this server)"), "it says so, and leaves")
	c.requireRejoined(t, away, before, 1, units...)

	// Kicked by hand, so that only what another unit remembers tells of it.
	c.kickByHandWhileOff(t, away, 2, func() {}, units...)

	// And again, before any other unit has seen that it was a member.
	c.kickByHandWhileOff(t, away, 3, func() {
		for _, u := range units[:2] {
			require.NoError(t, os.Remove(filepath.Join(u.DBDir(), "ovn-central-operator.json")))
		}
	}, units...)
}

// kickByHandWhileOff has the last unit's servers kicked by hand while it is off. It
// comes back while it can reach nobody, and then can.
func (c *cloud) kickByHandWhileOff(t *testing.T, away *lab.Unit, times int, meanwhile func(), units ...*lab.Unit) {
	t.Helper()
	before := serverIDs(t, away)
	require.NoError(t, away.PowerOff())
	for _, db := range lab.Databases {
		leader, err := c.RaftLeader(t.Context(), db)
		require.NoError(t, err)
		_, err = leader.Appctl(t.Context(), db, "cluster/kick", map[lab.DB]string{lab.NB: "OVN_Northbound", lab.SB: "OVN_Southbound"}[db], before[string(db)][:4])
		require.NoError(t, err)
	}
	c.requireKicked(t, units[0], before)
	meanwhile()
	for _, u := range units[:2] {
		require.NoError(t, u.Cut(true))
	}
	require.NoError(t, away.PowerOn(t.Context()))
	c.updateStatus(t, away)
	says(t, away, "blocked", "no quorum") // it may be this unit that is cut off
	assert.Equal(t, before, serverIDs(t, away), "as long as it can't be established nothing is thrown away")
	assert.Len(t, archived(t, away, lab.NB), times-1)
	for _, u := range units[:2] {
		require.NoError(t, u.Cut(false))
	}
	c.requireRejoined(t, away, before, times, units...)
}
