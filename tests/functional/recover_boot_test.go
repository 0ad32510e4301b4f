package functional

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// Three of five are lost, and the other two, which are both asked, make one new cluster. The three boot, a majority of
// the old one: before any hook of theirs has run, none of their servers is started, and what
// clients can reach is the new cluster alone. Their hooks then have them join it.
func TestOldMajorityThatBootsServesNothingBeforeItsHooks(t *testing.T) {
	m := deploy(t, 5)
	m.addSwitch("kept")
	left, lost := m.units[:2], m.units[2:]
	m.lose(lost...)
	for _, u := range left { // they say how far their copies go
		require.NoError(t, m.RunHook(t.Context(), u, "update-status"))
	}
	require.NoError(t, m.Settle(t.Context()))
	m.Hold(true)
	begun := 0
	for _, u := range left { // the one that is asked second may have nothing to add
		r, err := m.RunAction(t.Context(), u, "recover", "give-up="+names(lost), "i-really-mean-it=true")
		require.NoError(t, err)
		if t.Log(u.Name(), r.Status, r.Message); r.Status == "completed" {
			begun++
		}
	}
	require.NotZero(t, begun)
	m.Hold(false)
	m.tick("a new cluster", allMembers(m, left...), left...)

	m.Hold(true)
	for _, u := range lost {
		require.NoError(t, u.PowerOn(t.Context()))
	}
	for _, u := range lost {
		for _, db := range lab.Databases {
			assert.False(t, u.Running(db), "%s serves %s", u.Name(), db)
			said, err := os.ReadFile(filepath.Join(u.LogDir(), db.Service()+".out"))
			require.NoError(t, err)
			assert.Contains(t, string(said), "which was given up in a recovery")
		}
	}
	m.requireOneServed()
	m.addSwitch("new") // through all remotes
	assert.Contains(t, m.seen(left[0]), "new")

	m.Hold(false)
	require.NoError(t, m.Settle(t.Context()))
	m.tick("all are members of the new cluster", allMembers(m, m.units...), m.units...)
	for _, u := range m.units {
		assert.Contains(t, m.seen(u), "kept")
		assert.Contains(t, m.seen(u), "new")
	}
	m.requireWritable()
}
