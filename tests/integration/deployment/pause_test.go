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
	paused := c.LeaderOf(lab.NB)
	others := slices.DeleteFunc(slices.Clone(units), func(u *lab.Unit) bool { return u == paused })
	for range 2 { // the second one finds nothing to do
		results := c.Act(paused, "pause")
		assert.Contains(t, results["result"], "resume")
		c.requirePaused(paused)
	}
	c.RunUpdateStatus(paused)
	c.requirePaused(paused)

	message := c.Refuse(others[0], "pause")
	assert.Contains(t, message, "nb: of 3 members 2 are up")
	assert.Contains(t, message, "1 of 3 up, 2 needed")
	assert.Contains(t, message, paused.Address(), "who is down")
	assert.Contains(t, message, "next: resume "+paused.Name()+", which is paused: juju run "+paused.Name()+" resume\n")
	for _, u := range others {
		c.requireRunning(u)
	}

	require.NoError(t, paused.PowerOff())
	require.NoError(t, paused.PowerOn(t.Context()))
	require.NoError(t, c.Settle(t.Context()))
	c.requirePaused(paused)

	for _, result := range []string{"resumed", "the unit was not paused"} {
		results := c.Act(paused, "resume")
		assert.Equal(t, result, results["result"])
		assert.NotContains(t, results["status"], "blocked")
		c.requireRunning(paused)
	}
	c.Tick("all are active", c.AllActive)
	c.RequireOneCluster(units...)
	c.Verify(w)
}

// A unit that is paused is told of what happens meanwhile, and follows it once it
// is resumed.
func TestUnitThatWasPausedFollowsWhatHasChangedMeanwhile(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{})
	c.Act(units[2], "pause")
	require.NoError(t, c.Configure(t.Context(), map[string]string{"ovsdb-server-inactivity-probe": "77", "ovsdb-server-election-timer": "9"}))
	c.requirePaused(units[2])
	units = append(units, c.AddFresh(1)...)
	c.requirePaused(units[2])
	c.Act(units[2], "resume")
	c.Tick("all are active", c.AllActive)
	c.RequireOneCluster(units...)
	c.RequireConfigured(9, 77)
}

func (c *cloud) requirePaused(u *lab.Unit) {
	c.T.Helper()
	c.Says(u, "maintenance", "paused", "resume")
	for _, db := range lab.Databases {
		require.False(c.T, u.Running(db), "%s of %s", db, u.Name())
	}
	out, _, err := u.Systemctl(c.T.Context(), "is-active", "ovn-northd")
	require.NoError(c.T, err)
	require.NotEqual(c.T, "active\n", out)
}

func (c *cloud) requireRunning(u *lab.Unit) {
	c.T.Helper()
	for _, db := range lab.Databases {
		require.True(c.T, u.Running(db), "%s of %s", db, u.Name())
	}
}
