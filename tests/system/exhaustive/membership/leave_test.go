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

// A unit that is cut off is kicked from the other side, as its refusal says; then the kick's record ends its leave.
func TestLeave_unit_that_is_cut_off_ends_after_kick(t *testing.T) {
	m := labtest.Deploy(t, 3)
	m.MakeOneLeader()
	u := m.Followers()[0]
	rest := append(m.Followers()[1:], m.LeaderOf(lab.NB))
	for _, db := range lab.Databases {
		for _, other := range rest {
			require.NoError(t, other.Hang(db)) // u hears no member, as if its network were gone
		}
	}
	m.Eventually("a server without leader", func() bool {
		s, err := m.RaftStatus(u, lab.NB)
		return err == nil && !s.HasLeader()
	})
	said := m.RefuseRemoval(u)
	for _, db := range lab.Databases {
		require.NoError(t, u.Hang(db))
		for _, other := range rest {
			require.NoError(t, other.Resume(db))
		}
	}
	for _, db := range lab.Databases {
		m.Eventually("a leader on the other side", func() bool {
			s, err := m.RaftStatus(m.LeaderOf(db), db)
			return err == nil && s.Role == "leader"
		})
	}
	m.RequireDown(u)
	cutOff := finding.Finding{}.Condition(finding.Remedy{When: finding.IfCutOff})
	_, cutOff, _ = strings.Cut(cutOff, ", ") // behind the unit
	for _, line := range strings.Split(said, "\n") {
		if _, command, found := strings.Cut(line, cutOff+": "); found {
			r := m.Type(strings.TrimSpace(command))
			assert.Equal(t, "completed", r.Status, r.Message)
		}
	}
	for _, db := range lab.Databases {
		require.NoError(t, u.Resume(db))
	}
	_, err := m.RetryUntil(t.Context(), u)
	require.NoError(t, err)
	m.RequireMembers(rest...)
	assert.Len(t, m.PutAway(u), 2)
}
