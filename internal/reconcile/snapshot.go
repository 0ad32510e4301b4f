package reconcile

import (
	"context"
	"fmt"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/certificates"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/steps"
)

// askJuju adds to a snapshot of servers and application what else Juju knows. If it is not thorough, it reads only
// the peer relation, and takes from memory what the Juju leader has published.
func (u *Reconciler) askJuju(ctx context.Context, r *record, o *steps.Snapshot) error {
	m, x := o.Application, &o.Known
	if m.Unread != nil {
		return m.Unread
	}
	config, err := u.Tools.Config(ctx)
	if err != nil {
		return err
	}
	x.Settings, x.Invalid = u.parse(config)
	if !leaderless(r, *o) {
		if err := r.Leader.Ask(ctx); err != nil {
			return err
		}
	}
	keep := o.Looks && !o.Thorough && !u.lastFound(finding.AddressChanged)
	if o.Addresses, err = u.Observer.Addresses(ctx, u.Tools, o.Servers, o.Thorough, keep); err != nil {
		return err
	}
	if err := r.Leader.Read(ctx, m, o.Thorough); err != nil {
		return err
	}
	x.Problem, x.Blind, x.Unrelated = r.Leader.Problem, r.Leader.Blind, r.Leader.Unrelated
	x.Unit, x.Dying, x.Units, x.Peers = u.Env.Unit, m.Dying(u.Env.Unit), len(m.Goal), r.Peers(ctx, m)
	x.Integrate, x.Resumed = m.Version.Integrate(), u.Env.ActionName == "resume"
	x.Claim = relation.ParseClaim(m.AppData.Values(), u.Env.Unit)
	x.Members = relation.ParseMembers(m.AppData.Values())
	x.Paused, x.NorthdHeld, x.Northds = r.Paused, r.NorthdHeld, r.Northd
	if o.Addresses.Own.IsValid() {
		x.Address = o.Addresses.Own.String()
	}
	if o.Addresses.Better.IsValid() {
		x.Better = o.Addresses.Better.String()
	}
	certified := certificates.Snapshot{
		Thorough: o.Thorough, Providers: m.Remote[relation.Certificates],
		Addresses: o.Addresses.All, Primary: o.Addresses.Primary, Hosts: o.Addresses.Hosts,
	}
	if err := r.Certificates.Observe(ctx, certified); err != nil || !o.Thorough {
		return err
	}
	o.Clients, err = u.Observer.RelatedClients(ctx, u.Tools)
	return err
}

// leaderless reports whether the state to show is the same on Juju's leader as elsewhere: the clusters exist, both
// servers are members that know a leader, and no recovery was asked for.
func leaderless(r *record, o steps.Snapshot) bool {
	if !o.Looks || o.Thorough || r.Recovery.Requested() || len(r.Recovery.Held) > 0 {
		return false
	}
	for _, db := range ovndb.Databases() {
		if !o.Servers[db].MemberWithLeader() {
			return false
		}
	}
	return !o.Application.RequestsRecovery()
}

// parse parses the options. It names each invalid one with the reason.
func (u *Reconciler) parse(config map[string]any) (plan.Settings, map[string]string) {
	s, invalid := plan.ParseSettings(config)
	for option, value := range map[string]string{plan.OptionSource: s.Source, plan.OptionOverlay: s.Overlay} {
		if _, err := apt.ParseSource(value, u.OS); err != nil && invalid[option] == "" {
			invalid[option] = fmt.Sprintf("%.60q: %v", value, err)
		}
	}
	return s, invalid
}
