package lab_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

func TestRefreshReplacesTheCharmAndKeepsTheRest(t *testing.T) {
	l, units := withUnits(t, 2, true, scripts{"start": "echo kept > made-by-the-charm", "update-status": "echo old"})
	newer := newCharm(t, scripts{"upgrade-charm": "ls > seen", "config-changed": "config-get --format=json > config"})
	require.NoError(t, l.Configure(ctx(t), map[string]string{"interval": "9"}))
	before := []int{len(units[0].Hooks()), len(units[1].Hooks())}
	require.NoError(t, l.Refresh(ctx(t), newer))
	assert.Equal(t, []string{"upgrade-charm", "config-changed"}, since(units[0], before[0]))
	assert.Equal(t, []string{"upgrade-charm", "config-changed", "leader-settings-changed"}, since(units[1], before[1]),
		"the agent watches anew, and takes the leader's settings for new")
	seen := read(t, units[0].CharmDir(), "seen")
	assert.Contains(t, seen, "made-by-the-charm\n")
	assert.NotContains(t, seen, "on-update-status\n", "files of the old charm are gone")
	assert.JSONEq(t, `{"interval":9}`, read(t, units[0].CharmDir(), "config"))

	u, err := l.AddUnitWith(ctx(t), lab.AddOptions{NoDatabases: true})
	require.NoError(t, err)
	assert.NotContains(t, u.Hooks(), "upgrade-charm")
	assert.FileExists(t, filepath.Join(u.CharmDir(), "on-upgrade-charm"))
}
