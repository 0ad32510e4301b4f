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

const (
	failed = `echo "Job for ovn-northd failed." >&2; exit 1`
	// systemd 252's output for units that are not installed.
	missing = `for u in ovn-northd ovn-central; do
case "$1" in
stop) echo "Failed to stop $u.service: Unit $u.service not loaded." >&2; code=5 ;;
disable) echo "Failed to disable unit: Unit file $u.service does not exist." >&2; code=1 ;;
*) echo "Failed to $1 $u.service: Unit $u.service not found." >&2; code=5 ;;
esac; done; `
)

func TestStopForGood(t *testing.T) {
	const services = " ovn-northd ovn-ovsdb-server-nb ovn-ovsdb-server-sb ovn-central"
	both := []string{"stop" + services, "disable" + services}
	for name, c := range map[string]struct {
		script string
		says   string // empty if it succeeds
		calls  []string
	}{
		"success":       {"", "", both},
		"stop_fails":    {failed, "Job for ovn-northd failed", both[:1]},
		"disable_fails": {`test "$1" != disable || { echo "Access denied" >&2; exit 1; }`, "Access denied", both},
		"not_installed": {missing + "exit $code", "", both},
		"one_fails":     {missing + failed, "Job for ovn-northd failed", both[:1]},
	} {
		t.Run(name, func(t *testing.T) {
			dir := runtest.Install(t, map[string]string{"systemctl": runtest.KeepCall + "\n" + c.script})
			err := systemd.Services{Runner: run.Exec{}}.StopForGood(t.Context())
			if c.says == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.says)
			}
			assert.Equal(t, c.calls, runtest.Calls(t, dir))
		})
	}
}

func TestStopForGood_honours_deadline(t *testing.T) {
	runtest.Install(t, map[string]string{"systemctl": `exec sleep 60`})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begun := time.Now()
	require.ErrorIs(t, systemd.Services{Runner: run.Exec{}}.StopForGood(ctx), context.DeadlineExceeded)
	assert.Less(t, time.Since(begun), 30*time.Second)
}

func TestServices_calls(t *testing.T) {
	s := systemd.Services{Runner: run.Exec{}}
	servers := []ovndb.Service{ovndb.ServiceOf(ovndb.NB), ovndb.ServiceOf(ovndb.SB)}
	for want, do := range map[string]func(context.Context, ...ovndb.Service) error{
		"start": s.Start, "stop": s.Stop, "restart": s.Restart, "enable": s.Enable, "disable": s.Disable, "mask": s.Mask,
		"mask --runtime": s.Hold, "unmask --runtime": s.Release, "unmask": s.Unmask,
	} {
		t.Run(want, func(t *testing.T) {
			dir := runtest.Install(t, map[string]string{"systemctl": runtest.KeepCall})
			require.NoError(t, do(t.Context(), servers...))
			calls := []string{want + " ovn-ovsdb-server-nb ovn-ovsdb-server-sb"}
			if want == "unmask" {
				calls = append(calls, "unmask --runtime ovn-ovsdb-server-nb ovn-ovsdb-server-sb")
			}
			assert.Equal(t, calls, runtest.Calls(t, dir))

			runtest.Install(t, map[string]string{"systemctl": `echo "Access denied" >&2; exit 1`})
			require.ErrorContains(t, do(t.Context(), servers...), "Access denied")
		})
	}
}

func TestServices_not_installed(t *testing.T) {
	runtest.Install(t, map[string]string{"systemctl": missing + "exit $code"})
	s := systemd.Services{Runner: run.Exec{}}
	require.ErrorContains(t, s.Start(t.Context(), ovndb.Northd), "not found")
	require.Error(t, s.Restart(t.Context(), ovndb.Northd))
	require.NoError(t, s.Stop(t.Context(), ovndb.Northd))
}

func TestVersion(t *testing.T) {
	for text, version := range map[string]int{"252.39-1~deb12u2": 252, "255.4-1ubuntu8.8": 255, "v257.7": 257} {
		dir := runtest.Install(t, map[string]string{"systemctl": runtest.KeepCall + "; echo " + text})
		got, err := systemd.Services{Runner: run.Exec{}}.Version(t.Context())
		require.NoError(t, err)
		assert.Equal(t, version, got)
		assert.Equal(t, []string{"show --property=Version --value"}, runtest.Calls(t, dir))
	}
	runtest.Install(t, map[string]string{"systemctl": "echo"})
	_, err := systemd.Services{Runner: run.Exec{}}.Version(t.Context())
	require.Error(t, err)
}

