package firewall

import (
	"context"
	"log/slog"
	"net/netip"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
	"github.com/ovn-central/ovn-central-operator/internal/ufw"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

func manager(t *testing.T, runner run.Runner, last kept) *Manager {
	t.Helper()
	state, err := unitstate.Open(filepath.Join(t.TempDir(), "state.json"), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.NoError(t, section.Set(state, last))
	return &Manager{Firewall: ufw.Firewall{Runner: runner}, State: state, Log: slog.New(slog.DiscardHandler)}
}

// For months most units run only update-status. Due then asks ufw once, and does not call a ufw that can't work.
func TestDue(t *testing.T) {
	t.Parallel()
	clients := []netip.Addr{netip.MustParseAddr("192.0.2.7")}
	set := format(ufw.Rules{Clients: clients})
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
				assert.Equal(t, c.want, m.Due(t.Context(), facts.Facts{}))
			}
		})
	}

	t.Run("unknown_clients_wait_for_a_thorough_look", func(t *testing.T) {
		t.Parallel()
		m := manager(t, runtest.New(t), kept{})
		assert.False(t, m.Due(t.Context(), facts.Facts{}))
		assert.True(t, m.Due(t.Context(), facts.Facts{Thorough: true}))
	})
}

func TestEnsure(t *testing.T) {
	t.Parallel()
	own := netip.MustParseAddr("10.0.0.1")
	s := facts.Facts{Thorough: true, Clients: []observe.Client{{Addresses: []netip.Addr{client, {}}}}}
	s.Addresses.Own = own
	members := raft.Status{Servers: []raft.Member{{Address: "ssl:10.0.0.2:6643"}, {Address: "ssl:10.0.0.1:6643"}}}
	s.Servers = map[ovndb.Database]observe.ServerState{ovndb.NB: {Status: members}, ovndb.SB: {Status: members}}

	t.Run("missing_ufw_is_a_finding", func(t *testing.T) {
		t.Parallel()
		m := manager(t, absent{}, kept{})
		found, err := m.Ensure(t.Context(), s)
		require.NoError(t, err)
		require.Len(t, found, 1)
		assert.Equal(t, finding.FirewallFailed, found[0].Code)
		clients := []netip.Addr{client}
		set := format(ufw.Rules{Peers: []netip.Addr{peer}, Clients: clients})
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
func (absent) Run(context.Context, run.Command) ([]byte, error) { return nil, ufw.ErrAbsent }

var (
	peer   = netip.MustParseAddr("10.0.0.2")
	client = netip.MustParseAddr("10.0.0.9")
)
