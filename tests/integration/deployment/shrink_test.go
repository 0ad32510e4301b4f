package deployment

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// An application that is removed leaves its data where they are, since they are
// the only copy (rule R9). A machine of it hosts a unit of another application
// once an operator has moved them away, as that unit says.
func TestRemovedApplicationLeavesItsDataAndMachines(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 2, lab.Options{JujuVersion: lab.Juju3})
	former := c.LeaderSettings()
	require.NoError(t, c.RemoveApplication(t.Context()))
	for _, u := range units {
		require.True(t, u.Removed())
		c.RequireVacated(u)
		assert.Len(t, c.InPlace(u), 2)
	}

	next := newCloud(t, lab.Options{JujuVersion: lab.Juju3})
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

// A unit that is removed before it has got anywhere takes nothing with it, and
// hinders no unit.
func TestUnitThatIsRemovedBeforeItJoined(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 1, lab.Options{JujuVersion: lab.Juju4})
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

// A unit that may not leave continues to lead, and ovn-northd of those that stay continues
// to use it. Their status names what it waits for.
func TestOthersWorkOnWithALeaderThatMayNotLeave(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{JujuVersion: lab.Juju4})
	leader := c.LeaderOf(lab.SB)
	rest := slices.DeleteFunc(slices.Clone(units), func(u *lab.Unit) bool { return u == leader })
	dead, stays := rest[0], rest[1]
	require.NoError(t, dead.PowerOff())
	c.Tick("the others see that it is down", func() bool { return labtest.Shows(stays, "2 of 3 up") && labtest.Shows(leader, "2 of 3 up") })
	failed := (*lab.HookError)(nil)
	require.ErrorAs(t, c.RemoveUnit(t.Context(), leader, lab.RemoveOptions{}), &failed)
	require.Equal(t, "stop", failed.Hook)

	c.RunUpdateStatus(stays)
	c.Says(stays, "active")
	c.Finds(stays, finding.MemberDown, "nb sb "+dead.Name())
	assert.Equal(t, []string{"juju remove-unit --force " + dead.Name(), "juju add-unit ovn-central"},
		cluster.Commands(c.Finds(stays, finding.LeaveBlocked, leader.Name())))
	connected, err := stays.Exec(t.Context(), "ovn-appctl", "-t", "ovn-northd", "sb-connection-status")
	require.NoError(t, err)
	assert.Equal(t, "connected\n", connected)

	require.NoError(t, dead.PowerOn(t.Context()))
	c.Tick("all three are up again", func() bool { return !c.HasFinding(stays, finding.MemberDown, "") && labtest.Shows(dead, "3 of 3 up") })
	_, err = c.RetryUntil(t.Context(), leader)
	require.NoError(t, err)
	c.Tick("the others are active", c.AllActive)
	c.RequireOneCluster(rest...)
}
