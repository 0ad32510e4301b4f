package functional

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The unit's own status follows a kick at once, not with the next update-status.
func TestKickSetsTheStatusThatItHasMadeUntrue(t *testing.T) {
	m := deploy(t, 3)
	leader := m.sameLeader()
	gone := m.followers()[0]
	m.vanish(gone)
	m.requireDown(gone)
	require.NoError(t, m.UpdateStatus(t.Context()))
	require.Contains(t, leader.Workload().Message, "stale member: juju run "+leader.Name()+" kick unit="+gone.Name())
	hooks := len(leader.Hooks())
	m.act(leader, "kick", "unit="+gone.Name(), "i-really-mean-it=true")
	assert.NotContains(t, leader.Workload().Message, "stale member")
	assert.Contains(t, leader.Workload().Message, "2 of 2 up")
	assert.Len(t, leader.Hooks(), hooks, "without a hook")
}
