package ovn_test

import (
	"context"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovn"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

func addrs(texts ...string) []netip.Addr {
	var out []netip.Addr
	for _, text := range texts {
		out = append(out, netip.MustParseAddr(text))
	}
	return out
}

var credentials = ovndb.Paths{Etc: "/etc/ovn"}.Credentials()

func TestNorthdIsToldOfAllUnits(t *testing.T) {
	t.Parallel()
	got := ovn.NorthdParams{Units: addrs("10.0.0.1", "10.0.0.2", "10.0.0.3"), Credentials: credentials}.Render()
	assert.Equal(t, `--ovnnb-db=ssl:10.0.0.1:6641,ssl:10.0.0.2:6641,ssl:10.0.0.3:6641
--ovnsb-db=ssl:10.0.0.1:16642,ssl:10.0.0.2:16642,ssl:10.0.0.3:16642
-c /etc/ovn/cert_host
-C /etc/ovn/ovn-central.crt
-p /etc/ovn/key_host
`, string(got))
}

func TestNorthdGetsIPv6AddressesInBrackets(t *testing.T) {
	t.Parallel()
	got := ovn.NorthdParams{Units: addrs("fd00::1", "10.0.0.2"), Credentials: credentials}.Render()
	assert.True(t, strings.HasPrefix(string(got), "--ovnnb-db=ssl:[fd00::1]:6641,ssl:10.0.0.2:6641\n--ovnsb-db=ssl:[fd00::1]:16642,"), "%s", got)
}

func TestNorthdIsRestartedForOtherArgumentsOnly(t *testing.T) {
	t.Parallel()
	render := func(units ...string) []byte {
		return ovn.NorthdParams{Units: addrs(units...), Credentials: credentials}.Render()
	}
	old := render("10.0.0.1", "10.0.0.2")
	other := credentials
	other.CA = "/etc/ssl/ca.pem"
	for name, test := range map[string]struct {
		text   []byte
		wanted bool
	}{
		"the same":         {old, false},
		"another order":    {render("10.0.0.2", "10.0.0.1"), false},
		"on one line":      {[]byte(strings.Join(strings.Fields(string(old)), " ")), false},
		"a unit more":      {render("10.0.0.1", "10.0.0.2", "10.0.0.3"), true},
		"a unit less":      {render("10.0.0.1"), true},
		"another CA":       {ovn.NorthdParams{Units: addrs("10.0.0.1", "10.0.0.2"), Credentials: other}.Render(), true},
		"no file there":    {nil, true},
		"an argument more": {append(old[:len(old):len(old)], "--n-threads=4\n"...), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.wanted, ovn.NorthdNeedsRestart(old, test.text))
		})
	}
}

// startNorthd runs a real ovn-northd on the databases of two servers, as ovn-ctl
// starts it, and returns how to ask it.
func startNorthd(t *testing.T, nb, sb *server) ovn.Control {
	t.Helper()
	c := nb.control()
	c.Paths.Run = t.TempDir()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "ovn-northd", "-vconsole:off", "--pidfile="+c.Paths.NorthdPID(),
		"--log-file="+filepath.Join(c.Paths.Run, "log"),
		"--ovnnb-db=unix:"+nb.paths.Socket(ovndb.NB), "--ovnsb-db=unix:"+sb.paths.Socket(ovndb.SB))
	cmd.Env = append(os.Environ(), "OVN_RUNDIR="+c.Paths.Run)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait() // some are told to exit
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-done
	})
	require.Eventually(t, func() bool {
		_, err := c.NorthdStatus(t.Context())
		return err == nil
	}, patience, 10*time.Millisecond, "ovn-northd does not start")
	return c
}

func isNorthd(t *testing.T, c ovn.Control, wanted ovn.NorthdState) {
	t.Helper()
	require.Eventually(t, func() bool {
		state, err := c.NorthdStatus(t.Context())
		return err == nil && state == wanted
	}, patience, 20*time.Millisecond, "ovn-northd is not %s", wanted)
}

func TestOneNorthdIsActiveAndTakesOver(t *testing.T) {
	t.Parallel()
	nb, sb := cluster(t, ovndb.NB, 1)[0], cluster(t, ovndb.SB, 1)[0]
	first := startNorthd(t, nb, sb)
	isNorthd(t, first, ovn.NorthdActive)
	second := startNorthd(t, nb, sb)
	isNorthd(t, second, ovn.NorthdStandby)

	require.NoError(t, first.NorthdExit(t.Context()))
	isNorthd(t, second, ovn.NorthdActive)
	require.Eventually(t, func() bool {
		_, err := first.NorthdStatus(t.Context())
		return err != nil
	}, patience, 10*time.Millisecond)
	_, err := first.NorthdStatus(t.Context())
	require.ErrorIs(t, err, ovn.ErrNotRunning)
}

func TestNorthdThatIsPausedSaysSo(t *testing.T) {
	t.Parallel()
	nb, sb := cluster(t, ovndb.NB, 1)[0], cluster(t, ovndb.SB, 1)[0]
	c := startNorthd(t, nb, sb)
	isNorthd(t, c, ovn.NorthdActive)
	pid, err := os.ReadFile(c.Paths.NorthdPID())
	require.NoError(t, err)
	socket := filepath.Join(c.Paths.Run, "ovn-northd."+strings.TrimSpace(string(pid))+".ctl")
	require.NoError(t, exec.CommandContext(t.Context(), "ovs-appctl", "-T", "5", "-t", socket, "pause").Run())
	isNorthd(t, c, ovn.NorthdPaused)
}

func TestNorthdThatWasKilledIsNotRunning(t *testing.T) {
	t.Parallel()
	s := newServer(t, ovndb.NB, "127.0.0.1")
	_, err := s.control().NorthdStatus(t.Context())
	require.ErrorIs(t, err, ovn.ErrNotRunning)
	assert.EqualError(t, err, "cannot ask ovn-northd for status: server is not running")
	require.NoError(t, os.WriteFile(s.paths.NorthdPID(), []byte("4194304\n"), 0o600)) // more than any process's ID
	_, err = s.control().NorthdStatus(t.Context())
	require.ErrorIs(t, err, ovn.ErrNotRunning)
	require.NoError(t, os.WriteFile(s.paths.NorthdPID(), []byte("\n"), 0o600))
	_, err = s.control().NorthdStatus(t.Context())
	require.ErrorContains(t, err, "has no process ID")
}
