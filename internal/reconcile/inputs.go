package reconcile

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// inputs is what Juju said at the beginning of the hook, beside what is in the snapshot. It is
// not changed afterwards: what this unit's own steps change is in [progress].
type inputs struct {
	// thorough says that everything was asked for, looks that only [Reconciler.Look] needs it.
	thorough, looks bool
	// preview is set if no step is made.
	preview  bool
	settings plan.Settings
	// invalid are the options that can't be used, each with its reason.
	invalid map[string]string
	// problem is what is wrong with what the Juju leader published.
	problem string
	// unrelated says that what the Juju leader publishes can't be known, as there is no
	// peer relation yet.
	unrelated bool
	// blind says that what units have claimed could not be read, where Juju has no
	// leader settings.
	blind bool
	// address is this unit's on the peer binding, addresses are those of all
	// bindings that were asked for, hosts its names. Of those, primary are the ones of each
	// binding at which this unit sends others to it. Better is what a new unit would have in
	// place of address, member the one in the files of the unit's databases;
	// each is zero if there is none ([juju.Network.Choose]).
	address, better, member netip.Addr
	addresses, primary      []netip.Addr
	hosts                   []string
	// clients are the relations to applications that use the databases; known only if thorough is set.
	clients []client
}

// client is a relation to units that use the databases.
type client struct {
	id string
	// addresses are those from which the units of a CMS connect.
	addresses []netip.Addr
}

// observe asks Juju what else a pass begins with. Where not thorough, relations other than the
// peers' are left out, and what the Juju leader has published is what it was.
func (u *Reconciler) observe(ctx context.Context, r *record, o Result, thorough bool) (pass, error) {
	p := pass{record: r, inputs: inputs{thorough: thorough}, progress: newProgress(u.Now()), result: o}
	err := u.askJuju(ctx, &p)
	return p, err
}

// askJuju completes a pass by what Juju says.
func (u *Reconciler) askJuju(ctx context.Context, p *pass) error {
	r, a, m := p.record, &p.inputs, p.result.Snapshot.Application
	p.progress.northd = r.Northd
	config, err := u.Tools.Config(ctx)
	if err != nil {
		return err
	}
	a.settings, a.invalid = u.parse(config)
	if !p.leaderless() {
		if p.progress.jujuLeader, err = u.Tools.IsLeader(ctx); err != nil {
			return err
		}
	}
	if err := u.observeAddress(ctx, a, u.usedAddresses(ctx, p.result.Snapshot)); err != nil {
		return err
	}
	settings, err := u.leaderSettings(ctx, p, m.AppData)
	if err != nil {
		return err
	}
	p.progress.accepted = relation.ParseAccepted(settings)
	for _, key := range relation.SupersedeThemselves(settings) {
		u.Log.WarnContext(ctx, "a leader setting names the application's own cluster as one that was replaced; ignoring that", "setting", key)
	}
	if p.progress.clusters, a.problem = parseClusters(settings); len(p.progress.clusters.IDs) == len(ovndb.Databases()) {
		r.LeaderSettings = settings
	}
	if err := r.certificates.Observe(ctx, p.certificatesSnapshot()); err != nil || !a.thorough {
		return err
	}
	return u.observeClients(ctx, a)
}

// observeAddress chooses the address of each binding. used are those at which this unit's servers are
// members.
func (u *Reconciler) observeAddress(ctx context.Context, a *inputs, used []netip.Addr) error {
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("cannot find this machine's name: %w", err)
	}
	a.hosts = []string{host}
	if len(used) > 0 {
		a.member = used[0]
	}
	if a.looks && !a.thorough && len(used) > 0 && !u.lastFound(finding.AddressChanged) && slices.Contains(u.machineAddresses(ctx), used[0]) {
		a.address, a.primary, a.addresses = used[0], used[:1:1], used[:1:1]
		return nil
	}
	endpoints := []string{relation.Peer}
	if a.thorough {
		endpoints = append(endpoints, relation.OVSDB, relation.CMS)
	}
	for _, endpoint := range endpoints {
		network, err := u.Tools.NetworkGet(ctx, endpoint, "")
		if err != nil {
			return err
		}
		var primary netip.Addr
		if endpoint == relation.Peer {
			a.address, a.better = network.Choose(network.Bind, used, u.machineAddresses(ctx))
			primary = a.address
		} else {
			primary, _ = network.Choose(network.Bind, []netip.Addr{a.address}, nil)
		}
		if primary.IsValid() {
			a.primary = union(a.primary, []netip.Addr{primary})
		}
		a.addresses = union(a.addresses, network.Bind, network.Ingress)
		a.hosts = union(a.hosts, network.Hostnames)
	}
	a.addresses = union(a.addresses, a.primary)
	return nil
}

