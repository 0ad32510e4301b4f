package firewall_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/firewall"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

func addrs(texts ...string) []netip.Addr {
	var out []netip.Addr
	for _, text := range texts {
		out = append(out, netip.MustParseAddr(text))
	}
	return out
}

func TestMachineWithoutUfw(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	f := firewall.Firewall{Runner: run.Exec{}}
	_, err := f.Ensure(t.Context(), firewall.Rules{})
	require.ErrorIs(t, err, firewall.ErrAbsent)
	_, err = f.Initialize(t.Context())
	require.ErrorIs(t, err, firewall.ErrAbsent)
	_, err = f.Remove(t.Context())
	require.ErrorIs(t, err, firewall.ErrAbsent)
}

// What a hook has done before ufw failed is not lost, and which hosts may connect is never
// shut out by a failure: all that lets in comes before all that shuts out.
func TestFirewallThatFailsHalfwayHasLockedNobodyOut(t *testing.T) {
	t.Parallel()
	status, err := os.ReadFile(filepath.Join("testdata", "status-another-peer.txt"))
	require.NoError(t, err)
	words := []string{"allow", "from", "10.0.0.2", "to", "any", "port", "6641,6643,6644,16402,16642", "proto", "tcp", "comment", firewall.Comment}
	first := runtest.Expect("ufw", append([]string{"prepend"}, words...)...).Writes("Rule inserted\n")
	words[2] = "10.0.0.3"
	second := runtest.Expect("ufw", append([]string{"prepend"}, words...)...).Fails(1, "ERROR: problem running iptables\n")
	f := firewall.Firewall{Runner: runtest.New(t, runtest.Expect("ufw", "status", "numbered").Writes(string(status)), first, second)}
	done, err := f.Ensure(t.Context(), firewall.Rules{Peers: addrs("10.0.0.2", "10.0.0.3")})
	require.ErrorContains(t, err, "cannot run ufw prepend: ")
	require.ErrorContains(t, err, "ERROR: problem running iptables")
	assert.Equal(t, []string{"prepend allow from 10.0.0.2 to any port 6641,6643,6644,16402,16642 proto tcp"}, done.Added)
	assert.Empty(t, done.Deleted, "the rules for the peer of old are still there")
}

func TestHundredsOfClientsTakeACallEach(t *testing.T) {
	t.Parallel()
	status := "Status: active\n"
	var clients []netip.Addr
	calls := []runtest.Call{runtest.Expect("ufw", "status", "numbered").Writes(status)}
	for i := range 300 {
		addr := netip.AddrFrom4([4]byte{10, 0, byte(i / 256), byte(i % 256)})
		clients = append(clients, addr)
		calls = append(calls, runtest.Expect("ufw", "prepend", "allow", "from", addr.String(), "to", "any", "port", "6641,16642",
			"proto", "tcp", "comment", firewall.Comment).Writes("Rule inserted\n"))
	}
	calls = append(calls, runtest.Expect("ufw", "allow", "to", "any", "port", "6642", "proto", "tcp", "comment", firewall.Comment).Writes("Rule added\n"))
	for _, port := range []string{"6641", "6643", "6644", "16402", "16642"} {
		calls = append(calls, runtest.Expect("ufw", "reject", "to", "any", "port", port, "proto", "tcp", "comment", firewall.Comment).Writes("Rule added\n"))
	}
	done, err := firewall.Firewall{Runner: runtest.New(t, calls...)}.Ensure(t.Context(), firewall.Rules{Clients: clients})
	require.NoError(t, err)
	assert.Len(t, done.Added, 306)
}

func TestOnlyTheCharmsRulesAreRemoved(t *testing.T) {
	t.Parallel()
	status := "Status: active\n" +
		"[ 1] 22/tcp                     ALLOW IN    Anywhere                   # ssh\n" +
		"[ 2] 6641,16642/tcp             ALLOW IN    10.0.0.9                  \n" +
		"[ 3] 6641,16642/tcp             ALLOW IN    10.0.0.2                   # charm-ovn-central\n" +
		"[ 4] 6641/tcp                   REJECT IN   Anywhere                   # charm-ovn-central\n"
	f := firewall.Firewall{Runner: runtest.New(t,
		runtest.Expect("ufw", "status", "numbered").Writes(status),
		runtest.Expect("ufw", "delete", "reject", "to", "any", "port", "6641", "proto", "tcp").Writes("Rule deleted\n"),
		runtest.Expect("ufw", "delete", "allow", "from", "10.0.0.2", "to", "any", "port", "6641,16642", "proto", "tcp").Writes("Rule deleted\n"),
	)}
	done, err := f.Remove(t.Context())
	require.NoError(t, err)
	assert.Len(t, done.Deleted, 2)
}

