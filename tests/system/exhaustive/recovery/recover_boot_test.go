package recovery

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// recoverOnTwoOfFive loses three of five units, and has the other two, which are both asked, make one
// new cluster.
func recoverOnTwoOfFive(m *labtest.Model) (left, lost []*lab.Unit) {
	m.T.Helper()
	m.AddSwitch("kept")
	left, lost = m.Deployed[:2], m.Deployed[2:]
	m.Lose(lost...)
	for _, u := range left { // they say how far their copies go
		require.NoError(m.T, m.RunHook(m.T.Context(), u, "update-status"))
	}
	require.NoError(m.T, m.Settle(m.T.Context()))
	m.Hold(true)
	begun := 0
	for _, u := range left { // the one that is asked second may have nothing to add
		r, err := m.RunAction(m.T.Context(), u, "recover", "give-up="+labtest.Names(lost), "i-really-mean-it=true")
		require.NoError(m.T, err)
		if m.T.Log(u.Name(), r.Status, r.Message); r.Status == "completed" {
			begun++
		}
	}
	require.NotZero(m.T, begun)
	m.Hold(false)
	m.Tick("a new cluster", labtest.AllMembers(m, left...), left...)
	return left, lost
}

// Three of five are lost, and the other two, which are both asked, make one new cluster. The three boot, a majority of
// the old one: before any hook of theirs has run, none of their servers is started, and what
// clients can reach is the new cluster alone. Their hooks then have them join it.
func TestOldMajorityThatBootsServesNothingBeforeItsHooks(t *testing.T) {
	m := labtest.Deploy(t, 5)
	left, lost := recoverOnTwoOfFive(m)
	m.Hold(true)
	for _, u := range lost {
		require.NoError(t, u.PowerOn(t.Context()))
	}
	for _, u := range lost {
		for _, db := range lab.Databases {
			assert.False(t, u.Running(db), "%s serves %s", u.Name(), db)
			said, err := os.ReadFile(filepath.Join(u.LogDir(), db.Service()+".out"))
			require.NoError(t, err)
			assert.Contains(t, string(said), "its cluster was given up in a recovery")
		}
	}
	m.RequireOneServed()
	m.AddSwitch("new") // through all remotes
	assert.Contains(t, m.Seen(left[0]), "new")

	m.Hold(false)
	require.NoError(t, m.Settle(t.Context()))
	m.Tick("all are members of the new cluster", labtest.AllMembers(m, m.Deployed...), m.Deployed...)
	for _, u := range m.Deployed {
		assert.Contains(t, m.Seen(u), "kept")
		assert.Contains(t, m.Seen(u), "new")
	}
	m.RequireWritable()
}

// The lost units are removed while their machines are off. These boot, and nothing keeps their servers from
// starting: they elect a leader of the old cluster, and serve clients, until the hooks of each put its copy away.
// None waits for the others, which are no longer members.
func TestOldMajorityThatIsBeingRemovedWhenItBootsGivesItsClusterUp(t *testing.T) {
	m := labtest.DeployWith(t, 5, lab.Options{JujuVersion: lab.Juju4})
	left, lost := recoverOnTwoOfFive(m)
	m.Hold(true)
	for _, u := range lost {
		require.NoError(t, m.Destroy(u))
		require.NoError(t, os.Remove(filepath.Join(u.ConfDir(), "ovn-central-start-guard.json")))
		require.NoError(t, u.PowerOn(t.Context()))
	}
	for _, db := range lab.Databases {
		m.Eventually("the old cluster is served", func() bool {
			s, err := m.RaftStatus(lost[0], db)
			return err == nil && s.HasLeader()
		})
	}
	m.Hold(false)
	for _, u := range lost {
		m.Remove(u)
		m.RequirePutAway(u)
	}
	m.RequireOneServed()
	m.RequireMembers(left...)
	m.RequireWritable()
}
