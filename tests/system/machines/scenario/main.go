// Package scenario shows the charm on machines, with Juju's own agent: it has what
// tests/system/machines/story tells an application's life with, and tests of adoption, upgrades and
// a night on which everything fails.
//
// Its tests need root, and minutes. E2E_SUITE names the Debian suite of the machines if it is
// not bookworm. The tests on the lab show the same rules: here it is real packages, systemd, a
// firewall and a network that fail.
package scenario

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
)

// suiteVariable names the Debian suite of the machines.
const suiteVariable = "E2E_SUITE"

// hostSuite is the suite whose OVN `make test-integration` runs the same tests on.
const hostSuite = "bookworm"

// logsDir is where logs are kept of tests that failed.
const logsDir = "../../../../build/e2e-logs"

// cleanupTime is kept of the time limit of go test for logs and cleaning up.
const cleanupTime = 3 * time.Minute

// suite is the Debian suite of the machines.
func suite() string { return cmp.Or(os.Getenv(suiteVariable), hostSuite) }

// open makes a fleet without machines, for one test. The context ends in time to
// collect the logs of all machines where the test fails.
func open(t *testing.T, o machines.Options, units ...string) (context.Context, *machines.Fleet) {
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
			collect(t, fleet, units)
		}
		assert.NoError(t, fleet.Close())
	})
	return ctx, fleet
}

func collect(t *testing.T, fleet *machines.Fleet, units []string) {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join(logsDir, t.Name()))
	require.NoError(t, err)
	// The test's own contexts have ended.
	ctx, cancel := context.WithTimeout(context.Background(), cleanupTime)
	defer cancel()
	assert.NoError(t, fleet.Collect(ctx, dir, t.Output(), units...))
}

// eventually waits until a condition holds, which says why it doesn't yet.
func eventually(ctx context.Context, t *testing.T, limit time.Duration, condition func() error) {
	t.Helper()
	require.NoError(t, await(ctx, limit, condition))
}

func await(ctx context.Context, limit time.Duration, condition func() error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := condition()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("after %v: %w", limit, err)
		case <-ticker.C:
		}
	}
}
