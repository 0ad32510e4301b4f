package systemd_test

import (
	"context"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

func TestServicesAreStoppedWriterFirstAndThenDisabled(t *testing.T) {
	dir := runtest.Install(t, map[string]string{"systemctl": runtest.KeepCall})
	require.NoError(t, systemd.Services{Runner: run.Exec{}}.StopForGood(t.Context()))
	assert.Equal(t, []string{
		"stop ovn-northd ovn-ovsdb-server-nb ovn-ovsdb-server-sb ovn-central",
		"disable ovn-northd ovn-ovsdb-server-nb ovn-ovsdb-server-sb ovn-central",
	}, runtest.Calls(t, dir))
}

func TestServicesThatDoNotStopStayEnabled(t *testing.T) {
	dir := runtest.Install(t, map[string]string{"systemctl": runtest.KeepCall + `; echo "Job for ovn-northd failed." >&2; exit 1`})
	err := systemd.Services{Runner: run.Exec{}}.StopForGood(t.Context())
	require.EqualError(t, err, "cannot stop the services: systemctl: Job for ovn-northd failed.")
	assert.Len(t, runtest.Calls(t, dir), 1)
}

func TestServicesThatCannotBeDisabledAreAnError(t *testing.T) {
	runtest.Install(t, map[string]string{"systemctl": `test "$1" != disable || { echo "Access denied" >&2; exit 1; }`})
	err := systemd.Services{Runner: run.Exec{}}.StopForGood(t.Context())
	require.EqualError(t, err, "cannot disable the services: systemctl: Access denied")
}

func TestServicesThatTakeForEverEndAtTheDeadline(t *testing.T) {
	runtest.Install(t, map[string]string{"systemctl": `exec sleep 60`})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begun := time.Now()
	require.ErrorIs(t, systemd.Services{Runner: run.Exec{}}.StopForGood(ctx), context.DeadlineExceeded)
	assert.Less(t, time.Since(begun), 30*time.Second, "the program sleeps for a minute")
}

// systemctl's own words, of systemd 252, where the packages were never installed.
func TestServicesThatAreNotInstalledNeedNoStopping(t *testing.T) {
	runtest.Install(t, map[string]string{"systemctl": `for u in ovn-northd ovn-central; do
case "$1" in
stop) echo "Failed to stop $u.service: Unit $u.service not loaded." >&2; code=5 ;;
disable) echo "Failed to disable unit: Unit file $u.service does not exist." >&2; code=1 ;;
esac; done; exit $code`})
	require.NoError(t, systemd.Services{Runner: run.Exec{}}.StopForGood(t.Context()))
}

func TestServiceThatDoesNotStopIsAnErrorThoughAnotherIsNotInstalled(t *testing.T) {
	runtest.Install(t, map[string]string{"systemctl": `echo "Failed to stop ovn-northd.service: Unit ovn-northd.service not loaded." >&2
echo "Job for ovn-central failed." >&2; exit 5`})
	require.ErrorContains(t, systemd.Services{Runner: run.Exec{}}.StopForGood(t.Context()), "Job for ovn-central failed")
}

func TestServicesAreDrivenByTheirNames(t *testing.T) {
	ctx := t.Context()
	tests := map[string]struct {
		do     func(systemd.Services) error
		wanted []string
	}{
		"start":   {func(s systemd.Services) error { return s.Start(ctx, ovndb.NorthboundServer, ovndb.SouthboundServer) }, []string{"start ovn-ovsdb-server-nb ovn-ovsdb-server-sb"}},
		"stop":    {func(s systemd.Services) error { return s.Stop(ctx, ovndb.Northd) }, []string{"stop ovn-northd"}},
		"restart": {func(s systemd.Services) error { return s.Restart(ctx, ovndb.Northd) }, []string{"restart ovn-northd"}},
		"enable":  {func(s systemd.Services) error { return s.Enable(ctx, ovndb.Umbrella) }, []string{"enable ovn-central"}},
		"disable": {func(s systemd.Services) error { return s.Disable(ctx, ovndb.Umbrella) }, []string{"disable ovn-central"}},
		"mask": {func(s systemd.Services) error { return s.Mask(ctx, ovndb.AllServices()...) }, []string{
			"mask ovn-northd ovn-ovsdb-server-nb ovn-ovsdb-server-sb ovn-central",
		}},
		"unmask": {func(s systemd.Services) error { return s.Unmask(ctx, ovndb.NorthboundServer) }, []string{
			"unmask ovn-ovsdb-server-nb", "unmask --runtime ovn-ovsdb-server-nb",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := runtest.Install(t, map[string]string{"systemctl": runtest.KeepCall})
			require.NoError(t, test.do(systemd.Services{Runner: run.Exec{}}))
			assert.Equal(t, test.wanted, runtest.Calls(t, dir))

			runtest.Install(t, map[string]string{"systemctl": `echo "Access denied" >&2; exit 1`})
			require.ErrorContains(t, test.do(systemd.Services{Runner: run.Exec{}}), "the services: systemctl: Access denied")
		})
	}
}

// A service that can't be started since it isn't there is no success.
func TestServiceThatIsNotInstalledCannotBeStarted(t *testing.T) {
	runtest.Install(t, map[string]string{"systemctl": `echo "Failed to $1 ovn-northd.service: Unit ovn-northd.service not found." >&2; exit 5`})
	s := systemd.Services{Runner: run.Exec{}}
	require.EqualError(t, s.Start(t.Context(), ovndb.Northd),
		"cannot start the services: systemctl: Failed to start ovn-northd.service: Unit ovn-northd.service not found.")
	require.Error(t, s.Restart(t.Context(), ovndb.Northd))
	require.NoError(t, s.Stop(t.Context(), ovndb.Northd))
}

func TestEachDatabaseHasAServer(t *testing.T) {
	t.Parallel()
	assert.Equal(t, ovndb.NorthboundServer, ovndb.ServiceOf(ovndb.NB))
	assert.Equal(t, ovndb.SouthboundServer, ovndb.ServiceOf(ovndb.SB))
}

func TestReleaseOfSystemdIsReadFromItsVersion(t *testing.T) {
	for text, version := range map[string]int{"252.39-1~deb12u2": 252, "255.4-1ubuntu8.8": 255, "v257.7": 257, "249": 249} {
		dir := runtest.Install(t, map[string]string{"systemctl": runtest.KeepCall + "; echo " + text})
		got, err := systemd.Services{Runner: run.Exec{}}.Version(t.Context())
		require.NoError(t, err)
		assert.Equal(t, version, got)
		assert.Equal(t, []string{"show --property=Version --value"}, runtest.Calls(t, dir))
	}
	runtest.Install(t, map[string]string{"systemctl": "echo"})
	_, err := systemd.Services{Runner: run.Exec{}}.Version(t.Context())
	require.EqualError(t, err, `cannot read systemd's version: ""`)
}

// The packages' programs are replaced by others of the same name, and what runs is deleted.
func TestProcessRunsWhatIsInstalledUntilThatIsReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	paths := ovndb.Paths{Run: dir}
	shell, err := exec.LookPath("sh")
	require.NoError(t, err)
	text, err := os.ReadFile(shell)
	require.NoError(t, err)
	program := filepath.Join(dir, "ovsdb-server")
	require.NoError(t, os.WriteFile(program, text, 0o700))
	server := exec.CommandContext(t.Context(), program, "-c", "read _", "sh", "--pidfile="+paths.PID(ovndb.NB))
	in, err := server.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(func() { _ = in.Close(); _ = server.Wait() })
	installed := func() [3]bool {
		state := systemd.Properties{MainPID: server.Process.Pid}
		return [3]bool{
			systemd.RunsInstalled(paths, ovndb.NorthboundServer, state), systemd.RunsInstalled(paths, ovndb.Northd, state),
			systemd.RunsInstalled(paths, ovndb.Northd, systemd.Properties{}) || systemd.RunsInstalled(paths, ovndb.SouthboundServer, state),
		}
	}
	assert.Equal(t, [3]bool{false, true, false}, installed(), "a shell may be the main process of a server")
	require.NoError(t, os.WriteFile(paths.PID(ovndb.NB), []byte(strconv.Itoa(server.Process.Pid)), 0o600))
	assert.Equal(t, [3]bool{true, true, false}, installed())
	require.NoError(t, os.WriteFile(program+".dpkg-new", text, 0o700))
	require.NoError(t, os.Rename(program+".dpkg-new", program))
	assert.Equal(t, [3]bool{}, installed())
}

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
	got := systemd.NorthdParams{Units: addrs("10.0.0.1", "10.0.0.2", "10.0.0.3"), Credentials: credentials}.Render()
	assert.Equal(t, `--ovnnb-db=ssl:10.0.0.1:6641,ssl:10.0.0.2:6641,ssl:10.0.0.3:6641
--ovnsb-db=ssl:10.0.0.1:16642,ssl:10.0.0.2:16642,ssl:10.0.0.3:16642
-c /etc/ovn/cert_host
-C /etc/ovn/ovn-central.crt
-p /etc/ovn/key_host
`, string(got))
}

