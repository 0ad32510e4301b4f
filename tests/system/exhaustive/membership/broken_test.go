package membership

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// R9: Juju 4 doesn't wait for stop after a restarted agent's relation-broken: so that hook keeps the unit's vote.
func TestRelationBroken_after_agent_restart_waits(t *testing.T) {
	quirks := lab.Quirks{PeersStay: true, NoLeaderSettings: true, GoneAfter: 10 * time.Second}
	m := labtest.DeployWith(t, 3, lab.Options{JujuVersion: "4.0.15", Quirks: &quirks})
	m.MakeOneLeader()
	off, u := m.Followers()[0], m.Followers()[1]
	survivor := m.LeaderOf(lab.NB)
	u.RestartAgent()
	m.PowerOff(off)
	m.RequireDown(off)
	said := m.HookFailed(m.RemoveUnit(t.Context(), u, lab.RemoveOptions{}), "ovsdb-peer-relation-broken")
	assert.Contains(t, said, labtest.QuorumLost(2, 3, 1, 2))
	assert.False(t, u.Removed())
	assert.NotContains(t, strings.Join(u.Hooks(), "\n"), "stop")
	for _, db := range lab.Databases {
		assert.True(t, u.Running(db), "%s: it still votes", db)
	}
	m.RequireWritable()

	require.NoError(t, off.PowerOn(t.Context()))
	_, err := m.RetryUntil(t.Context(), u)
	require.NoError(t, err)
	assert.True(t, u.Removed())
	m.RequireMembers(survivor, off)
	m.RequirePutAway(u)
}
