package membership

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// upgrade-check reports the schemas of the source's package, and their consequences. It changes nothing.
func TestUpgradeCheck_describes_source_and_changes_nothing(t *testing.T) {
	m := labtest.Deploy(t, 3)
	u := m.Deployed[1]
	before := u.Packages()
	shown := m.Act(u, "upgrade-check")["upgrade"]
	assert.Contains(t, shown, "source:    distro\n")
	assert.Contains(t, shown, "offered:   nothing newer")
	assert.NotContains(t, shown, "converted to")

	require.NoError(t, u.OfferVersion("99.0-1"))
	require.NoError(t, u.OfferSchemas())
	m.PowerOff(m.Deployed[2])
	var found struct {
		Offered   string
		Newer     bool
		Units     []string
		Databases []struct {
			Brought       string `json:"brought-schema"`
			Format        string `json:"file-format"`
			BroughtFormat string `json:"brought-file-format"`
			Converted     bool
			Schema        string
		}
		First []string
	}
	require.NoError(t, json.Unmarshal([]byte(m.Act(u, "upgrade-check", "source=distro", "format=json")["upgrade"]), &found))
	assert.True(t, found.Newer)
	assert.Contains(t, found.Offered, "99.0-1")
	require.Len(t, found.Databases, 2)
	for _, d := range found.Databases {
		assert.Equal(t, lab.NewerSchema, d.Brought)
		assert.True(t, d.Converted)
		assert.NotEqual(t, lab.NewerSchema, d.Schema)
		assert.NotEmpty(t, d.Format)
		assert.NotEmpty(t, d.BroughtFormat)
	}
	assert.Contains(t, found.First, "a backup: juju run "+u.Name()+" backup")
	m.Eventually("the unit that is down is named", func() bool {
		require.NoError(t, json.Unmarshal([]byte(m.Act(u, "upgrade-check", "format=json")["upgrade"]), &found))
		return len(found.Units) == 1 && found.Units[0] == m.Deployed[2].Name()+" is down, or cut off"
	})
	assert.Equal(t, before, u.Packages())
	r, err := m.RunAction(t.Context(), u, "upgrade-check", "source=cloud:jammy-best")
	require.NoError(t, err)
	assert.Equal(t, "failed", r.Status)
	assert.Contains(t, r.Message, "cannot be used")
}
