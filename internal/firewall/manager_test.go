package firewall

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

func manager(t *testing.T, runner run.Runner, last kept) *Manager {
	t.Helper()
	state, err := unitstate.Open(filepath.Join(t.TempDir(), "state.json"), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.NoError(t, section.Set(state, last))
	return &Manager{Firewall: Firewall{Runner: runner}, State: state, Log: slog.New(slog.DiscardHandler)}
}

// For months most units run only update-status. Due then asks ufw once, and does not call a ufw that can't work.
func TestDue(t *testing.T) {
	t.Parallel()
	clients := []netip.Addr{netip.MustParseAddr("192.0.2.7")}
	set := Rules{Clients: clients}.format()
	for name, c := range map[string]struct {
		failure, status string
		want            bool
	}{
		"ufw_is_switched_off":         {"", "Status: inactive\n", true},
		"rules_are_gone":              {"", "Status: active\n", true},
		"ufw_could_not_be_started":    {"ufw: no kernel modules", "Status: inactive\n", false},
		"ufw_that_failed_works_again": {"cannot let 10.0.0.9 in", "Status: active\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := runtest.Expect("ufw", "status", "numbered").Writes(c.status)
			m := manager(t, runtest.New(t, asked), kept{set, clients, c.failure})
			for range 2 {
				assert.Equal(t, c.want, m.Due(t.Context(), Snapshot{}))
			}
		})
	}

	t.Run("unknown_clients_wait_for_a_thorough_look", func(t *testing.T) {
		t.Parallel()
		m := manager(t, runtest.New(t), kept{})
		assert.False(t, m.Due(t.Context(), Snapshot{}))
		assert.True(t, m.Due(t.Context(), Snapshot{Thorough: true}))
	})
}

func TestEnsure(t *testing.T) {
	t.Parallel()
	own := netip.MustParseAddr("10.0.0.1")
	s := Snapshot{Thorough: true, Own: own, Peers: []netip.Addr{peer, own, {}, peer}, Clients: []netip.Addr{client}}

	t.Run("missing_ufw_is_a_finding", func(t *testing.T) {
		t.Parallel()
		m := manager(t, absent{}, kept{})
		found, err := m.Ensure(t.Context(), s)
		require.NoError(t, err)
		require.Len(t, found, 1)
		assert.Equal(t, finding.FirewallFailed, found[0].Code)
		clients := []netip.Addr{client}
		set := Rules{Peers: []netip.Addr{peer}, Clients: clients}.format()
		assert.Equal(t, kept{set, clients, found[0].Args.Detail.String()}, section.Get(m.State))
		assert.False(t, m.Due(t.Context(), s), "it was called in this hook")
	})

	t.Run("cancelled_hook_keeps_what_was", func(t *testing.T) {
		t.Parallel()
		m := manager(t, absent{}, kept{Failure: "before"})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := m.Ensure(ctx, s)
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, kept{Failure: "before"}, section.Get(m.State))
	})
}

// absent is a machine without ufw.
type absent struct{}

// Run implements run.Runner.
func (absent) Run(context.Context, run.Command) ([]byte, error) { return nil, ErrAbsent }

// The texts are those of ufw 0.36.2 of Debian 12.
func TestParseStatus(t *testing.T) {
	t.Parallel()
	of := func(action action, ours bool, from string, ports ...uint16) rule {
		return rule{action: action, ports: ports, from: netip.MustParsePrefix(from), ours: ours}
	}
	wanted := []rule{
		of(allow, true, "10.0.0.0/24", 6641, 6643), of(allow, true, "10.0.0.1/32", 6641), of(reject, true, "0.0.0.0/0", 6641),
		of(reject, true, "0.0.0.0/0", 6643), of(deny, false, "0.0.0.0/0", 7000), of(allow, false, "10.0.0.1/32"),
		of(allow, true, "2001:db8:1111:2222:3333:4444:5555:6666/128", 6641, 6643, 6644, 16642),
		of(allow, true, "fd00::1/128", 6643),
		// These rules have the charm's comment, but not its form: a person has written them.
		of(allow, false, "0.0.0.0/0", 6643), of(allow, false, "10.0.0.7/32"),
		of(reject, true, "::/0", 6641), of(reject, true, "::/0", 6643), of(deny, false, "::/0", 7000),
	}
	text, err := os.ReadFile(filepath.Join("testdata", "status-mixed.txt"))
	require.NoError(t, err)
	active, rules := parseStatus(string(text))
	assert.True(t, active)
	assert.Equal(t, wanted, rules)
}

func FuzzStatus(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "status-mixed.txt"))
	require.NoError(f, err)
	f.Add(string(text))
	f.Fuzz(func(t *testing.T, text string) {
		_, rules := parseStatus(text)
		for _, r := range rules {
			require.True(t, r.from.IsValid())
			require.NotEmpty(t, r.words())
		}
		p := compare(rules, Rules{Peers: []netip.Addr{netip.MustParseAddr("10.0.0.1")}})
		for _, r := range append(p.misplaced, p.stale...) {
			require.True(t, r.ours, "a rule of others would be deleted")
		}
	})
}

var (
	peer   = netip.MustParseAddr("10.0.0.2")
	client = netip.MustParseAddr("10.0.0.9")
)

// If a rule makes a rule of the charm after it void, the charm's rule is deleted and put in front. Another party's
// stays.
func TestCompare_misplaced_rule_of_charm_is_deleted(t *testing.T) {
	t.Parallel()
	shut := rule{action: reject, ports: []uint16{6641, 16642}, from: anywhere4}
	late := rule{action: allow, ports: []uint16{6641, 16642}, from: netip.PrefixFrom(client, 32)}
	want := Rules{Clients: []netip.Addr{client}}

	p := compare([]rule{shut, late}, want)
	assert.Len(t, p.admit, 1)
	assert.Empty(t, p.misplaced)
	assert.Empty(t, p.stale)

	late.ours = true
	assert.Equal(t, []rule{late}, compare([]rule{shut, late}, want).misplaced)
}

// ufw refuses an address with a zone, and would treat 10.0.0.2 and ::ffff:10.0.0.2 as two addresses.
func TestGrants_have_the_address_without_zone_and_mapping(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"::ffff:10.0.0.2": "10.0.0.2", "fe80::2%eth0": "fe80::2"} {
		for _, g := range (Rules{Clients: []netip.Addr{netip.MustParseAddr(given)}}).grants() {
			assert.Equal(t, netip.MustParseAddr(want), g.from)
		}
	}
}
