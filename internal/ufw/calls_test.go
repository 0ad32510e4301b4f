package ufw_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
	"github.com/ovn-central/ovn-central-operator/internal/ufw"
)

func addrs(texts ...string) []netip.Addr {
	var out []netip.Addr
	for _, text := range texts {
		out = append(out, netip.MustParseAddr(text))
	}
	return out
}

// call expects a call of ufw with the words of a line.
func call(line, answer string) runtest.Call {
	return runtest.Expect("ufw", strings.Fields(line)...).Writes(answer)
}

func status(text string) runtest.Call { return call("status numbered", text) }

// add expects a call that adds the charm's rule.
func add(rule, answer string) runtest.Call {
	return call(rule+" proto tcp comment "+ufw.Comment, answer)
}

func testdata(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return string(text)
}

func TestFirewall_without_ufw_is_ErrAbsent(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	f := ufw.Firewall{Runner: run.Exec{}}
	require.ErrorIs(t, f.Ensure(t.Context(), ufw.Rules{}), ufw.ErrAbsent)
	require.ErrorIs(t, f.Remove(t.Context()), ufw.ErrAbsent)
}

// After the failure, the rules of the earlier peer still exist: additions come before removals.
func TestEnsure_failure_denies_no_address(t *testing.T) {
	t.Parallel()
	f := ufw.Firewall{Runner: runtest.New(t,
		status(testdata(t, "status-another-peer.txt")),
		add("prepend allow from 10.0.0.2 to any port 6641,6643,6644,16402,16642", "Rule inserted\n"),
		add("prepend allow from 10.0.0.3 to any port 6641,6643,6644,16402,16642", "").Fails(1, "ERROR: no\n"),
	)}
	require.ErrorContains(t, f.Ensure(t.Context(), ufw.Rules{Peers: addrs("10.0.0.2", "10.0.0.3")}), "ERROR: no")
}

// closed expects the rules that close the units' ports for all other addresses.
func closed() (calls []runtest.Call) {
	for _, port := range []string{"6641", "6643", "6644", "16402", "16642"} {
		calls = append(calls, add("reject to any port "+port, "Rule added\n"))
	}
	return calls
}

func TestEnsure_makes_one_call_for_each_of_300_clients(t *testing.T) {
	t.Parallel()
	var clients []netip.Addr
	calls := []runtest.Call{status("Status: active\n")}
	for i := range 300 {
		addr := netip.AddrFrom4([4]byte{10, 0, byte(i / 256), byte(i % 256)})
		clients = append(clients, addr)
		calls = append(calls, add("prepend allow from "+addr.String()+" to any port 6641,16642", "Rule inserted\n"))
	}
	calls = append(append(calls, add("allow to any port 6642", "Rule added\n")), closed()...)
	f := ufw.Firewall{Runner: runtest.New(t, calls...)}
	require.NoError(t, f.Ensure(t.Context(), ufw.Rules{Clients: clients}))
}

func TestRemove_own_rules_only(t *testing.T) {
	t.Parallel()
	f := ufw.Firewall{Runner: runtest.New(t,
		status("Status: active\n"+
			"[ 1] 22/tcp                     ALLOW IN    Anywhere                   # ssh\n"+
			"[ 2] 6641,16642/tcp             ALLOW IN    10.0.0.9                  \n"+
			"[ 3] 6641,16642/tcp             ALLOW IN    10.0.0.2                   # charm-ovn-central\n"+
			"[ 4] 6641/tcp                   REJECT IN   Anywhere                   # charm-ovn-central\n"),
		call("delete reject to any port 6641 proto tcp", "Rule deleted\n"),
		call("delete allow from 10.0.0.2 to any port 6641,16642 proto tcp", "Rule deleted\n"),
	)}
	require.NoError(t, f.Remove(t.Context()))
}

// ufw accepts no second rule about the same packets, and exits with status 0.
func TestEnsure_names_the_rule_that_blocks_an_address(t *testing.T) {
	t.Parallel()
	calls := append([]runtest.Call{
		status("Status: active\n" +
			"[ 1] 6641,16642/tcp             DENY IN     10.0.0.9                   # mine\n" +
			"[ 2] 6642/tcp                   ALLOW IN    Anywhere                  \n" +
			"[ 3] 6642/tcp (v6)              ALLOW IN    Anywhere (v6)             \n"),
		add("prepend allow from 10.0.0.9 to any port 6641,16642", "Skipping inserting existing rule\n"),
	}, closed()...)
	f := ufw.Firewall{Runner: runtest.New(t, calls...)}
	err := f.Ensure(t.Context(), ufw.Rules{Clients: addrs("10.0.0.9")})
	require.ErrorContains(t, err, "run: sudo ufw delete deny from 10.0.0.9 to any port 6641,16642 proto tcp")
}

func TestDrifted(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(testdata(t, "status-another-peer.txt"), "6644,16642/tcp ", "6644,16402,16642/tcp ") +
		"[12] 16402/tcp                  REJECT IN   Anywhere                   # charm-ovn-central\n" +
		"[13] 16402/tcp (v6)             REJECT IN   Anywhere (v6)              # charm-ovn-central\n"
	less, _, _ := strings.Cut(text, "[12]")
	others := "[ 1] Anywhere                   DENY IN     10.0.0.9                  \n"
	for name, c := range map[string]struct {
		status  string
		peers   []netip.Addr
		drifted bool
	}{
		"wanted_rules":                   {text, addrs("10.0.0.9"), false},
		"stale_address":                  {text, nil, true},
		"missing_address":                {text, addrs("10.0.0.9", "10.0.0.8"), true},
		"open_port":                      {less, addrs("10.0.0.9"), true},
		"another's_rule_after_ours":      {text + others, addrs("10.0.0.9"), false},
		"another's_rule_before_our_rule": {"Status: active\n" + others + text, addrs("10.0.0.9"), true},
	} {
		f := ufw.Firewall{Runner: runtest.New(t, status(c.status))}
		drifted, err := f.Drifted(t.Context(), ufw.Rules{Peers: c.peers})
		require.NoError(t, err)
		assert.Equal(t, c.drifted, drifted, name)
	}
}

// The text is ufw's after the Python charm's calls. That charm had no agent, and opened no port for chassis to all
// addresses. Its rules stay.
func TestEnsure_keeps_rules_of_the_Python_charm(t *testing.T) {
	t.Parallel()
	require.NoError(t, ufw.Firewall{Runner: runtest.New(t,
		status(testdata(t, "status-python-charm.txt")),
		add("prepend allow from 10.0.0.2 to any port 16402", "Rule inserted\n"),
		add("prepend allow from fd00::3 to any port 16402", "Rule inserted\n"),
		add("allow to any port 6642", "Rule added\n"),
		add("reject to any port 16402", "Rule added\n"),
	)}.Ensure(t.Context(), ufw.Rules{Peers: addrs("10.0.0.2", "fd00::3")}))
}
