package publish

import (
	"maps"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// members returns the members of each database with a leader.
func (s Snapshot) members() relation.Members {
	all := relation.Members{}
	for _, db := range ovndb.Databases() {
		l := s.Servers[db]
		if !l.MemberWithLeader() {
			continue
		}
		for _, m := range l.Status.Servers {
			all[db] = append(all[db], m.Address)
		}
	}
	return all
}

// identities returns the identities of this unit's servers. An earlier database of the machine, of a cluster that is
// not the application's, belongs to no unit. No server can join through one that is joining itself, so that has no
// cluster.
func (s Snapshot) identities() relation.Identities {
	own := maps.Clone(s.Own)
	for _, db := range ovndb.Databases() {
		l, id, cluster := s.Servers[db], own[db], s.Clusters.IDs[db]
		serves := l.Condition == ovndb.Serving
		ours := id.Cluster == cluster || s.State.Packages.Adopted && cluster == ""
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

// unit returns the data for the other units; clients are the numbers of the servers' clients.
func (s Snapshot) unit(clients map[ovndb.Database]int) relation.UnitState {
	d, x := s.Recovery, s.State
	d.Address, d.Hostname, d.Source, d.Paused = s.Address, s.Hostname, x.Packages.Source, x.Paused
	d.Withdrawn, d.Running, d.Clients = s.Withdrawn, s.Running, clients
	if x.Northd.Works() {
		d.Northd = string(x.Northd)
	}
	d.NorthdAsked, d.NorthdHeard = x.Northds.Asked, northdHeard(s.Application)
	d.Charm, d.CharmsSeen = s.Application.Charm, s.Application.OtherCharms()
	d.NoRoom = map[ovndb.Database]bool{}
	for db, x := range x.Databases {
		d.NoRoom[db] = x.ConversionLacks() != ""
	}
	if used := x.Certificates.Used; used != nil && used.Problem == "" {
		d.Trusts, d.Issuer = used.Trusts, used.Issuer
	}
	return d
}

// northdHeard returns the times of the other units' questions about this unit's ovn-northd that this hook has read.
func northdHeard(m observe.Application) map[string]time.Time {
	heard := map[string]time.Time{}
	for _, unit := range m.Others() {
		if asked := m.Peers[unit].State.NorthdAsked; !asked.IsZero() {
			heard[unit] = asked
		}
	}
	return heard
}

// clients counts the clients of the running servers; last are the last published numbers.
func (s Snapshot) clients(last map[ovndb.Database]int) map[ovndb.Database]int {
	about := map[ovndb.Database]int{}
	for _, c := range s.Report.Clusters {
		for _, row := range c.Rows {
			if row.Self && row.Clients != nil {
				about[c.Database] = plan.AboutClients(last[c.Database], *row.Clients)
			}
		}
	}
	return about
}
