package reconcile

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// publish tells Juju, the peers, the provider of certificates and the clients
// what they need to know of this unit.
func (u *Reconciler) publish(ctx context.Context, p pass) error {
	r, a := p.record, p.inputs
	if err := u.publishToPeers(ctx, p); err != nil {
		return err
	}
	if a.thorough {
		for _, id := range a.certificates.relations {
			databag := a.certificates.request.Databag()
			if contains(a.certificates.published[id], databag) {
				continue
			}
			if err := u.Tools.RelationSet(ctx, id, databag); err != nil {
				return err
			}
		}
	}
	if err := u.publishToClients(ctx, p); err != nil {
		return err
	}
	if err := u.publishToJuju(ctx, p); err != nil {
		return err
	}
	if _, err := r.packages.Ensure(ctx, a.packagesSnapshot()); err != nil {
		return err
	}
	if err := u.credentials().SetModes(); err != nil { // Nagios' check reads the certificate
		u.Log.WarnContext(ctx, "cannot repair the unit's credentials; continuing", "error", err)
	}
	_, err := u.monitoringManager(r).Ensure(ctx, monitoringSnapshot(p))
	return err
}

// publishToPeers writes this unit's data, and as the leader the history, to every
// peer relation; and the clusters' IDs where units only remember them. Where not thorough,
// what Juju was told before is not repeated; and what it is told is not noted, since Juju
// drops it if the hook fails after all.
func (u *Reconciler) publishToPeers(ctx context.Context, p pass) error {
	r, a, o := p.record, p.inputs, p.result
	databag, history := u.own(p).Databag(), map[string]string(nil)
	maps.Copy(databag, u.unitState(p).Databag())
	if p.progress.jujuLeader {
		history = o.Snapshot.Application.History.Databag()
		maps.Copy(history, members(o.Snapshot).Databag())
		if p.progress.migrated {
			maps.Copy(history, p.progress.clusters.Settings())
		}
	}
	text, err := json.Marshal([]any{o.Snapshot.Application.Relations, databag, history})
	if err != nil {
		return fmt.Errorf("cannot publish to the peers: %w", err)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(text))
	if !a.thorough && sum == r.Told {
		return nil
	}
	for _, id := range o.Snapshot.Application.Relations {
		if err := u.Tools.RelationSet(ctx, id, databag); err != nil {
			return err
		}
		if !p.progress.jujuLeader {
			continue
		}
		if err := u.Tools.RelationSetApp(ctx, id, history); err != nil {
			// Another unit may have become the leader meanwhile, and will do it.
			u.Log.WarnContext(ctx, "cannot publish the history", "error", err)
		}
	}
	if r.Told = ""; a.thorough {
		r.Told = sum
	}
	return nil
}

// members are those of each database whose configuration this unit knows.
func members(snapshot observe.Snapshot) relation.Members {
	all := relation.Members{}
	for _, db := range ovndb.Databases() {
		l := snapshot.Servers[db]
		if !l.MemberWithLeader() {
			continue
		}
		for _, m := range l.Status.Servers {
			all[db] = append(all[db], m.Address)
		}
	}
	return all
}

// own are the identities of this unit's servers. A database that was on the
// machine before, of a cluster that is not the application's, is no unit's; and a
// server that still joins can let no other join through it.
func (u *Reconciler) own(p pass) relation.Identities {
	clusters, o := p.progress.clusters, p.result
	own := maps.Clone(o.Snapshot.Own)
	for _, db := range ovndb.Databases() {
		l, id := server(o, db), own[db]
		serves := l.Condition == ovndb.Serving
		ours := id.Cluster == clusters.IDs[db] || o.state.Packages.Adopted && clusters.IDs[db] == ""
		switch {
		case id.Cluster != "" && !ours && (!serves || clusters.IDs[db] == ""):
			delete(own, db)
		case serves && l.Status.State == raft.JoiningCluster:
			id.Cluster = ""
			own[db] = id
		}
	}
	return own
}

