package deployment

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// An application that is removed leaves its data on the machines, since it is the only copy (rule R9). Such a machine
// can host a unit of another application once an operator has moved the data away, as that unit requests.
func TestRemoval_of_application_leaves_data(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 2, lab.Options{JujuVersion: lab.Juju3})
	former := c.LeaderSettings()
	require.NoError(t, c.RemoveApplication(t.Context()))
	for _, u := range units {
		require.True(t, u.Removed())
		c.RequireVacated(u)
		assert.Len(t, c.InPlace(u), 2)
	}

	next := labtest.Empty(t, lab.Options{JujuVersion: lab.Juju3})
	next.RelateVault()
	var fresh []*lab.Unit
	for n := range 2 {
		o := lab.AddOptions{Fresh: true, NoHooks: true}
		if n == 1 {
			o.Disk = units[1]
		}
		u, err := next.AddUnitWith(t.Context(), o)
		require.NoError(t, err)
		fresh = append(fresh, u)
	}
	require.NoError(t, next.Settle(t.Context()))
	c.RequireActive(fresh[0])
	held := fresh[1]
	c.Says(held, "blocked")
	found := next.Finds(held, finding.FileOfOtherCluster, "nb")
	require.NotEmpty(t, found.Remedies)
	assert.Contains(t, found.Remedies[0].Deed, held.DBFile(lab.NB))
	said := found.Message
	assert.Contains(t, said, raft.ID(former["nb_cid"]).Brief())
	assert.Contains(t, said, raft.ID(next.LeaderSettings()["nb_cid"]).Brief())
	for _, db := range lab.Databases {
		require.False(t, held.Running(db))
		require.NoError(t, os.Rename(held.DBFile(db), held.DBFile(db)+".moved"))
	}
	next.Tick("both are active", next.AllActive)
	next.RequireOneCluster(fresh...)
}

// If a unit is removed before it has joined, no data is lost, and no other unit is affected.
func TestRemoval_before_join_takes_nothing(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 1, lab.Options{JujuVersion: lab.Juju4})
	c.Hold(true)
	early := c.AddEmpty()
	c.DeliverUntil(early, "certificates-relation-joined")
	c.Hold(false)
	require.NoError(t, c.RemoveUnit(t.Context(), early, lab.RemoveOptions{}))
	require.True(t, early.Removed())
	c.RequireVacated(early)
	c.Tick("the other is active", c.AllActive)
	c.RequireOneCluster(units...)
}
