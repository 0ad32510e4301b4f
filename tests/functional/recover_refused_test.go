package functional

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// refusedRecovery runs an action that is to begin nothing: no server is stopped, on any unit.
func (m *model) refusedRecovery(u *lab.Unit, action string, args ...string) string {
	m.t.Helper()
	on := slices.DeleteFunc(m.rest(), func(u *lab.Unit) bool { return !u.Running(lab.NB) })
	require.NotEmpty(m.t, on)
	running := func() map[string]int {
		all := map[string]int{}
		for _, unit := range on {
			for _, db := range lab.Databases {
				all[unit.Name()+" "+string(db)], _ = unit.ServerPID(db) // 0 where it does not run
			}
		}
		return all
	}
	before := running()
	r, err := m.RunAction(m.t.Context(), u, action, args...)
	require.NoError(m.t, err)
	require.Equal(m.t, "failed", r.Status, "%v", r.Results)
	assert.Contains(m.t, r.Message, "nothing was done")
	for _, unit := range on {
		require.NoError(m.t, m.RunHook(m.t.Context(), unit, "update-status"))
	}
	require.NoError(m.t, m.Settle(m.t.Context()))
	assert.Equal(m.t, before, running(), "a server was stopped, or started anew")
	return r.Message
}

// olderPackages has a unit's packages bring schemas that are older than what is served.
func olderPackages(t *testing.T, u *lab.Unit) {
	t.Helper()
	require.NoError(t, u.OfferSchemas()) // from now on it has files of its own
	for _, db := range lab.Databases {
		path := filepath.Join(filepath.Dir(u.CharmDir()), "share", "ovn-"+string(db)+".ovsschema")
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		older := regexp.MustCompile(`"version": "[0-9.]+"`).ReplaceAll(text, []byte(`"version": "1.0.0"`))
		require.NotEqual(t, text, older)
		require.NoError(t, os.WriteFile(path, older, 0o600))
	}
}

// No server of these packages could be started on such data. That is said before any unit
// stops the server that it has, and by a dry run too.
func TestDataOfANewerSchemaAreRefusedBeforeAnyServerIsStopped(t *testing.T) {
	m := deploy(t, 2)
	u, lost := m.units[0], m.units[1]
	dir := m.act(u, "backup")["backup"]
	olderPackages(t, u)
	for _, how := range []string{"i-really-mean-it=true", "dry-run=true"} {
		said := m.refusedRecovery(u, "restore", "from="+dir, how)
		assert.Regexp(t, `nb: its schema is \S+, newer than that of this unit's packages, 1\.0\.0; upgrade them first`, said)
		assert.Regexp(t, `sb: its schema is \S+, newer than that of this unit's packages, 1\.0\.0; upgrade them first`, said)
	}
	m.lose(lost)
	said := m.refusedRecovery(u, "recover", "give-up="+lost.Name(), "i-really-mean-it=true")
	assert.Regexp(t, `nb: its schema is \S+, newer than that of this unit's packages, 1\.0\.0; upgrade them first`, said)
	copies, err := filepath.Glob(filepath.Join(u.DBDir(), "*.standalone*"))
	require.NoError(t, err)
	assert.Empty(t, copies, "what was looked at is gone")
}

// A new cluster takes space beside the old file. Where it is missing, no unit stops its server.
func TestRecoveryThatTheDiskHasNoSpaceForIsRefusedBeforeAnyServerIsStopped(t *testing.T) {
	m := deploy(t, 1)
	u, _ := m.addOnSmallDisk()
	dir := m.act(m.units[0], "backup")["backup"]
	assert.Regexp(t, "nb: the disk of "+u.DBDir()+" has 0 MiB free, and it takes 16; make space", m.refusedRecovery(u, "restore", "from="+dir, "i-really-mean-it=true"))
	m.lose(m.units[0])
	assert.Regexp(t, "nb: the disk of "+u.DBDir()+" has 0 MiB free, and it takes 16; make space", m.refusedRecovery(u, "recover", "give-up="+m.units[0].Name(), "i-really-mean-it=true"))
}
