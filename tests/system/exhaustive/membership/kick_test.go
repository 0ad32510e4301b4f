package membership

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

func TestKick_of_five_members(t *testing.T) {
	m := labtest.Deploy(t, 5)
	// R6: the follower's request was sent, and the leader never did it.
	m.Run("a lost request is pending, not done", func(m *labtest.Model) {
		t, leader := m.T, m.MakeOneLeader()
		gone, from := m.Followers()[0], m.Followers()[1]
		m.RemoveByForce(gone)
		m.RequireDown(gone)
		from.OnCall(func(call string) {
			if strings.Contains(call, "cluster/kick") {
				assert.NoError(t, leader.Hang(lab.NB))
			}
		})
		lost, err := m.RunAction(t.Context(), from, "kick", labtest.KickArgs("", m.ServerID(gone, lab.NB))...)
		require.NoError(t, err)
		from.OnCall(nil)
		assert.Equal(t, "failed", lost.Status)
		assert.Equal(t, membership.Pending, cluster.Outcome(lost.Results["ovnnb"]))
		assert.Contains(t, lost.Message, string(finding.RunAgain))
		require.NoError(t, leader.Kill(lab.NB))
		m.Eventually("a new leader", func() bool {
			s, err := m.RaftStatus(m.LeaderOf(lab.NB), lab.NB)
			return err == nil && s.Role == "leader"
		})
		require.NoError(t, leader.Start(t.Context(), lab.NB))
		m.Eventually("all up", func() bool {
			r, err := m.RunAction(t.Context(), from, "kick", labtest.KickArgs(m.ServerID(gone, lab.SB), m.ServerID(gone, lab.NB))...)
			require.NoError(t, err)
			return r.Status == "completed"
		})
		m.RequireMembers(m.Remaining()...)
	})

	// R10, 000-3: a kicked server never serves again by itself, and its unit can be removed, even without relations.
	m.Run("a server that is down is kicked, and its unit leaves", func(m *labtest.Model) {
		t, leader := m.T, m.MakeOneLeader()
		u := m.Followers()[0]
		m.KillServers(u)
		m.RequireDown(u)
		m.Act(leader, "kick", labtest.KickArgs(m.ServerID(u, lab.SB), m.ServerID(u, lab.NB), "force=true")...)
		for _, db := range lab.Databases {
			if err := u.Start(t.Context(), db); err != nil { // it has heard of the kick already
				require.ErrorContains(t, err, "it ended")
			}
		}
		u.RestartAgent()
		m.Remove(u)
		// A hook of the unit, which is in the model, may have put the kicked files away and joined again.
		require.Empty(t, m.InPlace(u))
		for _, db := range lab.Databases {
			require.NotEmpty(t, m.PutAway(u, db))
		}
		m.RequireMembers(append(m.Followers(), leader)...)
	})
}
