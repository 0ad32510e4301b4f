package membership

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// R8, R9: hooks that run after the departure, even after a boot, start nothing.
func TestLeave_later_hooks_start_nothing(t *testing.T) {
	m := labtest.Deploy(t, 3)
	m.MakeOneLeader()
	u := m.Followers()[0]
	rest := append(m.Followers()[1:], m.LeaderOf(lab.NB))
	u.RestartAgent()
	require.NoError(t, m.BeginRemoval(t.Context(), u)) // -broken is before stop
	for _, hook := range []string{"start", "config-changed", "certificates-relation-changed", "ovsdb-peer-relation-broken", "stop"} {
		require.NoError(t, m.RunHook(t.Context(), u, hook), hook)
		for _, db := range lab.Databases {
			assert.False(t, u.Running(db), "%s after %s", db, hook)
		}
		m.RequirePutAway(u)
	}
	m.RequireMembers(rest...)
	m.Remove(u)
}
