package juju

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/cluster"
)

// Juju's client ends with 0 then.
func TestActionThatIsRefusedIsAnErrorThatSaysWhy(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "juju")
	script := "#!/bin/sh\necho 'Operation 2 failed to schedule any tasks:' >&2\necho 'validation failed: (root).nb-identity' >&2\n"
	require.NoError(t, os.WriteFile(program, []byte(script), 0o755)) //nolint:gosec // it is executed
	_, err := (&Client{Program: program, Model: "test"}).Run(t.Context(), "ovn-central/0", "kick", "nb-identity=17")
	require.ErrorIs(t, err, cluster.ErrAction)
	require.ErrorContains(t, err, "validation failed: (root).nb-identity")
}

// Juju's client gives up after a minute otherwise, and an action may take longer or wait for a hook.
func TestActionIsWaitedForAsLongAsACommandMayTake(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "juju")
	script := `#!/bin/sh
case "$*" in
*--wait=10m0s*) echo '{"ovn-central/0":{"status":"completed","results":{"next":"nothing"}}}' ;;
*) echo 'ERROR timed out waiting for results from: ovn-central/0' >&2; exit 1 ;;
esac
`
	require.NoError(t, os.WriteFile(program, []byte(script), 0o755)) //nolint:gosec // it is executed
	results, err := (&Client{Program: program, Model: "test"}).Run(t.Context(), "ovn-central/0", "cluster-status")
	require.NoError(t, err)
	require.Equal(t, "nothing", results["next"])
}