// usedAddresses are those at which this unit's servers are members, or join: what their status
// says, else what their files say. They can't be changed.
func (u *Reconciler) usedAddresses(ctx context.Context, snapshot observe.Snapshot) (all []netip.Addr) {
	for _, db := range ovndb.Databases() {
		l := snapshot.Servers[db]
		raftAddress := l.Status.Address
		switch l.Condition {
		case ovndb.Absent, ovndb.Left, ovndb.Standalone:
			continue
		case ovndb.Serving:
		default:
			var err error
			if raftAddress, err = u.Files.Address(ctx, db); err != nil {
				u.Log.WarnContext(ctx, "cannot read the address in the database file", "database", db.Short(), "error", err)
			}
		}
		if address, err := netip.ParseAddr(ovndb.HostOf(raftAddress)); err == nil {
			all = union(all, []netip.Addr{address})
		}
	}
	return all
}

// machineAddresses are those that the machine itself has.
func (u *Reconciler) machineAddresses(ctx context.Context) (all []netip.Addr) {
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		u.Log.WarnContext(ctx, "cannot list this machine's addresses; using those that Juju knows", "error", err)
	}
	for _, each := range interfaces {
		if prefix, err := netip.ParsePrefix(each.String()); err == nil {
			all = append(all, prefix.Addr())
		}
	}
	return all
}

// union has each of the parts' items once, in the order in which they come.
func union[T comparable](parts ...[]T) (all []T) {
	for _, part := range parts {
		for _, item := range part {
			if !slices.Contains(all, item) {
				all = append(all, item)
			}
		}
	}
	return all
}

// leaderSettings are what the Juju leader has published. What is remembered stands where
// they are not asked for, and where they can't be read.
func (u *Reconciler) leaderSettings(ctx context.Context, p *pass, published relation.Data) (map[string]string, error) {
	a, remembered := &p.inputs, p.record.LeaderSettings
	if !a.thorough && len(remembered) > 0 {
		return remembered, nil
	}
	settings, err := u.Tools.LeaderGet(ctx)
	if !errors.Is(err, juju.ErrNoTool) {
		return settings, err
	}
	// Juju 4 has no leader settings any more. Without the relation there is nothing to be
	// read, which says nothing of what stands there.
	if published.Unread() {
		a.blind, a.unrelated = true, len(remembered) == 0
		return remembered, nil
	}
	// A model that was migrated from Juju 3 has lost them, and its clusters are there.
	clusters, problems := relation.ParseClusters(published.Values())
	if len(clusters.IDs) == 0 && len(problems) == 0 && len(remembered) > 0 {
		p.progress.migrated = true
		return remembered, nil
	}
	return published.Values(), nil
}

// parseClusters reads the IDs of the clusters. Settings that are damaged must not look as if
// there were none: the leader would make new clusters.
func parseClusters(settings map[string]string) (clusters relation.Clusters, problem string) {
	clusters, problems := relation.ParseClusters(settings)
	switch {
	case len(problems) > 0:
		problem = problems[0]
	case len(clusters.IDs) == 1:
		problem = "the leader settings name one cluster only"
	}
	return clusters, problem
}

// relations are those of an endpoint, without one that is being broken, which
// can be neither read nor written.
func (u *Reconciler) relations(ctx context.Context, endpoint string) ([]string, error) {
	ids, err := u.Tools.RelationIDs(ctx, endpoint)
	return u.Env.Unbroken(ids), err
}

func (u *Reconciler) observeClients(ctx context.Context, a *inputs) error {
	for _, endpoint := range []string{relation.OVSDB, relation.CMS} {
		ids, err := u.relations(ctx, endpoint)
		if err != nil {
			return err
		}
		for _, id := range ids {
			c := client{id: id}
			if endpoint == relation.CMS {
				if c.addresses, err = u.cmsAddresses(ctx, id); err != nil {
					return err
				}
			}
			a.clients = append(a.clients, c)
		}
	}
	return nil
}

// cmsAddresses are those from which the units of a CMS connect. What one of them
// publishes can't be allowed to hinder the others.
func (u *Reconciler) cmsAddresses(ctx context.Context, id string) (all []netip.Addr, err error) {
	units, err := u.Tools.RelationUnits(ctx, id)
	if err != nil && !errors.Is(err, juju.ErrNotFound) {
		return nil, err
	}
	for _, unit := range units {
		databag, err := u.Tools.RelationGet(ctx, id, unit)
		if err != nil && !errors.Is(err, juju.ErrNotFound) {
			return nil, err
		}
		address, found, err := relation.ClientAddress(databag)
		if err != nil {
			u.Log.WarnContext(ctx, "a client publishes no address", "unit", unit, "error", err)
		}
		if found && !slices.Contains(all, address) {
			all = append(all, address)
		}
	}
	return all, nil
}
