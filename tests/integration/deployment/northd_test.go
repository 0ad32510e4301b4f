package deployment

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// A held ovn-northd stays held, whatever happens to the unit meanwhile.
func TestHold_northd_stays_down_through_all_hooks(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 1, lab.Options{})
	u := units[0]
	c.Act(u, "hold-northd")
	assert.Contains(t, c.Refuse(u, "restart-services", "services=ovn-northd"), "next: juju run "+u.Name()+" release-northd")
	for title, happens := range map[string]func(){
		"the machine loses its power": func() {
			require.NoError(t, u.PowerOff())
			require.NoError(t, u.PowerOn(t.Context()))
		},
		"newer packages": func() {
			c.Offer("99.1.0-1", u)
			require.NoError(t, c.Configure(t.Context(), labtest.Archive(1)))
			c.Tick("the newer version", func() bool { return slices.Equal(labtest.Versions(units), []string{"99.1.0-1"}) })
		},
		"the charm is refreshed": func() { c.RefreshCharm() },
		"pause and resume": func() {
			c.Act(u, "pause")
			c.Act(u, "resume")
		},
	} {
		happens()
		c.RunUpdateStatus(u)
		assert.False(t, c.NorthdRuns(u), title)
		assert.Contains(t, northds(c, u), string(ovndb.NorthdHeld), title)
		for _, db := range lab.Databases {
			assert.True(t, u.Running(db), title)
		}
	}
	assert.Equal(t, "released", c.Act(u, "release-northd")["result"])
	assert.True(t, c.NorthdRuns(u))
	assert.NotEqual(t, "released", c.Act(u, "release-northd")["result"])
	c.Tick("it is active", c.AllActive)
}

// northds returns the state of each unit's ovn-northd in a unit's cluster-status.
func northds(c *labtest.Model, u *lab.Unit) string {
	c.T.Helper()
	return c.Act(u, "cluster-status", "format=json")["northd"]
}