// Ufw takes no second rule about the same packets, and says so with an exit status of 0: the address that
// another's rule keeps out is named, with what ends it, and the rest is done.
func TestAddressThatAnothersRuleKeepsOutIsNamed(t *testing.T) {
	t.Parallel()
	status := "Status: active\n" +
		"[ 1] 6641,16642/tcp             DENY IN     10.0.0.9                   # mine\n" +
		"[ 2] 6642/tcp                   ALLOW IN    Anywhere                  \n" +
		"[ 3] 6642/tcp (v6)              ALLOW IN    Anywhere (v6)             \n"
	calls := []runtest.Call{runtest.Expect("ufw", "status", "numbered").Writes(status)}
	add := func(answer string, words ...string) {
		calls = append(calls, runtest.Expect("ufw", append(words, "proto", "tcp", "comment", firewall.Comment)...).Writes(answer))
	}
	add("Skipping inserting existing rule\n", "prepend", "allow", "from", "10.0.0.9", "to", "any", "port", "6641,16642")
	for _, port := range []string{"6641", "6643", "6644", "16402", "16642"} {
		add("Rule added\nRule added (v6)\n", "reject", "to", "any", "port", port)
	}
	done, err := firewall.Firewall{Runner: runtest.New(t, calls...)}.Ensure(t.Context(), firewall.Rules{Clients: addrs("10.0.0.9")})
	require.EqualError(t, err, "cannot let 10.0.0.9 in beside a rule that is not the charm's; "+
		"run: sudo ufw delete deny from 10.0.0.9 to any port 6641,16642 proto tcp")
	assert.Len(t, done.Added, 5)
}

// One rule is missing, or the charm's are about addresses that may connect no more, which
// the next hook shuts out.
func TestRuleTooManyOrTooFewIsDrift(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "status-another-peer.txt"))
	require.NoError(t, err)
	status := strings.ReplaceAll(string(text), "6641,6643,6644,16642/tcp ", "6641,6643,6644,16402,16642/tcp ") +
		"[12] 16402/tcp                  REJECT IN   Anywhere                   # charm-ovn-central\n" +
		"[13] 16402/tcp (v6)             REJECT IN   Anywhere (v6)              # charm-ovn-central\n"
	less, _, _ := strings.Cut(status, "[12]")
	for name, c := range map[string]struct {
		status  string
		peers   []netip.Addr
		drifted bool
	}{
		"as it should be":             {status, addrs("10.0.0.9"), false},
		"an address too many":         {status, nil, true},
		"an address too few":          {status, addrs("10.0.0.9", "10.0.0.8"), true},
		"a port that is not shut":     {less, addrs("10.0.0.9"), true},
		"another's rule beside them":  {status + "[14] 22/tcp                     ALLOW IN    Anywhere                  \n", addrs("10.0.0.9"), false},
		"another's rule before those": {"Status: active\n[ 1] Anywhere                   DENY IN     10.0.0.9                  \n" + status, addrs("10.0.0.9"), true},
	} {
		f := firewall.Firewall{Runner: runtest.New(t, runtest.Expect("ufw", "status", "numbered").Writes(c.status))}
		drifted, err := f.Drifted(t.Context(), firewall.Rules{Peers: c.peers})
		require.NoError(t, err)
		assert.Equal(t, c.drifted, drifted, name)
	}
}

// The text is that of the real ufw after that charm's calls. It knew neither an agent nor a port for chassis that is
// open to all; its rules stay.
func TestRulesOfThePythonCharmAreTakenOver(t *testing.T) {
	t.Parallel()
	status, err := os.ReadFile(filepath.Join("testdata", "status-python-charm.txt"))
	require.NoError(t, err)
	call := func(answer string, words ...string) runtest.Call {
		return runtest.Expect("ufw", words...).Writes(answer)
	}
	tail := []string{"proto", "tcp", "comment", firewall.Comment}
	done, err := firewall.Firewall{Runner: runtest.New(t, call(string(status), "status", "numbered"),
		call("Rule inserted\n", append([]string{"prepend", "allow", "from", "10.0.0.2", "to", "any", "port", "16402"}, tail...)...),
		call("Rule inserted\n", append([]string{"prepend", "allow", "from", "fd00::3", "to", "any", "port", "16402"}, tail...)...),
		call("Rule added\n", append([]string{"allow", "to", "any", "port", "6642"}, tail...)...),
		call("Rule added\n", append([]string{"reject", "to", "any", "port", "16402"}, tail...)...),
	)}.Ensure(t.Context(), firewall.Rules{Peers: addrs("10.0.0.2", "fd00::3")})
	require.NoError(t, err)
	assert.Len(t, done.Added, 4)
	assert.Empty(t, done.Deleted)
}
