package reconcile

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/startguard"
)

// guardStarts has systemd ask the other units' servers, before it starts one here, whether
// its cluster was given up in a recovery. It takes the agent's program, and fails no hook:
// a unit without it is stopped by its next hook.
func (u *Reconciler) guardStarts(ctx context.Context, o Result) error {
	if _, err := os.Stat(u.Paths.AgentProgram()); errors.Is(err, fs.ErrNotExist) || o.state.Dying {
		return nil // the agent's first start copies it
	}
	peers := slices.Concat(memberAddresses(o.Snapshot), o.Snapshot.Application.PeerAddresses())
	slices.SortFunc(peers, netip.Addr.Compare)
	peers = slices.Compact(peers)
	var c startguard.Config
	for _, address := range peers {
		if address.String() != o.state.Address {
			c.Peers = append(c.Peers, address.String())
		}
	}
	reload, err := startguard.Install(u.Paths, c)
	if reload {
		err = errors.Join(err, u.Services.Reload(ctx))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		u.Log.WarnContext(ctx, "cannot install the start guard", "error", err)
	}
	return nil
}

// removeStartGuard takes it from the machine.
func (u *Reconciler) removeStartGuard(ctx context.Context) error {
	reload, err := startguard.Remove(u.Paths)
	if reload {
		err = errors.Join(err, u.Services.Reload(ctx))
	}
	return err
}
