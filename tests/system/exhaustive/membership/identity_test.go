package membership

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// R16, R4: a unit whose server was kicked has joined again, and its hook has not ended. It still publishes its
// earlier IDs, which are complete. No unit calls its new member stale or prints a command that would kick it.
func TestIdentity_unpublished_new_member_is_not_stale(t *testing.T) {
	m := labtest.DeployWith(t, 3, lab.Options{JujuVersion: lab.Juju4})
	leader := m.MakeOneLeader()
	u := m.Followers()[0]
	before := m.ShortID(u, lab.NB)
	m.Act(leader, "kick", labtest.KickArgs("", m.ServerID(u, lab.NB), "force=true")...)
	m.Hold(true) // or the hook that was killed runs again with whatever comes next
	m.KillHook(u, "update-status", func(call string) bool { return strings.HasPrefix(call, "relation-set") })
	m.RequireMembers(m.Deployed...)
	now := m.ShortID(u, lab.NB)
	require.NotEqual(t, before, now)
	require.Equal(t, before, u.Data()["nb-identity"], "the premise")
	for _, other := range m.Deployed {
		if other == u {
			continue
		}
		require.NoError(t, m.RunHook(t.Context(), other, "update-status"))
		m.FindsNone(other, finding.StaleMember)
		assert.NotContains(t, other.Workload().Message, "kick", other.Name())
		said := m.Act(other, "cluster-status")
		assert.NotContains(t, said["ovnnb"], "stale", other.Name())
		assert.NotContains(t, said["at-a-glance"], " kick ", other.Name())
		refused := m.Refuse(other, "kick", labtest.KickArgs("", m.ServerID(u, lab.NB))...)
		assert.NotContains(t, refused, "force=true i-really-mean-it=true", other.Name())
	}
	require.Equal(t, before, u.Data()["nb-identity"], "still")
	m.Hold(false)
	m.Eventually("its own word", func() bool {
		require.NoError(t, m.RunHook(t.Context(), u, "update-status"))
		return u.Data()["nb-identity"] == now
	})
	require.NoError(t, m.UpdateStatus(t.Context()))
	for _, each := range m.Deployed {
		assert.Equal(t, "active", each.Workload().Status, each.Workload().Message)
	}
}
