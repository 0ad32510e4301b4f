// Package publish publishes a unit's data to Juju, the other units and the clients.
package publish

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/jujuleader"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/restarts"
	"github.com/ovn-central/ovn-central-operator/internal/restore"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// Juju is the part of Juju's tools that the manager needs.
type Juju interface {
	RelationSet(ctx context.Context, id string, values map[string]string) error
	RelationSetApp(ctx context.Context, id string, values map[string]string) error
	OpenPorts(ctx context.Context, ports ...int) error
	ApplicationVersionSet(ctx context.Context, version string) error
}

// Manager publishes a unit's data: the facts, and what other managers have recorded.
type Manager struct {
	Juju     Juju
	Event    juju.Event
	Leader   *jujuleader.Manager
	Restarts *restarts.Manager
	Recovery *restore.Unit
	State    *unitstate.State
	Log      *slog.Logger
}

// versionLost are the hooks in which Juju may lack the version: it discards the version that a failing hook has set.
var versionLost = []juju.Event{juju.Start, juju.ConfigChanged, juju.UpgradeCharm, juju.LeaderElected}

// kept has the last published data.
type kept struct {
	// Peers is the digest of the data that a thorough hook last published to the peers.
	Peers string `json:"told,omitempty"`
	// Clients is the last published number of clients of each server.
	Clients map[ovndb.Database]int `json:"clients,omitempty"`
	// Addresses are the last published addresses, by client relation. Ports and Version are the last ones set in Juju.
	Addresses map[string]string `json:"published,omitempty"`
	Ports     []int             `json:"ports,omitempty"`
	Version   string            `json:"version,omitempty"`
}

var section = unitstate.NewSection[kept]("published")

// Ensure publishes changed data. It has no findings; the error is from one of Juju's tools.
func (m *Manager) Ensure(ctx context.Context, o facts.Facts) ([]finding.Finding, error) {
	if o.Preview {
		return nil, nil
	}
	last := section.Get(m.State)
	for _, publish := range []func(context.Context, facts.Facts, *kept) error{m.toPeers, m.toClients, m.toJuju} {
		if err := publish(ctx, o, &last); err != nil {
			return nil, err
		}
	}
	return nil, section.Set(m.State, last)
}

// toPeers writes this unit's data to every peer relation. The leader also writes the history, and the clusters' IDs
// if only the units' records have them. Unless the hook is thorough, toPeers doesn't repeat data. It then doesn't
// record the data as published either, since Juju drops it if the hook fails.
func (m *Manager) toPeers(ctx context.Context, o facts.Facts, last *kept) error {
	databag, history := identities(o, m.Leader.Clusters.IDs).Databag(), map[string]string(nil)
	last.Clients = clients(o, last.Clients)
	maps.Copy(databag, m.unit(o, last.Clients).Databag())
	if m.Leader.Leads {
		history = o.Application.History.Databag()
		maps.Copy(history, members(o).Databag())
		if m.Leader.Migrated {
			maps.Copy(history, m.Leader.Clusters.Settings())
		}
	}
	text, err := json.Marshal([]any{o.Application.Relations, databag, history})
	if err != nil {
		return fmt.Errorf("cannot publish to the peers: %w", err)
	}
	sum := unitstate.Digest(text)
	if !o.Thorough && sum == last.Peers {
		return nil
	}
	for _, id := range o.Application.Relations {
		if err := m.Juju.RelationSet(ctx, id, databag); err != nil {
			return err
		}
		if !m.Leader.Leads {
			continue
		}
		if err := m.Juju.RelationSetApp(ctx, id, history); err != nil {
			// Another unit may have become the leader meanwhile; that unit then publishes it.
			m.Log.WarnContext(ctx, "cannot publish the history", "error", err)
		}
	}
	if last.Peers = ""; o.Thorough {
		last.Peers = sum
	}
	return nil
}

// toClients publishes this unit's address to the clients once its servers are members, and again when the address
// changes. The address stays published while a server is down: clients try all units.
func (m *Manager) toClients(ctx context.Context, o facts.Facts, last *kept) error {
	if !o.Decision.Ready {
		return nil
	}
	own, relations := o.Addresses.Own, []string(nil)
	address := relation.FormatAddress(own)
	for _, c := range o.Clients {
		relations = append(relations, c.ID)
	}
	if !o.Thorough {
		// New relations have thorough hooks of their own, so only a new address remains to be published.
		for id, before := range last.Addresses {
			if before != address {
				relations = append(relations, id)
			}
		}
	}
	for _, id := range relations {
		if err := m.Juju.RelationSet(ctx, id, relation.BoundAddress(own)); err != nil {
			return err
		}
	}
	if o.Thorough || last.Addresses == nil {
		last.Addresses = map[string]string{}
	}
	for _, id := range relations {
		last.Addresses[id] = address
	}
	return nil
}

