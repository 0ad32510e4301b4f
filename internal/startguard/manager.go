package startguard

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Systemd makes systemd read its units again.
type Systemd interface {
	Reload(ctx context.Context) error
}

// Manager installs the guard on a unit's machine.
type Manager struct {
	Paths   ovndb.Paths
	Systemd Systemd
	Log     *slog.Logger
}

// Snapshot determines the guard's configuration.
type Snapshot struct {
	// Own is the unit's address. Peers are the addresses of the other units, and of all members of both clusters.
	Own   string
	Peers []netip.Addr
}

// Ensure makes systemd ask the other units' servers, before each start of a server here, whether its cluster was
// replaced. That needs the agent's program; without it, the next hook stops such a server. Ensure has no findings. The
// error is the context's.
func (m Manager) Ensure(ctx context.Context, s Snapshot) ([]finding.Finding, error) {
	if _, err := os.Stat(m.Paths.AgentProgram()); errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the agent's first start copies it
	}
	peers := slices.SortedFunc(slices.Values(s.Peers), netip.Addr.Compare)
	var c Config
	for _, address := range slices.Compact(peers) {
		if address.String() != s.Own {
			c.Peers = append(c.Peers, address.String())
		}
	}
	reload, err := install(m.Paths, c)
	err = m.reload(ctx, reload, err)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		m.Log.WarnContext(ctx, "cannot install the start guard", "error", err)
	}
	return nil, nil
}

// Remove removes the guard from the machine.
func (m Manager) Remove(ctx context.Context) error {
	reload, err := remove(m.Paths)
	return m.reload(ctx, reload, err)
}

func (m Manager) reload(ctx context.Context, reload bool, err error) error {
	if reload {
		err = errors.Join(err, m.Systemd.Reload(ctx))
	}
	return err
}
