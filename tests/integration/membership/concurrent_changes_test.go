package membership

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// R5, R8: two operators paste the same command on two units.
func TestTwoKicksOfOneMemberAtOnceAreOne(t *testing.T) {
	m := labtest.Deploy(t, 4)
	m.MakeOneLeader()
	gone := m.Followers()[0]
	m.RemoveByForce(gone)
	m.RequireDown(gone)
	args := labtest.KickArgs(m.ServerID(gone, lab.SB), m.ServerID(gone, lab.NB))
	rest := m.Remaining()
	outcomes := make([]lab.ActionResult, len(rest))
	errs := make([]error, len(rest))
	var wg sync.WaitGroup
	for i, u := range rest {
		wg.Go(func() { outcomes[i], errs[i] = m.RunAction(t.Context(), u, "kick", args...) })
	}
	wg.Wait()
	removed := 0
	for i, r := range outcomes {
		require.NoError(t, errs[i])
		require.Equal(t, "completed", r.Status, r.Message)
		if strings.HasPrefix(r.Results["ovnnb"], "removed") {
			removed++
		} else {
			assert.Contains(t, r.Results["ovnnb"], "already gone")
		}
	}
	assert.Equal(t, 1, removed)
	m.RequireMembers(rest...)
}

// R5: a kick and a leave that are each safe are made one after the other.
func TestKickAndLeaveAtOnce(t *testing.T) {
	m := labtest.Deploy(t, 5)
	leader := m.MakeOneLeader()
	gone, leaver := m.Followers()[0], m.Followers()[1]
	m.RemoveByForce(gone)
	m.RequireDown(gone)
	args := labtest.KickArgs(m.ServerID(gone, lab.SB), m.ServerID(gone, lab.NB))
	var left error
	var wg sync.WaitGroup
	wg.Go(func() { left = m.RemoveUnit(t.Context(), leaver, lab.RemoveOptions{}) })
	kicked, err := m.RunAction(t.Context(), leader, "kick", args...)
	wg.Wait()
	require.NoError(t, err)
	require.NoError(t, left)
	assert.Equal(t, "completed", kicked.Status, kicked.Message)
	m.RequireMembers(m.Remaining()...)
	m.RequireWritable()
}

// Commands are printed in the syntax of the Juju that runs the unit: here of 2.9. That of Juju 3 is what
// [labtest.Model.Type] takes.
func TestCommandsAreThoseOfTheJujuThatRuns(t *testing.T) {
	m := labtest.DeployWith(t, 3, lab.Options{JujuVersion: "2.9.42"})
	gone := m.Followers()[0]
	m.RemoveByForce(gone)
	m.RequireDown(gone)
	next := m.Act(m.LeaderOf(lab.NB), "cluster-status")["next"]
	assert.True(t, strings.HasPrefix(next, "juju run-action ovn-central/"), next)
	assert.True(t, strings.HasSuffix(strings.TrimSpace(next), "--wait"), next)
}

// Juju 4 runs no relation-departed on the survivors and goes on listing the unit
// that is gone: goal-state tells.
func TestStaleMemberIsNamedUnderJuju4(t *testing.T) {
	m := labtest.DeployWith(t, 3, lab.Options{JujuVersion: "4.0.1"})
	gone := m.Followers()[0]
	m.RemoveByForce(gone)
	m.RequireDown(gone)
	require.NoError(t, m.UpdateStatus(t.Context()))
	leader := m.LeaderOf(lab.NB)
	assert.Contains(t, leader.Workload().Message, "stale member: juju run "+leader.Name()+" kick unit="+gone.Name())
	command := strings.TrimSpace(m.Act(leader, "cluster-status")["next"])
	assert.Equal(t, "completed", m.Type(command).Status, command)
}