func (u *Reconciler) unitState(p pass) relation.UnitState {
	r, a, o := p.record, p.inputs, p.result
	d := relation.UnitState{Address: a.address, Hostname: a.hosts[0], Source: r.packages.Source(), Paused: r.Paused, Withdrawn: r.Withdrawn, Running: r.restarts.Running(o.state.Packages.Version)}
	if o.state.Northd.Works() {
		d.Northd = string(o.state.Northd)
	}
	d.NorthdAsked, d.NorthdHeard = o.state.Northds.Asked, northdHeard(o.Snapshot.Application)
	d.Clients = u.aboutClients(r, o)
	d.Requests, d.Copies, d.Asks, d.Rejoin = r.answered(o.state.Recovery), copies(o.state.Recovery), r.Asks, r.Rejoin
	d.NoRoom = map[ovndb.Database]bool{}
	for db, x := range o.state.Databases {
		d.NoRoom[db] = x.ConversionLacks() != ""
	}
	if used := o.state.Certificates.Used; used != nil && used.Problem == "" {
		d.Trusts, d.Issuer = used.Trusts, used.Issuer
	}
	return d
}

// northdHeard is when each other unit has asked how this unit's ovn-northd is, by what this hook has read.
func northdHeard(m observe.Application) map[string]time.Time {
	heard := map[string]time.Time{}
	for _, unit := range m.Others() {
		if asked := m.Peers[unit].State.NorthdAsked; !asked.IsZero() {
			heard[unit] = asked
		}
	}
	return heard
}

// aboutClients counts the clients of the servers that run, for the peers.
func (u *Reconciler) aboutClients(r *record, o Result) map[ovndb.Database]int {
	about := map[ovndb.Database]int{}
	for _, c := range o.Report.Clusters {
		for _, row := range c.Rows {
			if row.Self && row.Clients != nil {
				about[c.Database] = plan.AboutClients(r.Clients[c.Database], *row.Clients)
			}
		}
	}
	r.Clients = about
	return about
}

// publishToClients gives the clients this unit's address once its servers are
// members, and again when it changes. It is not taken back when a server is down
// for a while: clients have the other units', and try all.
func (u *Reconciler) publishToClients(ctx context.Context, p pass) error {
	r, a, o := p.record, p.inputs, p.result
	if !o.Decision.Ready {
		return nil
	}
	told, clients := relation.FormatAddress(a.address), a.clients
	if !a.thorough {
		// New relations have hooks of their own; what is left is a new address.
		for id, before := range r.Published {
			if before != told {
				clients = append(clients, client{id: id})
			}
		}
	}
	for _, c := range clients {
		if err := u.Tools.RelationSet(ctx, c.id, relation.BoundAddress(a.address)); err != nil {
			return err
		}
	}
	if a.thorough {
		r.Published = map[string]string{}
	}
	for _, c := range clients {
		r.Published[c.id] = told
	}
	return nil
}

// publishToJuju opens the ports for clients, wherever everything is asked for: Juju drops what a hook
// that fails has told it. It names the version where Juju was not told yet. Raft's ports are for the peers alone, and `juju expose` must not open
// the port at which the Southbound database knows no roles.
func (u *Reconciler) publishToJuju(ctx context.Context, p pass) error {
	r, o := p.record, p.result
	if o.Decision.Ready {
		ports := []int{int(ovndb.NorthboundPort), int(ovndb.SouthboundPort)}
		if p.inputs.thorough || !slices.Equal(ports, r.Ports) {
			if err := u.Tools.OpenPorts(ctx, ports...); err != nil {
				return err
			}
			closed := slices.DeleteFunc(r.Ports, func(port int) bool { return slices.Contains(ports, port) })
			if err := u.Tools.ClosePorts(ctx, closed...); err != nil {
				return err
			}
			r.Ports = ports
		}
	}
	if !o.state.Packages.Installed {
		return nil
	}
	version := o.state.Packages.Version.OVN
	if version == "" || version == r.Version && !u.anew() {
		return nil
	}
	if err := u.Tools.ApplicationVersionSet(ctx, ovndb.Upstream(version)); err != nil {
		return err
	}
	r.Version = version
	return nil
}

// anew says whether Juju is told the version again though it was before: it drops what a
// hook that fails has said.
func (u *Reconciler) anew() bool {
	return slices.Contains([]string{"start", "config-changed", "upgrade-charm", "leader-elected"}, u.Env.HookName)
}

// contains says whether the data on a relation are as wanted; an empty value stands
// for a key that is not there.
func contains(have, want map[string]string) bool {
	for key, value := range want {
		if have[key] != value {
			return false
		}
	}
	return true
}
