package recovery

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// olderPackages gives a unit's packages older schemas than the served ones.
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

// No server of these packages could be started on such data. The action, even as a dry run, reports that before any
// unit stops its server.
func TestRecover_newer_schema_is_refused_before_stop(t *testing.T) {
	m := labtest.Deploy(t, 2)
	u, lost := m.Deployed[0], m.Deployed[1]
	dir := m.Act(u, "backup")["backup"]
	olderPackages(t, u)
	for _, how := range []string{"i-really-mean-it=true", "dry-run=true"} {
		said := m.RefusedRecovery(u, "restore", "from="+dir, how)
		assert.True(t, said.Has(finding.RecoveryDataUnusable, "nb"), said)
		assert.True(t, said.Has(finding.RecoveryDataUnusable, "sb"), said)
	}
	m.Lose(lost)
	said := m.RefusedRecovery(u, "recover", "give-up="+lost.Name(), "i-really-mean-it=true")
	assert.True(t, said.Has(finding.RecoveryDataUnusable, "nb"), said)
	copies, err := filepath.Glob(filepath.Join(u.DBDir(), "*.standalone*"))
	require.NoError(t, err)
	assert.Empty(t, copies, "what was looked at is gone")
}
