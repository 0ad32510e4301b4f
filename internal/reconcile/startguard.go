package reconcile

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/startguard"
)

// startGuard keeps the guard of the unit's servers.
func (u *Reconciler) startGuard() startguard.Manager {
	return startguard.Manager{Paths: u.Paths, Systemd: u.Services, Log: u.Log}
}

// startGuardSnapshot is what the guard's configuration follows from.
func startGuardSnapshot(o Result) startguard.Snapshot {
	return startguard.Snapshot{Own: o.state.Address, Peers: slices.Concat(memberAddresses(o.Snapshot), o.Snapshot.Application.PeerAddresses())}
}
