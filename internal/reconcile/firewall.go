package reconcile

import (
	"context"
	"errors"
	"net/netip"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/firewall"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// firewallManager keeps the firewall of a unit with that record.
func (u *Reconciler) firewallManager(r *record) *firewall.Manager {
	return &firewall.Manager{Firewall: u.Firewall, State: r.state, Log: u.Log}
}

// firewallSnapshot is what the firewall's rules follow from.
func (p pass) firewallSnapshot() firewall.Snapshot {
	s := firewall.Snapshot{Thorough: p.inputs.thorough, Own: p.inputs.address}
	s.Peers = slices.Concat(p.result.Snapshot.Application.PeerAddresses(), memberAddresses(p.result.Snapshot))
	for _, c := range p.inputs.clients {
		s.Clients = append(s.Clients, c.addresses...)
	}
	return s
}

// memberAddresses are those of all members of both clusters, as this unit's servers
// have them.
func memberAddresses(snapshot observe.Snapshot) (all []netip.Addr) {
	for _, l := range snapshot.Servers {
		for _, member := range l.Status.Servers {
			if address, err := netip.ParseAddr(ovndb.HostOf(member.Address)); err == nil {
				all = append(all, address)
			}
		}
	}
	return all
}

// Admit lets the other units in, beside those that may connect already: while this
// unit waits to leave with the only copy, no hook of it but `stop` sees those that
// come to take it over. Which clients there are it can't know any more.
func (u *Reconciler) Admit(ctx context.Context, m observe.Application) {
	peers := m.PeerAddresses()
	if len(peers) == 0 {
		return
	}
	_, err := u.Firewall.Admit(ctx, peers)
	if err != nil && !errors.Is(err, firewall.ErrAbsent) && !errors.Is(err, firewall.ErrInactive) {
		u.Log.WarnContext(ctx, "cannot let the other units in", "error", err)
	}
}
