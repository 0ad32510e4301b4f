package scenario

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/juju/charm/v12"
	"github.com/stretchr/testify/require"
)

// root is the module's directory.
const root = "../../../.."

// charmFile is what `make charm` writes.
const charmFile = "build/ovn-central_amd64.charm"

// jujuRunner builds Juju's agent and the controller, from their own module, and beside it
// the agent's hook tools.
func jujuRunner(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", dir, "./cmd/...")
	build.Dir = filepath.Join(root, "tests", "system", "conformance")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	return filepath.Join(dir, "juju-runner")
}

// packedCharm builds the charm file and unpacks it, as Juju does.
func packedCharm(t *testing.T) string {
	t.Helper()
	pack := exec.CommandContext(t.Context(), "make", "--no-print-directory", "-C", root, "charm", "ARCH=amd64")
	out, err := pack.CombinedOutput()
	require.NoError(t, err, string(out))
	archive, err := charm.ReadCharmArchive(filepath.Join(root, charmFile))
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "charm")
	require.NoError(t, archive.ExpandTo(dir))
	return dir
}

// stubCharm is a charm with the metadata of another whose hooks do nothing.
func stubCharm(t *testing.T, other string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "stub")
	require.NoError(t, os.CopyFS(dir, os.DirFS(other)))
	dispatch := filepath.Join(dir, "dispatch")
	require.NoError(t, os.Remove(dispatch))
	require.NoError(t, os.WriteFile(dispatch, []byte("#!/bin/sh\nexit 0\n"), 0o755)) //nolint:gosec // it is executed
	return dir
}
