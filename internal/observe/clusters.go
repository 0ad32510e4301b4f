package observe

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/machine"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

// Row is one member of a cluster, with its owner.
type Row struct {
	raft.Peer
	Owner Owner
	// Leaving reports whether the member's unit is being removed.
	Leaving bool
	// Clients is the number of clients of the member's server; nil if unknown. For another unit's server it is
	// approximate, and as of that unit's last hook.
	Clients *int
}

// Label returns the unit as shown in the member's line, or UNKNOWN.
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
	// Quorum is valid if Condition is Serving.
	Quorum raft.Quorum
	Rows   []Row
	// Damage describes the entries of its server's log that this unit's file lacks ([Observer.MissingEntries]). It is
	// valid if the file was Checked.
	Damage  finding.Reason
	Checked bool
	// Facts are facts about this unit's server; nil if not requested.
	Facts *ServerFacts
}

// Report is this unit's view of both clusters.
type Report struct {
	Application Application
	Clusters    []Cluster
	// At is the time of the report.
	At time.Time
}

// Report observes both clusters. A failure of one does not hide the other.
func (s *Observer) Report(ctx context.Context, m Application, servers map[ovndb.Database]ServerState) Report {
	return s.report(m, s.clusters(ctx, servers))
}

// mostUnread limits how much of a file is read for a report that is made every few seconds: 32 MiB take less than a
// second. If more was appended, as after a compaction, the unit's next hook reads it.
const mostUnread = 32 << 20

// ReportRemembered makes a report without Juju: the unit's last hook has found the owners of the members. Of files it
// only reads appended data, up to a limit, and it calls no member stale.
func (s *Observer) ReportRemembered(ctx context.Context) Report {
	cache := s.loadCache(ctx)
	m := Application{
		Unit: s.Env.Unit, Published: cache.Published, History: cache.History, Places: cache.Places,
		Former: cache.Former,
	}
	seen := map[ovndb.Database]Cluster{}
	for d, server := range s.ObserveServers(ctx) {
		c, ok := s.cluster(ctx, server)
		if ok && raftfile.Unread(s.Files.Paths, d) <= mostUnread {
			s.checkFile(ctx, &c)
		}
		seen[d] = c
	}
	return s.report(m, seen)
}

// cluster returns one cluster; ok reports whether the member's own file still has to be checked.
func (s *Observer) cluster(ctx context.Context, server ServerState) (c Cluster, ok bool) {
	c = Cluster{ServerState: server}
	if c.Condition != ovndb.Serving {
		return c, false
	}
	view, err := s.View(ctx, server, nil)
	if c.View, c.Status = view, view.Status; err != nil {
		c.Condition, c.Err = ovndb.Unreadable, err
	}
	return c, err == nil
}

func (s *Observer) checkFile(ctx context.Context, c *Cluster) {
	var err error
	c.Damage, err = s.MissingEntries(ctx, c.ServerState)
	if c.Checked = err == nil; !c.Checked {
		s.Log.WarnContext(ctx, "cannot find out whether the server's file is whole",
			"database", c.Database.Short(), "error", err)
	} else if !c.Damage.IsZero() && !slices.Contains(c.View.Lost, c.Status.Server) {
		c.View.Lost = append(c.View.Lost, c.Status.Server)
	}
}

// clusters observes both clusters at the same time, without the members' owners.
func (s *Observer) clusters(ctx context.Context, servers map[ovndb.Database]ServerState) map[ovndb.Database]Cluster {
	return both(func(d ovndb.Database) Cluster {
		c, ok := s.cluster(ctx, servers[d])
		if ok {
			s.checkFile(ctx, &c)
		}
		return c
	})
}

func both[T any](observe func(ovndb.Database) T) map[ovndb.Database]T {
	all := AtOnce(ovndb.Databases(), observe)
	return map[ovndb.Database]T{ovndb.NB: all[0], ovndb.SB: all[1]}
}

// AtOnce calls do for all items at the same time, and returns the results in their order.
func AtOnce[T, R any](items []T, do func(T) R) []R {
	results := make([]R, len(items))
	var wg sync.WaitGroup
	for i, item := range items {
		wg.Go(func() { results[i] = do(item) })
	}
	wg.Wait()
	return results
}

func (s *Observer) report(m Application, seen map[ovndb.Database]Cluster) Report {
	report := Report{Application: m, At: s.Now()}
	clients, _ := s.CountClients() // if the system can't be asked, the report has no numbers
	for _, d := range ovndb.Databases() {
		c := seen[d]
		c.excludeFormer(m.Former[d])
		if c.Condition == ovndb.Serving {
			c.View.Names = m.Names(d)
			c.Quorum = c.View.Quorum()
			for _, p := range c.View.Peers() {
				o := m.Owner(d, p)
				row := Row{Peer: p, Owner: o, Leaving: o.Unit != "" && m.Dying(o.Unit)}
				if o.Unit != "" {
					row.Clients = clientsOf(m, clients, d, o.Unit)
				}
				c.Rows = append(c.Rows, row)
			}
		}
		report.Clusters = append(report.Clusters, c)
	}
	return report
}

// CountClients returns the number of connections to the client ports of each of this unit's servers. It returns an
// error if the system can't be asked.
func (s *Observer) CountClients() (map[ovndb.Database]ovndb.Clients, error) {
	if s.Clients != nil {
		return s.Clients()
	}
	return machine.CountClients()
}

// clientsOf returns the number of a server's clients, nil if unknown. This unit's clients are counted now, those of
// another unit are approximate and as of its last hook.
func clientsOf(m Application, now map[ovndb.Database]ovndb.Clients, db ovndb.Database, unit string) *int {
	if unit != m.Unit {
		if n, known := m.Peers[unit].State.Clients[db]; known {
			return &n
		}
		return nil
	}
	if n, counted := now[db]; counted {
		return &n.Connected
	}
	return nil
}

// QuorumWithout determines the quorum of the other members of a cluster without this unit's server l, which does not
// answer. log is the log in its file, which lists the members. Since then some members may have joined or left, or this
// one may have been removed (removed).
func (s *Observer) QuorumWithout(
	ctx context.Context, m Application, cache Cache, l ServerState, log raftfile.Log,
) (q raft.Quorum, removed bool) {
	d, file := l.Database, l.File
	members := maps.Clone(log.Addresses)
	for unit, published := range m.Published {
		id := published[d]
		if _, known := members[id.Server]; known || id.Server == "" || id.Since == 0 || !m.Exists(unit) ||
			id.OfAnother(file.Cluster) {
			continue
		}
		members[id.Server] = ""
		if address := m.Peers[unit].State.Address; address.IsValid() {
			members[id.Server] = ovndb.RaftAddress(d, address.String())
		}
	}
	asked := raft.Status{}
	for id, address := range members {
		asked.Servers = append(asked.Servers, raft.Member{
			Short: id.Short(), Address: address,
			Self: id == file.Server || address == "",
		})
	}
	answers := s.Probe(ctx, ServerState{Database: d, Status: asked})
	gone := func(id raft.ID) bool { return cache.RemovedBefore(d, id) }
	for _, a := range answers {
		if records, err := s.readRemovals(ctx, d, ovsdb.Endpoints(d, a.Address)...); err == nil {
			gone = func(id raft.ID) bool { return cache.RemovedBefore(d, id) || records[id] != "" }
			break
		}
	}
	maps.DeleteFunc(members, func(id raft.ID, _ string) bool { return gone(id) })
	return raft.QuorumWithout(members, file.Cluster, answers), gone(file.Server)
}
