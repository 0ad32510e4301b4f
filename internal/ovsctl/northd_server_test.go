//go:build programs

package ovsctl_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
)

// startNorthd runs a real ovn-northd on the databases of two servers, as ovn-ctl starts it, and returns how to ask it.
func startNorthd(t *testing.T, nb, sb *server) ovsctl.Control {
	t.Helper()
	c := nb.control()
	c.Paths.Run = t.TempDir()
	ovsdbtest.Run(t, []string{"OVN_RUNDIR=" + c.Paths.Run}, "ovn-northd", "-vconsole:off",
		"--pidfile="+c.Paths.NorthdPID(), "--log-file="+filepath.Join(c.Paths.Run, "log"),
		"--ovnnb-db="+nb.Endpoint(), "--ovnsb-db="+sb.Endpoint())
	require.Eventually(t, func() bool {
		_, err := c.NorthdStatus(t.Context())
		return err == nil
	}, patience, 10*time.Millisecond, "ovn-northd does not start")
	return c
}

func isNorthd(t *testing.T, c ovsctl.Control, wanted ovndb.NorthdHealth) {
	t.Helper()
	require.Eventually(t, func() bool {
		state, err := c.NorthdStatus(t.Context())
		return err == nil && state == wanted
	}, patience, 20*time.Millisecond, "ovn-northd is not %s", wanted)
}

func TestNorthdStatus_active_and_standby(t *testing.T) {
	t.Parallel()
	nb, sb := cluster(t, ovndb.NB, 1)[0], cluster(t, ovndb.SB, 1)[0]
	first := startNorthd(t, nb, sb)
	isNorthd(t, first, ovndb.NorthdActive)
	second := startNorthd(t, nb, sb)
	isNorthd(t, second, ovndb.NorthdStandby)

	require.NoError(t, first.NorthdExit(t.Context()))
	isNorthd(t, second, ovndb.NorthdActive)
	require.Eventually(t, func() bool {
		_, err := first.NorthdStatus(t.Context())
		return err != nil
	}, patience, 10*time.Millisecond)
	_, err := first.NorthdStatus(t.Context())
	require.ErrorIs(t, err, ovsctl.ErrNotRunning)
}

func TestNorthdStatus_paused(t *testing.T) {
	t.Parallel()
	nb, sb := cluster(t, ovndb.NB, 1)[0], cluster(t, ovndb.SB, 1)[0]
	c := startNorthd(t, nb, sb)
	isNorthd(t, c, ovndb.NorthdActive)
	pid, err := os.ReadFile(c.Paths.NorthdPID())
	require.NoError(t, err)
	socket := filepath.Join(c.Paths.Run, "ovn-northd."+strings.TrimSpace(string(pid))+".ctl")
	require.NoError(t, exec.CommandContext(t.Context(), "ovs-appctl", "-T", "5", "-t", socket, "pause").Run())
	isNorthd(t, c, ovndb.NorthdPaused)
}

func TestNorthdStatus_not_running(t *testing.T) {
	t.Parallel()
	s := newServer(t, ovndb.NB, "127.0.0.1")
	_, err := s.control().NorthdStatus(t.Context())
	require.ErrorIs(t, err, ovsctl.ErrNotRunning)
	require.NoError(t, os.WriteFile(s.Paths.NorthdPID(), []byte("4194304\n"), 0o600)) // more than any process's ID
	_, err = s.control().NorthdStatus(t.Context())
	require.ErrorIs(t, err, ovsctl.ErrNotRunning)
	require.NoError(t, os.WriteFile(s.Paths.NorthdPID(), []byte("\n"), 0o600))
	_, err = s.control().NorthdStatus(t.Context())
	require.ErrorContains(t, err, s.Paths.NorthdPID())
}
