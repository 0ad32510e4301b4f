package juju

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
)

// runBy runs an action by a client that is a shell script.
func runBy(t *testing.T, script string, args ...string) (map[string]any, error) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "juju")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"+script), 0o755)) //nolint:gosec // it is executed
	return (&Client{Program: program, Model: "test"}).Run(t.Context(), "ovn-central/0", "kick", args...)
}

// Juju's client ends with 0 then.
func TestActionThatIsRefusedIsAnErrorThatSaysWhy(t *testing.T) {
	t.Parallel()
	_, err := runBy(t, "echo 'Operation 2 failed to schedule any tasks:' >&2\necho 'validation failed: (root).nb-identity' >&2\n", "nb-identity=17")
	require.ErrorIs(t, err, cluster.ErrAction)
	require.ErrorContains(t, err, "validation failed: (root).nb-identity")
}

// Juju's client gives up after a minute otherwise, and an action may take longer or wait for a hook.
func TestActionIsWaitedForAsLongAsACommandMayTake(t *testing.T) {
	t.Parallel()
	results, err := runBy(t, `case "$*" in
*--wait=10m0s*) echo '{"ovn-central/0":{"status":"completed","results":{"next":"nothing"}}}' ;;
*) echo 'ERROR timed out waiting for results from: ovn-central/0' >&2; exit 1 ;;
esac
`)
	require.NoError(t, err)
	require.Equal(t, "nothing", results["next"])
}
