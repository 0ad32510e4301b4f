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

// Systemd reads the units of systemd again.
type Systemd interface {
	Reload(ctx context.Context) error
}

// Manager keeps the guard installed on a unit's machine.
type Manager struct {
	Paths   ovndb.Paths
	Systemd Systemd
	Log     *slog.Logger
}

// Snapshot is what the guard's configuration follows from.
type Snapshot struct {
	// Own is the unit's address. Peers are those of the other units, and of all members of both clusters.
	Own   string
	Peers []netip.Addr
}

// Ensure has systemd ask the other units' servers, before it starts one here, whether its cluster was given up in
// a recovery. It takes the agent's program, and finds nothing: a unit without it is stopped by its next hook. The
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

// Remove takes the guard from the machine.
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
