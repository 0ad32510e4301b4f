package startguard

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// reloads counts how often systemd read its units again.
type reloads int

func (r *reloads) Reload(context.Context) error {
	*r++
	return nil
}

func TestManager(t *testing.T) {
	t.Parallel()
	dir, systemd := t.TempDir(), new(reloads)
	p := ovndb.Paths{DB: filepath.Join(dir, "lib", "ovn"), Etc: filepath.Join(dir, "etc", "ovn"), Run: dir}
	m := Manager{Paths: p, Systemd: systemd, Log: slog.New(slog.DiscardHandler)}
	peer := netip.MustParseAddr("10.0.0.2")
	ensure := func() {
		_, err := m.Ensure(
			t.Context(), Snapshot{Own: "10.0.0.1", Peers: []netip.Addr{peer, netip.MustParseAddr("10.0.0.1"), peer}},
		)
		require.NoError(t, err)
	}
	ensure()
	assert.NoFileExists(t, p.StartGuard(), "the agent's program is not there yet")

	for _, path := range []string{p.AgentProgram(), p.StartGuard()} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	}
	require.NoError(t, os.WriteFile(p.AgentProgram(), nil, 0o600))
	ensure()
	ensure()
	assert.Equal(t, 1, int(*systemd), "what is installed stays")
	text, err := os.ReadFile(p.StartGuard())
	require.NoError(t, err)
	assert.Contains(t, string(text), "10.0.0.2")
	assert.NotContains(t, string(text), "10.0.0.1")
	require.NoError(t, m.Remove(t.Context()))
	assert.NoFileExists(t, p.StartGuard())
	assert.Equal(t, 2, int(*systemd))
}
