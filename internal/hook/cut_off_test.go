package hook_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// If an upgrade was interrupted, as by a full disk, and can't be finished, damaged files are still searched and
// reported, and the report is not withdrawn.
func TestHook_interrupted_upgrade_hides_no_damage(t *testing.T) {
	m := healthy()
	m.upgrading, m.broken = true, []string{"apt-get", "dpkg"}
	require.NoError(t, m.run(t, "update-status"))
	assert.Contains(t, m.log.String(), "cannot install")
	assert.Contains(t, m.log.String(), `cannot publish the state of the server's file" database=nb missing="the server has entries up to `)
	assert.NotContains(t, m.log.String(), `missing=""`)
	assert.True(t, strings.HasPrefix(m.status, "blocked nb, sb: "+finding.Lookup(finding.FileLacksEntries).Line), m.status)
}
