package membership

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// The unit's own status follows a kick at once, not with the next update-status.
func TestKickSetsTheStatusThatItHasMadeUntrue(t *testing.T) {
	m := labtest.Deploy(t, 3)
	leader := m.MakeOneLeader()
	gone := m.Followers()[0]
	m.RemoveByForce(gone)
	m.RequireDown(gone)
	require.NoError(t, m.UpdateStatus(t.Context()))
	require.Contains(t, leader.Workload().Message, "stale member: juju run "+leader.Name()+" kick unit="+gone.Name())
	hooks := len(leader.Hooks())
	m.Act(leader, "kick", "unit="+gone.Name(), "i-really-mean-it=true")
	assert.NotContains(t, leader.Workload().Message, "stale member")
	assert.Contains(t, leader.Workload().Message, "2 of 2 up")
	assert.Len(t, leader.Hooks(), hooks, "without a hook")
}