// An upgrade replaces the program's file. The file of the running program is deleted.
func TestRunsInstalled(t *testing.T) {
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
			systemd.RunsInstalled(paths, ovndb.Northd, systemd.Properties{}) ||
				systemd.RunsInstalled(paths, ovndb.SouthboundServer, state),
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

func TestNorthdParams_Render(t *testing.T) {
	t.Parallel()
	got := systemd.NorthdParams{Units: addrs("10.0.0.1", "fd00::1"), Credentials: credentials}.Render()
	assert.Equal(t, `--ovnnb-db=ssl:10.0.0.1:6641,ssl:[fd00::1]:6641
--ovnsb-db=ssl:10.0.0.1:16642,ssl:[fd00::1]:16642
-c /etc/ovn/cert_host
-C /etc/ovn/ovn-central.crt
-p /etc/ovn/key_host
`, string(got))
}

func TestNorthdNeedsRestart(t *testing.T) {
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
		"equal":       {old, false},
		"reordered":   {render("10.0.0.2", "10.0.0.1"), false},
		"on_one_line": {[]byte(strings.Join(strings.Fields(string(old)), " ")), false},
		"more_units":  {render("10.0.0.1", "10.0.0.2", "10.0.0.3"), true},
		"fewer_units": {render("10.0.0.1"), true},
		"other_CA":    {systemd.NorthdParams{Units: addrs("10.0.0.1", "10.0.0.2"), Credentials: other}.Render(), true},
		"no_file":     {nil, true},
		"more_args":   {append(old[:len(old):len(old)], "--n-threads=4\n"...), true},
	} {
		assert.Equal(t, test.wanted, systemd.NorthdNeedsRestart(old, test.text), name)
	}
}

// showAll expects the query for the states of all services.
func showAll() runtest.Call {
	return runtest.Expect("systemctl", "show", "--property=Id,LoadState,ActiveState,UnitFileState,MainPID,InvocationID",
		"ovn-northd.service", "ovn-ovsdb-server-nb.service", "ovn-ovsdb-server-sb.service", "ovn-central.service")
}

func states(t *testing.T, answer string) (map[ovndb.Service]systemd.Properties, error) {
	t.Helper()
	return systemd.Services{Runner: runtest.New(t, showAll().Writes(answer))}.States(t.Context())
}

// The answers are those of systemd 252 with the units of ovn-central 23.03 of Debian 12. Their InvocationIDs were
// added.
func TestStates(t *testing.T) {
	t.Parallel()
	four := func(northd, nb, sb, central systemd.Properties) map[ovndb.Service]systemd.Properties {
		return map[ovndb.Service]systemd.Properties{
			ovndb.Northd: northd, ovndb.NorthboundServer: nb, ovndb.SouthboundServer: sb, ovndb.Umbrella: central,
		}
	}
	same := func(s systemd.Properties) map[ovndb.Service]systemd.Properties { return four(s, s, s, s) }
	const northd, nb = "13f063d222232c91640bff2833305395", "4b691484bff94a94d3a0d84f87d12888"
	const sb, central = "d532e4f6d1517d43e031046714df4469", "45e739d328c6a36ecc80a1e65478c6a4"
	stopped := systemd.Properties{Active: "inactive", Enabled: "disabled"}
	running := func(enabled string, pid int, invocation string) systemd.Properties {
		masked := enabled == "masked-runtime"
		return systemd.Properties{Active: "active", Enabled: enabled, Masked: masked, MainPID: pid, Invocation: invocation}
	}
	for name, wanted := range map[string]map[ovndb.Service]systemd.Properties{
		"running": four(running("static", 643, northd), running("enabled", 1004, nb), running("enabled", 585, sb),
			running("enabled", 0, central)),
		// They are masked until the next boot, while they run.
		"held": four(running("masked-runtime", 643, northd), running("masked-runtime", 1004, nb),
			running("masked-runtime", 585, sb), running("masked-runtime", 0, central)),
		"stopped": four(systemd.Properties{Active: "inactive", Enabled: "static"}, stopped, stopped, stopped),
		"missing": same(systemd.Properties{Active: "inactive", Missing: true}),
		"masked":  same(systemd.Properties{Active: "inactive", Enabled: "masked", Masked: true}),
	} {
		got, err := states(t, string(golden(t, "systemctl-show-"+name+".txt")))
		require.NoError(t, err)
		assert.Equal(t, wanted, got)
		assert.Equal(t, wanted[ovndb.NorthboundServer].Active == "active", got[ovndb.NorthboundServer].Running())
	}
}

func TestStates_incomplete_answer_is_error(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		"", "Id=ovn-northd.service\nLoadState=loaded\nActiveState=active\nMainPID=1\n",
		"Id=ovn-northd.service\nMainPID=many\n", "Id=ssh.service\n\nId=a.service\n\nId=b.service\n\nId=c.service\n",
	} {
		_, err := states(t, answer)
		require.Error(t, err, answer)
	}
}
