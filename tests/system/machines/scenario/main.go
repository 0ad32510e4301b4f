// Package scenario shows the charm on machines, with Juju's own agent: it has what tests/system/machines/story tells an
// application's life with, and tests of adoption, upgrades and a night on which everything fails.
//
// Its tests need root, and minutes. E2E_SUITE names the Debian suite of the machines if it is not bookworm. The tests
// on the lab show the same rules: here it is real packages, systemd, a firewall and a network that fail.
package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/juju/charm/v12"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
)

const suiteVariable = "E2E_SUITE"

// hostSuite is the suite on whose OVN `make test-integration` runs the same tests.
const hostSuite = "bookworm"

const logsDir = "../../../../build/e2e-logs"

// cleanupTime is reserved from go test's limit for logs and cleanup.
const cleanupTime = 3 * time.Minute

func suite() string { return cmp.Or(os.Getenv(suiteVariable), hostSuite) }

// open makes a fleet without machines, for one test. Its context ends in time to collect all logs if the test fails.
func open(t *testing.T, o machines.Options) (context.Context, *machines.Fleet) {
	t.Helper()
	o.Suite = suite()
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	t.Cleanup(stop)
	if end, limited := t.Deadline(); limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-cleanupTime))
		t.Cleanup(cancel)
	}
	o.Log = t.Output()
	fleet, err := machines.Open(ctx, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			collect(t, fleet)
		}
		assert.NoError(t, fleet.Close())
	})
	return ctx, fleet
}

func collect(t *testing.T, fleet *machines.Fleet) {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join(logsDir, t.Name()))
	require.NoError(t, err)
	// The test's own contexts have ended.
	ctx, cancel := context.WithTimeout(context.Background(), cleanupTime)
	defer cancel()
	assert.NoError(t, fleet.Collect(ctx, dir, t.Output()))
}

// eventually waits until condition returns nil.
func eventually(ctx context.Context, t *testing.T, limit time.Duration, condition func() error) {
	t.Helper()
	require.NoError(t, await(ctx, limit, condition))
}

func await(ctx context.Context, limit time.Duration, condition func() error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := poll.Until(ctx, 500*time.Millisecond, condition); err != nil {
		return fmt.Errorf("after %v: %w", limit, err)
	}
	return nil
}

func each(ctx context.Context, t *testing.T, on []*machines.Machine, do func(context.Context, *machines.Machine) error) {
	t.Helper()
	errs := make([]error, len(on))
	var group sync.WaitGroup
	for i, m := range on {
		group.Go(func() {
			if err := do(ctx, m); err != nil {
				errs[i] = fmt.Errorf("%s: %w", m.Name(), err)
			}
		})
	}
	group.Wait()
	require.NoError(t, errors.Join(errs...))
}

const root = "../../../.."

// charmFile is the output of `make charm`.
const charmFile = "build/ovn-central_amd64.charm"

// jujuRunner builds Juju's agent and the controller, from their own module, and the agent's hook tools.
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

// stubCharm returns a charm with another's metadata whose hooks do nothing.
func stubCharm(t *testing.T, other string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "stub")
	require.NoError(t, os.CopyFS(dir, os.DirFS(other)))
	dispatch := filepath.Join(dir, "dispatch")
	require.NoError(t, os.Remove(dispatch))
	require.NoError(t, os.WriteFile(dispatch, []byte("#!/bin/sh\nexit 0\n"), 0o755)) //nolint:gosec // it is executed
	return dir
}
