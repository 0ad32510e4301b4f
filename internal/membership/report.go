package membership

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Row is one member of a cluster, with what is known of it.
type Row struct {
	raft.Peer
	Owner Owner
	// Leaving says that its unit is being removed.
	Leaving bool
	// Clients is how many clients its server has, of another unit's about and as of its
	// last hook; nil where that is not known.
	Clients *int
}

// Label is what stands at the end of the member's line: its unit, or UNKNOWN.
func (r Row) Label() string {
	switch {
	case r.Owner.Unit != "" && r.Leaving:
		return r.Owner.Unit + " (leaving)"
	case r.Owner.Unit != "":
		return r.Owner.Unit
	case r.Owner.Departing:
		return "UNKNOWN (was " + r.Owner.Was + ", removed; may still be leaving)"
	case r.Owner.Was != "":
		return "UNKNOWN (was " + r.Owner.Was + ")"
	}
	return "UNKNOWN"
}

// Cluster is one database's cluster as this unit sees it.
type Cluster struct {
	ServerState
	View raft.View
	// Quorum is meaningful where Condition is Serving.
	Quorum raft.Quorum
	Rows   []Row
	// Damage is what this unit's own file lacks of its server's log; see [ovndb.Service.Missing].
	Damage string
}

// Report is what this unit sees of both clusters.
type Report struct {
	Application Application
	Clusters    []Cluster
}

// Report looks at both clusters. What is wrong with one does not hide the other.
func (s *Observer) Report(ctx context.Context, m Application, servers map[ovndb.Database]ServerState) Report {
	return s.report(m, s.clusters(ctx, servers))
}

