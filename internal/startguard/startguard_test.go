package startguard

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovn"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// A refusal is noted, also where OVN's directory is not there yet, until the next start.
func TestRefusalIsNotedUntilTheNextStart(t *testing.T) {
	dir := t.TempDir()
	p := ovndb.Paths{Run: filepath.Join(dir, "run"), Etc: filepath.Join(dir, "etc")}
	refused := observe.Refusal{Cluster: "dd000000-0000-4000-8000-000000000000", Reason: "given up"}
	require.NoError(t, note(p, ovndb.NB, refused))
	noted, err := observe.RefusedStart(p, ovndb.NB)
	require.NoError(t, err)
	assert.Equal(t, refused, noted)
	noted, err = observe.RefusedStart(p, ovndb.SB)
	require.NoError(t, err)
	assert.Zero(t, noted)

	reason, err := Guard{Files: ovn.Files{Paths: p}}.Start(t.Context(), ovndb.NB) // which has nothing to ask
	require.NoError(t, err)
	assert.Empty(t, reason)
	assert.NoFileExists(t, p.StartRefusal(ovndb.NB))
}
