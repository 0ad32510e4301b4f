package deployment

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// The unit that claimed the clusters is lost before any server ran: no other unit makes new ones, and all say so.
func TestBootstrap_claimed_clusters_are_not_made_again(t *testing.T) {
	t.Parallel()
	c := newCloud(t, lab.Options{JujuVersion: lab.Juju3})
	c.Hold(true)
	var units []*lab.Unit
	for range 3 {
		u := c.AddEmpty()
		units = append(units, u)
		c.DeliverAll(u)
	}
	c.RelateVault()
	c.DeliverUntil(units[0], "certificates-relation-joined")
	c.KillHook(units[0], "certificates-relation-joined", func(string) bool { return c.LeaderSettings()["nb_cid"] != "" })
	claimed := c.LeaderSettings()
	c.Hold(false)
	require.NoError(t, c.RemoveUnit(t.Context(), units[0], lab.RemoveOptions{Force: true}))
	require.NoError(t, c.Settle(t.Context()))
	for _, u := range units[1:] {
		c.Says(u, "blocked")
		said := c.Finds(u, finding.ClusterLost, "nb").Message
		assert.Contains(t, said, raft.ID(claimed["nb_cid"]).Brief())
		assert.Contains(t, said, "ovn-central/0")
		assert.NoFileExists(t, u.DBFile(lab.NB))
	}
	assert.Equal(t, claimed, c.LeaderSettings())
}
