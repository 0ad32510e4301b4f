package membership

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// 000-5: identities are published on the relation, and stay correct.
func TestIdentity_is_published_by_each_unit(t *testing.T) {
	m := labtest.Deploy(t, 3)
	for _, u := range m.Deployed {
		data := u.Data()
		for _, db := range lab.Databases {
			assert.Equal(t, m.ShortID(u, db), data[string(db)+"-identity"])
			assert.Equal(t, m.ServerID(u, db), data[string(db)+"-server-id"])
		}
	}

	u := m.Followers()[0]
	before := map[lab.DB]string{lab.NB: m.ShortID(u, lab.NB), lab.SB: m.ShortID(u, lab.SB)}
	require.NoError(t, u.Kill(lab.NB))
	require.NoError(t, u.Hang(lab.SB))
	require.NoError(t, m.RunHook(t.Context(), u, "update-status"))
	for _, db := range lab.Databases {
		assert.Equal(t, m.ShortID(u, db), u.Data()[string(db)+"-identity"], "from the file, where the server is down or hangs")
	}
	require.NoError(t, u.Resume(lab.SB))

	m.Eventually("a kick of it", func() bool {
		r, err := m.RunAction(t.Context(), m.LeaderOf(lab.NB), "kick", labtest.KickArgs("", m.ServerID(u, lab.NB), "force=true")...)
		require.NoError(t, err)
		return r.Status == "completed"
	})
	m.Eventually("a new member in its place", func() bool {
		require.NoError(t, m.RunHook(t.Context(), u, "update-status"))
		return u.Data()["nb-identity"] != before[lab.NB] && u.Data()["nb-identity"] == m.ShortID(u, lab.NB)
	})
	assert.Equal(t, before[lab.SB], u.Data()["sb-identity"], "the other was not kicked")

	// The file of the other database is never mistaken for this one's, and it stays known which unit had the server
	// (R4).
	require.NoError(t, u.Stop(t.Context(), lab.SB))
	text, err := os.ReadFile(m.LeaderOf(lab.NB).DBFile(lab.NB))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(u.DBFile(lab.SB), text, 0o600))
	require.NoError(t, m.RunHook(t.Context(), u, "update-status"))
	assert.Equal(t, before[lab.SB], u.Data()["sb-identity"])
}