// toJuju opens the ports for clients in each thorough hook, since Juju drops the requests of a failed hook. It sets
// the version if Juju doesn't have it. Raft's ports are only for the peers, and `juju expose` must not open the port
// on which the Southbound database has no roles.
func (m *Manager) toJuju(ctx context.Context, o facts.Facts, last *kept) error {
	if o.Decision.Ready {
		ports := []int{int(ovndb.NorthboundPort), int(ovndb.SouthboundPort)}
		if o.Thorough || !slices.Equal(ports, last.Ports) {
			if err := m.Juju.OpenPorts(ctx, ports...); err != nil {
				return err
			}
			last.Ports = ports
		}
	}
	version := o.State.Packages.Version.OVN
	if !o.State.Packages.Installed || version == "" || version == last.Version && !slices.Contains(versionLost, m.Event) {
		return nil
	}
	if err := m.Juju.ApplicationVersionSet(ctx, ovndb.Upstream(version)); err != nil {
		return err
	}
	last.Version = version
	return nil
}

func members(o facts.Facts) relation.Members {
	all := relation.Members{}
	for _, db := range ovndb.Databases() {
		l := o.Servers[db]
		if !l.MemberWithLeader() {
			continue
		}
		for _, m := range l.Status.Servers {
			all[db] = append(all[db], m.Address)
		}
	}
	return all
}

// identities returns the identities of this unit's servers. A database of another cluster on this machine belongs to
// no unit; clusters are the application's. No server can join through a server that is still joining, which has no
// cluster.
func identities(o facts.Facts, clusters map[ovndb.Database]raft.ID) relation.Identities {
	own := maps.Clone(o.Own)
	for _, db := range ovndb.Databases() {
		l, id, cluster := o.Servers[db], own[db], clusters[db]
		serves := l.Condition == ovndb.Serving
		ours := id.Cluster == cluster || o.State.Packages.Adopted && cluster == ""
		switch {
		case id.Cluster != "" && !ours && (!serves || cluster == ""):
			delete(own, db)
		case serves && l.Status.State == raft.JoiningCluster:
			id.Cluster = ""
			own[db] = id
		}
	}
	return own
}

// unit returns the data for the other units. clients has the numbers of the servers' clients.
func (m *Manager) unit(o facts.Facts, clients map[ovndb.Database]int) relation.UnitState {
	x := o.State
	d := relation.UnitState{
		Running: m.Restarts.Running(x.Packages.Version), Withdrawn: m.Leader.Withdrawn(),
		Requests: m.Recovery.Answered(x.Recovery), Copies: restore.Copies(x.Recovery), Rejoin: m.Recovery.Rejoin,
	}
	d.Address, d.Hostname, d.Clients = o.Addresses.Own, o.Addresses.Hosts[0], clients
	d.Source, d.Paused, d.DiskFull = x.Packages.Source, x.Paused, x.Disk != ""
	if x.Northd.Works() || x.Northd == ovndb.NorthdUnresponsive {
		d.Northd = x.Northd
	}
	d.NorthdAsked, d.NorthdHeard = x.Northds.Asked, northdHeard(o.Application)
	d.Charm, d.CharmsSeen = o.Application.Charm, o.Application.OtherCharms()
	d.NoRoom, d.Unusable = map[ovndb.Database]bool{}, map[ovndb.Database]bool{}
	for db, x := range x.Databases {
		d.NoRoom[db] = len(x.ConversionLacks()) > 0
		d.Unusable[db] = x.Condition != ovndb.Serving && x.Replaceable()
	}
	if used := x.Certificates.Used; used != nil && used.Problem.IsZero() {
		d.Trusts, d.Issuer = used.Trusts, used.Issuer
	}
	return d
}

// northdHeard returns when the other units asked about this unit's ovn-northd, for the requests that this hook has
// read.
func northdHeard(m observe.Application) map[string]time.Time {
	heard := map[string]time.Time{}
	for _, unit := range m.Others() {
		if asked := m.Peers[unit].State.NorthdAsked; !asked.IsZero() {
			heard[unit] = asked
		}
	}
	return heard
}

func clients(o facts.Facts, last map[ovndb.Database]int) map[ovndb.Database]int {
	about := map[ovndb.Database]int{}
	for _, c := range o.Report.Clusters {
		for _, row := range c.Rows {
			if row.Self && row.Clients != nil {
				about[c.Database] = plan.AboutClients(last[c.Database], *row.Clients)
			}
		}
	}
	return about
}
