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

// A unit's members are kicked by hand before any other unit has seen them. The unit returns while it reaches no member,
// and keeps its databases; once it does, it joins again. The ordinary case is the step Cut of TestLifeOfAnApplication.
func TestRejoin_unit_kicked_by_hand_while_off(t *testing.T) {
	t.Parallel()
	c, units := labtest.Fresh(t, 3, lab.Options{})
	away, before := units[2], c.ServerIDs(units[2])
	require.NoError(t, away.PowerOff())
	for _, db := range lab.Databases {
		_, err := c.LeaderOf(db).Appctl(t.Context(), db, "cluster/kick", db.Schema(), before[string(db)][:4])
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			return !slices.ContainsFunc(c.Raft(units[0], db).Servers,
				func(m raft.Member) bool { return m.Short == before[string(db)][:4] })
		}, labtest.Patience, 50*time.Millisecond, "%s: %s is no member", db, before[string(db)])
	}
	for _, u := range units[:2] {
		require.NoError(t, os.Remove(filepath.Join(u.DBDir(), "ovn-central-operator.json")))
		require.NoError(t, u.Cut(true))
	}
	require.NoError(t, away.PowerOn(t.Context()))
	c.RunUpdateStatus(away)
	c.Says(away, "blocked")
	c.Finds(away, finding.NoQuorum, "") // it may be this unit that is cut off
	assert.Equal(t, before, c.ServerIDs(away), "as long as it can't be established nothing is thrown away")
	assert.Empty(t, c.PutAway(away))
	for _, u := range units[:2] {
		require.NoError(t, u.Cut(false))
	}
	c.Tick("all work again", c.AllActive)
	c.RequireOneCluster(units...)
	for db, id := range c.ServerIDs(away) {
		assert.NotEqual(t, before[db], id, "a removed server can't come back under its ID")
		assert.Len(t, c.PutAway(away, lab.DB(db)), 1)
	}
}