func TestNorthdGetsIPv6AddressesInBrackets(t *testing.T) {
	t.Parallel()
	got := systemd.NorthdParams{Units: addrs("fd00::1", "10.0.0.2"), Credentials: credentials}.Render()
	assert.True(t, strings.HasPrefix(string(got), "--ovnnb-db=ssl:[fd00::1]:6641,ssl:10.0.0.2:6641\n--ovnsb-db=ssl:[fd00::1]:16642,"), "%s", got)
}

func TestNorthdIsRestartedForOtherArgumentsOnly(t *testing.T) {
	t.Parallel()
	render := func(units ...string) []byte {
		return systemd.NorthdParams{Units: addrs(units...), Credentials: credentials}.Render()
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
		"another CA":       {systemd.NorthdParams{Units: addrs("10.0.0.1", "10.0.0.2"), Credentials: other}.Render(), true},
		"no file there":    {nil, true},
		"an argument more": {append(old[:len(old):len(old)], "--n-threads=4\n"...), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.wanted, systemd.NorthdNeedsRestart(old, test.text))
		})
	}
}

func states(t *testing.T, answer string) (map[ovndb.Service]systemd.Properties, error) {
	t.Helper()
	asked := runtest.Expect("systemctl", "show", "--property=Id,LoadState,ActiveState,UnitFileState,MainPID,InvocationID",
		"ovn-northd.service", "ovn-ovsdb-server-nb.service", "ovn-ovsdb-server-sb.service", "ovn-central.service")
	return systemd.Services{Runner: runtest.New(t, asked.Writes(answer))}.States(t.Context())
}

