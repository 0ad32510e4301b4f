package deployment

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// charmOf lays out the charm as a build of one version.
func charmOf(t *testing.T, version string) string {
	t.Helper()
	dir, dispatch := t.TempDir(), filepath.Join(t.TempDir(), "dispatch")
	root, err := lab.Root()
	require.NoError(t, err)
	flags := "-ldflags=-s -w -X github.com/ovn-central/ovn-central-operator/internal/version.Version=" + version
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", flags, "-o", dispatch, "./cmd/ovn-central-operator")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, lab.LayOut(t.Context(), dir, root, dispatch))
	return dir
}

// With Juju 4 a unit whose agent is down during a refresh stays on the old charm, also after it is back, until the next
// refresh. While it is silent, its version says nothing.
func TestUnitThatMissesARefreshIsNamedOnceItsAgentRuns(t *testing.T) {
	t.Parallel()
	older, newer := charmOf(t, "1.0"), charmOf(t, "1.1")
	m, units := labtest.Fresh(t, 3, lab.Options{Charm: older, JujuVersion: lab.Juju4})
	behind := units[2]
	require.NoError(t, behind.PowerOff())
	require.NoError(t, m.Refresh(t.Context(), newer))
	m.RunUpdateStatus(units[:2]...)
	for _, u := range units[:2] {
		assert.Equal(t, "1.1", u.Data()["charm-version"])
		m.FindsNone(u, finding.CharmVersionDiffers)
	}

	require.NoError(t, behind.PowerOn(t.Context()))
	require.NoError(t, m.Settle(t.Context()))
	m.RunUpdateStatus(units...)
	for _, u := range units {
		m.Finds(u, finding.CharmVersionDiffers, behind.Name())
	}

	before := m.Processes(units...)
	require.NoError(t, m.Refresh(t.Context(), newer)) // as the remedy says
	m.RunUpdateStatus(units...)
	for _, u := range units {
		m.FindsNone(u, finding.CharmVersionDiffers)
		m.Says(u, "active")
	}
	assert.Equal(t, before, m.Processes(units...), "nothing was restarted")
}
