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

// Trigger is why, and how thoroughly, a unit is looked at.
type Trigger struct {
	event juju.Event
	// thorough is set if Juju is asked for everything, looks if only [Reconciler.Look] needs it. preview is set if no step
	// is made.
	thorough, looks, preview bool
}

// Snapshot is what Juju and the machine have shown. A step does not change it: the unit is observed again after it.
type Snapshot struct {
	Trigger
	observe.Snapshot
	Report observe.Report
	network
	// fromJuju are the parts of the decision's input that Juju knows, state is all of it.
	fromJuju, state plan.State
	// clients are the relations to applications that use the databases; known only if thorough is set.
	clients []client
}

// network has a unit's addresses: address on the peer binding, addresses of all
// bindings that were asked for, hosts its names. Of those, primary are the ones of each
// binding at which this unit sends others to it. Better is what a new unit would have in
// place of address, member the one in the files of the unit's databases;
// each is zero if there is none ([juju.Network.Choose]).
type network struct {
	address, better, member netip.Addr
	addresses, primary      []netip.Addr
	hosts                   []string
}

// client is a relation to units that use the databases.
type client struct {
	id string
	// addresses are those from which the units of a CMS connect.
	addresses []netip.Addr
}

// observe asks Juju what else a pass begins with. Where not thorough, relations other than the
// peers' are left out, and what the Juju leader has published is what it was.
func (u *Reconciler) observe(ctx context.Context, r *record, o Snapshot, thorough bool) (pass, error) {
	o.Trigger = u.trigger(thorough)
	p := pass{record: r, progress: newProgress(u.Now()), result: Result{Snapshot: o}}
	err := u.askJuju(ctx, &p)
	return p, err
}

func (u *Reconciler) trigger(thorough bool) Trigger {
	return Trigger{event: u.Env.Event(), thorough: thorough}
}

// askJuju completes a pass by what Juju says.
func (u *Reconciler) askJuju(ctx context.Context, p *pass) error {
	r, o, m := p.record, &p.result, p.result.Snapshot.Application
	p.progress.northd = r.Northd
	config, err := u.Tools.Config(ctx)
	if err != nil {
		return err
	}
	o.fromJuju.Settings, o.fromJuju.Invalid = u.parse(config)
	if !p.leaderless() {
		if p.progress.jujuLeader, err = u.Tools.IsLeader(ctx); err != nil {
			return err
		}
	}
	if err := u.observeAddress(ctx, &o.Snapshot, u.usedAddresses(ctx, p.result.Snapshot)); err != nil {
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
	x := &o.fromJuju
	x.Unit, x.Dying, x.Units, x.Integrate, x.Resumed = u.Env.Unit, m.Dying(u.Env.Unit), len(m.Goal), m.Version.Integrate(), u.Env.ActionName == "resume"
	x.Claim, x.Members = relation.ParseClaim(m.AppData.Values(), u.Env.Unit), relation.ParseMembers(m.AppData.Values())
	x.Peers = u.peers(ctx, m)
	if o.address.IsValid() {
		x.Address = o.address.String()
	}
	if o.better.IsValid() {
		x.Better = o.better.String()
	}
	if p.progress.clusters, x.Problem = parseClusters(settings); len(p.progress.clusters.IDs) == len(ovndb.Databases()) {
		r.LeaderSettings = settings
	}
	if err := r.certificates.Observe(ctx, p.certificatesSnapshot()); err != nil || !o.thorough {
		return err
	}
	return u.observeClients(ctx, &o.Snapshot)
}

// observeAddress chooses the address of each binding. used are those at which this unit's servers are
// members.
func (u *Reconciler) observeAddress(ctx context.Context, o *Snapshot, used []netip.Addr) error {
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("cannot find this machine's name: %w", err)
	}
	o.hosts = []string{host}
	if len(used) > 0 {
		o.member = used[0]
	}
	if o.looks && !o.thorough && len(used) > 0 && !u.lastFound(finding.AddressChanged) && slices.Contains(u.machineAddresses(ctx), used[0]) {
		o.address, o.primary, o.addresses = used[0], used[:1:1], used[:1:1]
		return nil
	}
	endpoints := []string{relation.Peer}
	if o.thorough {
		endpoints = append(endpoints, relation.OVSDB, relation.CMS)
	}
	for _, endpoint := range endpoints {
		network, err := u.Tools.NetworkGet(ctx, endpoint, "")
		if err != nil {
			return err
		}
		var primary netip.Addr
		if endpoint == relation.Peer {
			o.address, o.better = network.Choose(network.Bind, used, u.machineAddresses(ctx))
			primary = o.address
		} else {
			primary, _ = network.Choose(network.Bind, []netip.Addr{o.address}, nil)
		}
		if primary.IsValid() {
			o.primary = union(o.primary, []netip.Addr{primary})
		}
		o.addresses = union(o.addresses, network.Bind, network.Ingress)
		o.hosts = union(o.hosts, network.Hostnames)
	}
	o.addresses = union(o.addresses, o.primary)
	return nil
}

// usedAddresses are those at which this unit's servers are members, or join: what their status
// says, else what their files say. They can't be changed.
func (u *Reconciler) usedAddresses(ctx context.Context, snapshot Snapshot) (all []netip.Addr) {
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
	o, remembered := &p.result, p.record.LeaderSettings
	if !o.thorough && len(remembered) > 0 {
		return remembered, nil
	}
	settings, err := u.Tools.LeaderGet(ctx)
	if !errors.Is(err, juju.ErrNoTool) {
		return settings, err
	}
	// Juju 4 has no leader settings any more. Without the relation there is nothing to be
	// read, which says nothing of what stands there.
	if published.Unread() {
		o.fromJuju.Blind, o.fromJuju.Unrelated = true, len(remembered) == 0
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

func (u *Reconciler) observeClients(ctx context.Context, o *Snapshot) error {
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
			o.clients = append(o.clients, c)
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