// The answers are systemd 252's, with the units of ovn-central 23.03 of Debian 12; their InvocationIDs were added.
func TestServicesHaveTheStatesThatSystemdGivesThem(t *testing.T) {
	t.Parallel()
	four := func(northd, nb, sb, central systemd.Properties) map[ovndb.Service]systemd.Properties {
		return map[ovndb.Service]systemd.Properties{ovndb.Northd: northd, ovndb.NorthboundServer: nb, ovndb.SouthboundServer: sb, ovndb.Umbrella: central}
	}
	same := func(s systemd.Properties) map[ovndb.Service]systemd.Properties { return four(s, s, s, s) }
	const northd, nb = "13f063d222232c91640bff2833305395", "4b691484bff94a94d3a0d84f87d12888"
	const sb, central = "d532e4f6d1517d43e031046714df4469", "45e739d328c6a36ecc80a1e65478c6a4"
	stopped := systemd.Properties{Active: "inactive", Enabled: "disabled"}
	tests := map[string]map[ovndb.Service]systemd.Properties{
		"running": four(
			systemd.Properties{Active: "active", Enabled: "static", MainPID: 643, Invocation: northd},
			systemd.Properties{Active: "active", Enabled: "enabled", MainPID: 1004, Invocation: nb},
			systemd.Properties{Active: "active", Enabled: "enabled", MainPID: 585, Invocation: sb},
			systemd.Properties{Active: "active", Enabled: "enabled", Invocation: central},
		),
		"held": four( // masked until the next boot, while they run
			systemd.Properties{Active: "active", Enabled: "masked-runtime", Masked: true, MainPID: 643, Invocation: northd},
			systemd.Properties{Active: "active", Enabled: "masked-runtime", Masked: true, MainPID: 1004, Invocation: nb},
			systemd.Properties{Active: "active", Enabled: "masked-runtime", Masked: true, MainPID: 585, Invocation: sb},
			systemd.Properties{Active: "active", Enabled: "masked-runtime", Masked: true, Invocation: central},
		),
		"stopped": four(systemd.Properties{Active: "inactive", Enabled: "static"}, stopped, stopped, stopped),
		"missing": same(systemd.Properties{Active: "inactive", Missing: true}),
		"masked":  same(systemd.Properties{Active: "inactive", Enabled: "masked", Masked: true}),
	}
	for name, wanted := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := states(t, string(golden(t, "systemctl-show-"+name+".txt")))
			require.NoError(t, err)
			assert.Equal(t, wanted, got)
			assert.Equal(t, wanted[ovndb.NorthboundServer].Active == "active", got[ovndb.NorthboundServer].Running())
		})
	}
}

func TestStatesThatSystemdDoesNotTellAreAnError(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"nothing":            "",
		"one service only":   "Id=ovn-northd.service\nLoadState=loaded\nActiveState=active\nMainPID=1\n",
		"no number":          "Id=ovn-northd.service\nMainPID=many\n",
		"of another service": "Id=ssh.service\n\nId=a.service\n\nId=b.service\n\nId=c.service\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := states(t, answer)
			require.Error(t, err)
		})
	}
}
