package deployment

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

func TestPausedUnitStaysDownUntilItIsResumed(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{})
	w := c.StartWriter(t.Context(), 0)
	paused, err := c.RaftLeader(t.Context(), lab.NB)
	require.NoError(t, err)
	others := slices.DeleteFunc(slices.Clone(units), func(u *lab.Unit) bool { return u == paused })
	for range 2 { // the second one finds nothing to do
		results := c.act(t, paused, "pause")
		assert.Contains(t, results["result"], "resume")
		requirePaused(t, paused)
	}
	c.updateStatus(t, paused)
	requirePaused(t, paused)

	message := c.refused(t, others[0], "pause")
	assert.Contains(t, message, "nb: of 3 members 2 are up")
	assert.Contains(t, message, "1 of 3 up, 2 needed")
	assert.Contains(t, message, paused.Address(), "who is down")
	assert.Contains(t, message, "next: resume "+paused.Name()+", which is paused: juju run "+paused.Name()+" resume\n")
	for _, u := range others {
		requireRunning(t, u)
	}

	require.NoError(t, paused.PowerOff())
	require.NoError(t, paused.PowerOn(t.Context()))
	require.NoError(t, c.Settle(t.Context()))
	requirePaused(t, paused)

	for _, result := range []string{"resumed", "the unit was not paused"} {
		results := c.act(t, paused, "resume")
		assert.Equal(t, result, results["result"])
		assert.NotContains(t, results["status"], "blocked")
		requireRunning(t, paused)
	}
	c.tick(t, "all are active", c.allActive)
	c.requireOneCluster(t, units...)
	lossless(t, w)
}

// A unit that is paused is told of what happens meanwhile, and follows it once it
// is resumed.
func TestUnitThatWasPausedFollowsWhatHasChangedMeanwhile(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{})
	c.act(t, units[2], "pause")
	require.NoError(t, c.Configure(t.Context(), map[string]string{"ovsdb-server-inactivity-probe": "77", "ovsdb-server-election-timer": "9"}))
	requirePaused(t, units[2])
	units = append(units, c.addFresh(t, 1)...)
	requirePaused(t, units[2])
	c.act(t, units[2], "resume")
	c.tick(t, "all are active", c.allActive)
	c.requireOneCluster(t, units...)
	c.requireConfigured(t, 9, 77)
}

func requirePaused(t *testing.T, u *lab.Unit) {
	t.Helper()
	says(t, u, "maintenance", "paused", "resume")
	for _, db := range lab.Databases {
		require.False(t, u.Running(db), "%s of %s", db, u.Name())
	}
	out, _, err := u.Systemctl(t.Context(), "is-active", "ovn-northd")
	require.NoError(t, err)
	require.NotEqual(t, "active\n", out)
}

func requireRunning(t *testing.T, u *lab.Unit) {
	t.Helper()
	for _, db := range lab.Databases {
		require.True(t, u.Running(db), "%s of %s", db, u.Name())
	}
}
