package firewall

import (
	"context"
	"log/slog"
	"net/netip"
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

// Most units run no hook but update-status for months. It looks once, and leaves a ufw alone that can't work.
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
			m := manager(t, runtest.New(t, runtest.Expect("ufw", "status", "numbered").Writes(c.status)), kept{set, clients, c.failure})
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
	own, peer, client := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("192.0.2.7")
	s := Snapshot{Thorough: true, Own: own, Peers: []netip.Addr{peer, own, {}, peer}, Clients: []netip.Addr{client}}

	t.Run("missing_ufw_is_a_finding", func(t *testing.T) {
		t.Parallel()
		m := manager(t, absent{}, kept{})
		found, err := m.Ensure(t.Context(), s)
		require.NoError(t, err)
		require.Len(t, found, 1)
		assert.Equal(t, finding.FirewallFailed, found[0].Code)
		assert.Equal(t, kept{Rules{Peers: []netip.Addr{peer}, Clients: []netip.Addr{client}}.format(), []netip.Addr{client}, found[0].Args.Detail}, section.Get(m.State))
		assert.False(t, m.Due(t.Context(), s), "it was seen to in this hook")
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
