package deployment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// With the first listed unit off, a unit joins through another one.
func TestJoin_first_listed_member_is_dead(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{JujuVersion: lab.Juju3, ElectionTimer: time.Second})
	require.Equal(t, units[0].Name(), c.LeaderSettings()["created-by"])
	require.NoError(t, units[0].PowerOff())
	joiner := c.AddFresh(1)[0]
	c.Tick("the joiner is active", func() bool { return joiner.Workload().Status == "active" })
	require.True(t, c.IsMember(joiner))
	require.NoError(t, units[0].PowerOn(t.Context()))
	require.NoError(t, c.Settle(t.Context()))
	c.Tick("all are active", c.AllActive)
	c.RequireOneCluster(append(units, joiner)...)
}
