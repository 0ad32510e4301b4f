package machines

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// suiteVariable names the Debian suite of the machines. Tests that boot machines need
// root and minutes, so they are skipped unless it is set.
const suiteVariable = "E2E_SUITE"

func boot(t *testing.T, n int) (*Fleet, []*Machine) {
	t.Helper()
	suite := os.Getenv(suiteVariable)
	if suite == "" {
		t.Skipf("boots machines: set %s to their Debian suite, such as bookworm", suiteVariable)
	}
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	t.Cleanup(stop)
	fleet, err := Open(ctx, Options{Suite: suite, Log: t.Output()})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, fleet.Close()) })
	machines, err := fleet.Boot(ctx, n)
	require.NoError(t, err)
	return fleet, machines
}

func TestMachinesHaveSystemdANetworkAndPackages(t *testing.T) {
	fleet, m := boot(t, 3)
	ctx := t.Context()

	t.Run("pid 1 is systemd and its cgroups work", func(t *testing.T) {
		out, err := m[0].Exec(ctx, "systemctl", "is-active", "dbus.service")
		require.NoError(t, err)
		assert.Equal(t, "active\n", out)
		_, err = m[0].Exec(ctx, "systemctl", "restart", "cron.service", "dbus.service")
		assert.ErrorContains(t, err, "cron.service")
	})
	t.Run("machines reach each other by name and by both addresses, and nothing else", func(t *testing.T) {
		listen(t, m[1])
		for _, target := range []string{"m2", m[1].Address().String(), m[1].Address6().String()} {
			assert.NoError(t, connect(ctx, m[0], target), target)
		}
		out, err := m[0].Exec(ctx, "ip", "route")
		require.NoError(t, err)
		assert.NotContains(t, out, "default")
	})
	t.Run("a machine that is cut off is on", func(t *testing.T) {
		require.NoError(t, m[1].Cut(ctx, true))
		assert.Error(t, connect(ctx, m[0], "m2"))
		out, err := m[1].Exec(ctx, "hostname")
		require.NoError(t, err)
		assert.Equal(t, "m2\n", out)
		require.NoError(t, m[1].Cut(ctx, false))
		require.NoError(t, poll(deadline(t, 10*time.Second), 100*time.Millisecond, func() bool { return connect(ctx, m[0], "m2") == nil }))
	})
	t.Run("apt installs OVN without a network", func(t *testing.T) {
		_, err := m[0].Shell(ctx, "apt-get -q update; apt-get -q -y install ovn-central")
		require.NoError(t, err)
		active := func() bool {
			_, err := m[0].Exec(ctx, "systemctl", "is-active", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb", "ovn-northd")
			return err == nil
		}
		assert.NoError(t, poll(deadline(t, 10*time.Second), 100*time.Millisecond, active))
	})
	t.Run("a restart keeps the disk and starts services", func(t *testing.T) {
		require.NoError(t, m[0].Reboot(ctx))
		out, err := m[0].Exec(ctx, "systemctl", "is-active", "ovn-ovsdb-server-nb")
		require.NoError(t, err)
		assert.Equal(t, "active\n", out)
		boots, err := m[0].Journal(ctx, "--list-boots")
		require.NoError(t, err)
		assert.Contains(t, boots, "-1 ")
	})
	t.Run("a machine without power comes back", func(t *testing.T) {
		require.NoError(t, m[0].Kill(ctx))
		_, err := m[0].Exec(ctx, "true")
		require.ErrorContains(t, err, "m1: it is off")
		require.NoError(t, m[0].Start(ctx))
		_, err = m[0].Exec(ctx, "systemctl", "is-active", "ovn-ovsdb-server-sb")
		assert.NoError(t, err)
	})
	t.Run("logs are collected", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, fleet.Collect(ctx, dir, t.Output()))
		assert.FileExists(t, dir+"/m1/var_log_ovn_ovsdb-server-nb.log")
		assert.FileExists(t, dir+"/m3/journal.log")
	})
	t.Run("a second run waits", func(t *testing.T) {
		_, err := Open(deadline(t, time.Second), Options{Suite: "bookworm"})
		assert.ErrorIs(t, err, ErrBusy)
	})
}

func deadline(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// listen has a machine listen on port 7777.
func listen(t *testing.T, m *Machine) {
	t.Helper()
	unit := "[Socket]\nListenStream=7777\nAccept=yes\n[Install]\n"
	require.NoError(t, m.WriteFile("/etc/systemd/system/echo.socket", []byte(unit), 0o644))
	service := "[Service]\nExecStart=/bin/cat\nStandardInput=socket\n"
	require.NoError(t, m.WriteFile("/etc/systemd/system/echo@.service", []byte(service), 0o644))
	_, err := m.Shell(t.Context(), "systemctl daemon-reload; systemctl start echo.socket")
	require.NoError(t, err)
}

func connect(ctx context.Context, m *Machine, host string) error {
	_, err := m.Exec(ctx, "timeout", "2", "bash", "-c", fmt.Sprintf("exec 3<>/dev/tcp/%s/7777", host))
	return err
}