// clusters looks at both clusters at the same time, without knowing whose the
// members are.
func (s *Observer) clusters(ctx context.Context, servers map[ovndb.Database]ServerState) map[ovndb.Database]Cluster {
	var (
		mu  sync.Mutex
		wg  sync.WaitGroup
		all = map[ovndb.Database]Cluster{}
	)
	for _, d := range ovndb.Databases() {
		wg.Go(func() {
			c := Cluster{ServerState: servers[d]}
			if c.Condition == ovndb.Serving {
				view, err := s.View(ctx, c.ServerState, nil)
				if c.View, c.Status = view, view.Status; err != nil {
					c.Condition, c.Err = ovndb.Unreadable, err
				} else if c.Damage, err = s.MissingEntries(ctx, c.ServerState); err != nil {
					s.Log.WarnContext(ctx, "cannot find out whether the server's file is whole", "database", d.Short(), "error", err)
				} else if c.Damage != "" && !slices.Contains(c.View.Lost, c.Status.Server) {
					c.View.Lost = append(c.View.Lost, c.Status.Server)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all[d] = c
		})
	}
	wg.Wait()
	return all
}

// report adds whose the members are.
func (s *Observer) report(m Application, seen map[ovndb.Database]Cluster) Report {
	report := Report{Application: m}
	for _, d := range ovndb.Databases() {
		c := seen[d]
		if c.Condition == ovndb.Serving {
			c.View.Names = m.Names(d)
			c.Quorum = c.View.Quorum()
			for _, p := range c.View.Peers() {
				o := m.Owner(d, p)
				row := Row{Peer: p, Owner: o, Leaving: o.Unit != "" && m.Dying(o.Unit)}
				if o.Unit != "" {
					row.Clients = s.clientsOf(m, d, o.Unit)
				}
				c.Rows = append(c.Rows, row)
			}
		}
		report.Clusters = append(report.Clusters, c)
	}
	return report
}

// ClusterText is the status as ovsdb-server prints it, with the time of the last
// message, which says little on a follower, replaced by the member's unit.
func ClusterText(c Cluster) string {
	if c.Condition != ovndb.Serving {
		return fmt.Sprintf("%s: %s", c.Database, c.ServerState.Text())
	}
	s := c.Status
	s.Servers = slices.Clone(s.Servers)
	for i := range s.Servers {
		m := &s.Servers[i]
		m.LastMsg = nil
		m.Extra += " " + c.Rows[i].Label() // a row that renders has its rest led by a space
	}
	return strings.TrimSuffix(s.String(), "\n")
}

// tolerance says how many failures the cluster survives from now on.
func tolerance(c Cluster, m Application) string {
	name := c.Database.Short()
	switch t := c.Quorum.Tolerance(); {
	case c.Condition != ovndb.Serving:
		return fmt.Sprintf("%s: not known (%s)", name, c.Condition)
	case c.Status.State == raft.JoiningCluster:
		return name + ": not known (joining)"
	case healthOf(c) == noQuorum:
		return fmt.Sprintf("%s: no quorum as seen from this unit (%s)", name, leaderText(c, m))
	case t < 0 && healthOf(c) != working:
		return fmt.Sprintf("%s: not known (%s)", name, leaderText(c, m))
	default:
		return fmt.Sprintf("%s: %d more of %d members may fail (%d up)", name, max(t, 0), c.Quorum.Members, c.Quorum.Up)
	}
}

// Tolerance is that of both clusters, a line each.
func Tolerance(r Report) []string {
	var all []string
	for _, c := range r.Clusters {
		all = append(all, tolerance(c, r.Application))
	}
	return all
}

// Warnings lists what an operator should know, most pressing first.
func Warnings(r Report) []string {
	var all []string
	if text := noQuorumText(r); text != "" {
		all = append(all, text)
	}
	for _, c := range r.Clusters {
		name := c.Database.Short()
		if c.Condition != ovndb.Serving {
			all = append(all, name+": "+c.ServerState.Text())
			continue
		}
		if _, text := problem(c, r.Application); text != "" && healthOf(c) != noQuorum {
			all = append(all, text)
		}
		if c.Damage != "" {
			all = append(all, fmt.Sprintf("%s: the file of this unit's server lacks entries, so it must not be stopped (%s)", name, c.Damage))
		}
		for _, row := range c.Rows {
			all = append(all, warnings(r, c, row)...)
		}
		switch n := len(c.Rows); {
		case c.Status.State == raft.JoiningCluster:
		case n < 3:
			all = append(all, fmt.Sprintf("%s: %d members; fewer than 3 tolerate no failure", name, n))
		case n%2 == 0:
			all = append(all, fmt.Sprintf("%s: %d members; an even number tolerates no more failures than %d", name, n, n-1))
		}
		for _, line := range c.Status.Unknown {
			all = append(all, fmt.Sprintf("%s: ovsdb-server says something that this charm does not know: %q", name, line.Text))
		}
	}
	all = append(all, foreignClusters(r)...)
	all = append(all, r.Application.Unpublished()...)
	return append(all, r.Application.Problems...)
}

// warnings tells apart the ways in which a member can be wrong.
func warnings(r Report, c Cluster, row Row) []string {
	var all []string
	name := c.Database.Short()
	who := fmt.Sprintf("%s: %s at %s, %s,", name, row.Short, row.Address, row.Label())
	if !row.Up && c.Quorum.Up > 0 {
		all = append(all, fmt.Sprintf("%s is down: %s", who, row.Why))
	}
	if owner := wrongDatabase(r, c.Database, row); owner != "" {
		all = append(all, fmt.Sprintf("%s is a server of %s: it votes here and holds nothing", who, owner))
	} else if row.Owner.Stale {
		all = append(all, who+" is stale: no unit of the model stands behind it"+UpWithoutUnit(row.Up))
	}
	if row.Extra != "" {
		all = append(all, fmt.Sprintf("%s has something that this charm does not know: %q", who, row.Extra))
	}
	for _, other := range c.Rows {
		if other.Address == row.Address && other.Short < row.Short {
			all = append(all, fmt.Sprintf("%s: two members have the address %s: %s (%s) and %s (%s)", name, row.Address, other.Short, other.Label(), row.Short, row.Label()))
		}
	}
	return all
}

// UpWithoutUnit says what a member that is up does without a unit: nothing has stopped its
// services, and ovn-northd needs no membership to write.
func UpWithoutUnit(up bool) string {
	if !up {
		return ""
	}
	return "; it is up: its servers and its ovn-northd go on until its machine is off"
}

// wrongDatabase recognises a server of the other database, which ovsdb-server
// lets in: by its ID, or by its port.
func wrongDatabase(r Report, d ovndb.Database, row Row) string {
	other := d.Other()
	for _, unit := range r.Application.Published.Names() {
		if id := r.Application.Published[unit][other].Server; id != "" && len(id) > 4 && id == row.ID {
			return fmt.Sprintf("%s, of %s", other, unit)
		}
	}
	if ovsdb.RaftPort(row.Address) == ovsdb.DefaultRaftPort(other) {
		return string(other)
	}
	return ""
}

// foreignClusters names the units whose server is in a cluster of its own.
func foreignClusters(r Report) []string {
	var all []string
	for _, c := range r.Clusters {
		if c.Condition != ovndb.Serving || c.Status.Cluster == nil {
			continue
		}
		for _, unit := range r.Application.Published.Names() {
			if id := r.Application.Published[unit][c.Database].Cluster; id != "" && id != *c.Status.Cluster {
				all = append(all, fmt.Sprintf("%s: %s is in another cluster, %s; this unit's is %s", c.Database.Short(), unit, id, *c.Status.Cluster))
			}
		}
	}
	return all
}

// stale is a member to kick, in one database or in both.
type stale struct {
	// unit is the one that it was of; empty where that is not known.
	unit    string
	targets map[ovndb.Database]string
	force   bool
	rows    map[ovndb.Database]Row
}

// Next lists the commands to run, where something needs doing: each one passes
// the rules of the action as printed.
func Next(r Report) []string {
	var all []string
	for _, c := range r.Clusters {
		if c.Member() && c.Quorum.Up == 0 {
			return []string{StatusCommand(r.Application, OtherUnit(r.Application, viewsOf(r)))} // first of all, who sees a leader
		}
	}
	for _, k := range staleMembers(r) {
		all = append(all, KickCommand(r.Application, runOn(r.Application, viewsOf(r)), k.targets, k.force))
	}
	return all
}

// kickStale is the shorter line for a status: it names the former unit where that
// means these members and no others.
func kickStale(r Report, k *stale) string {
	on := runOn(r.Application, viewsOf(r))
	if hasOnly(r.Application, viewsOf(r), k.unit, k.targets) {
		return kickUnitCommand(r.Application, on, k.unit, k.force)
	}
	return KickCommand(r.Application, on, shortened(k.targets), k.force)
}

// staleMembers lists the members that nobody stands behind and that may be kicked now,
// those of one former unit together.
func staleMembers(r Report) []*stale {
	var all []*stale
	byUnit := map[string]*stale{}
	for _, c := range r.Clusters {
		for _, row := range c.Rows {
			if !row.Owner.Stale {
				continue
			}
			plan := raft.PlanKick(raft.Change{Database: c.Database, View: c.View, Target: row.Longest(), Force: row.Up})
			if plan.Refusal != nil {
				continue
			}
			k := byUnit[row.Owner.Was]
			if k == nil || row.Owner.Was == "" || k.targets[c.Database] != "" {
				k = &stale{unit: row.Owner.Was, targets: map[ovndb.Database]string{}, rows: map[ovndb.Database]Row{}}
				all = append(all, k)
				byUnit[row.Owner.Was] = k
			}
			k.targets[c.Database], k.rows[c.Database] = row.Longest(), row
			k.force = k.force || row.Up
		}
	}
	return all
}
