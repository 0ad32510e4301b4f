package reconcile

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/firewall"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// formatRules is the form in which rules are remembered.
func formatRules(rules firewall.Rules) string {
	return fmt.Sprintf("peers %v, clients %v", rules.Peers, rules.Clients)
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

// rules are the hosts that may come to this unit's ports. A peer that has
// departed may until it is gone from both clusters. Where Juju was not asked for clients, they
// are those that were let in last.
func (u *Reconciler) rules(p pass) firewall.Rules {
	var rules firewall.Rules
	a, snapshot := p.inputs, p.result.Snapshot
	add := func(list *[]netip.Addr, address netip.Addr) {
		if address.IsValid() && address != a.address && !slices.Contains(*list, address) {
			*list = append(*list, address)
		}
	}
	for _, address := range slices.Concat(snapshot.Application.PeerAddresses(), memberAddresses(snapshot)) {
		add(&rules.Peers, address)
	}
	for _, c := range a.clients {
		for _, address := range c.addresses {
			add(&rules.Clients, address)
		}
	}
	if !a.thorough {
		rules.Clients = slices.Clone(p.record.FirewallClients)
	}
	slices.SortFunc(rules.Peers, netip.Addr.Compare)
	slices.SortFunc(rules.Clients, netip.Addr.Compare)
	return rules
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

// firewallDrift says whether the firewall is to be set: other rules are wanted than were
// set last, or the machine has others, or ufw was switched off. It is asked once a hook. A ufw that
// did not work the last time is left alone by `update-status`, until it is on.
func (u *Reconciler) firewallDrift(ctx context.Context, p pass, rules firewall.Rules) bool {
	failed := !p.inputs.thorough && p.record.FirewallFailure != ""
	if !failed && p.record.Firewall != formatRules(rules) {
		return true
	}
	if p.progress.firewallDrifted == nil {
		drifted, err := u.Firewall.Drifted(ctx, rules)
		switch {
		case failed:
			drifted = err == nil
		case err != nil && !errors.Is(err, firewall.ErrAbsent):
			drifted = true // setting them says what is wrong
		}
		if drifted && !failed {
			u.Log.WarnContext(ctx, "the firewall's rules are not those that this unit has set")
		}
		p.progress.firewallDrifted = &drifted
	}
	return *p.progress.firewallDrifted
}

// configureFirewall sets the firewall. Where that can't be done, as in a container without its
// kernel modules, the unit goes on, and says that its ports are open.
func (u *Reconciler) configureFirewall(ctx context.Context, p pass) error {
	r := p.record
	p.progress.guarded = true
	rules := u.rules(p)
	r.FirewallClients = append([]netip.Addr{}, rules.Clients...)
	_, err := u.Firewall.Initialize(ctx)
	if err == nil {
		_, err = u.Firewall.Ensure(ctx, rules)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, firewall.ErrAbsent):
		r.Firewall, r.FirewallFailure = formatRules(rules), "there is no ufw on this machine"
	case err != nil:
		r.FirewallFailure = firstLine(err.Error())
	default:
		r.Firewall, r.FirewallFailure = formatRules(rules), ""
	}
	if r.FirewallFailure != "" {
		u.Log.WarnContext(ctx, "cannot configure the firewall", "error", err)
	}
	return nil
}
