package recovery

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// Each unit reports a request made on any unit, and the units that it waits for.
func TestProgress(t *testing.T) {
	t.Parallel()
	assert.Empty(t, of(3).Progress(), "none was asked for")

	s := publisher()
	s.Peers[0].Request.Backup, s.Peers[0].Request.Asked = "/var/backups/b", noon
	s.Peers[0].Reached = false
	lines := finding.Statements(s.Progress())
	require.Len(t, lines, 1)
	for _, part := range []string{"nb: ", "/var/backups/b", unit(1), "2026-11-23T12:00:00Z", unit(2), one.Brief()} {
		assert.Contains(t, lines[0], part)
	}

	s.Cluster = one
	assert.Empty(t, s.Progress(), "it is over")
}
