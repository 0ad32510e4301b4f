package observe

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
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
	// Damage is what this unit's own file lacks of its server's log ([Observer.MissingEntries]). Where the
	// file was not Checked it is empty and says nothing.
	Damage  string
	Checked bool
	// Facts are those of this unit's server, where they were asked for.
	Facts *ServerFacts
}

// Report is what this unit sees of both clusters.
type Report struct {
	Application Application
	Clusters    []Cluster
	// At is when it was made.
	At time.Time
}

// Report looks at both clusters. What is wrong with one does not hide the other.
func (s *Observer) Report(ctx context.Context, m Application, servers map[ovndb.Database]ServerState) Report {
	return s.report(m, s.clusters(ctx, servers))
}

// mostUnread bounds what is read of a file for a report that is made every few seconds: 32 MiB are read
// in less than a second. A longer rest, as behind a compaction, is left to the unit's next hook.
const mostUnread = 32 << 20

// ReportRemembered is a report for which Juju is not asked: whose the members are is what the
// unit's last hook has found. Of files what was appended is looked through, up to a bound, and no
// member is called stale.
func (s *Observer) ReportRemembered(ctx context.Context) Report {
	cache := s.loadCache(ctx)
	m := Application{Unit: s.Env.Unit, Published: cache.Published, History: cache.History, Places: cache.Places, Former: cache.Former}
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

// cluster is one cluster, of which the member's own file has still to be looked at where ok.
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

// checkFile counts this unit's member as down where its file lacks entries.
func (s *Observer) checkFile(ctx context.Context, c *Cluster) {
	var err error
	c.Damage, err = s.MissingEntries(ctx, c.ServerState)
	if c.Checked = err == nil; !c.Checked {
		s.Log.WarnContext(ctx, "cannot find out whether the server's file is whole", "database", c.Database.Short(), "error", err)
	} else if c.Damage != "" && !slices.Contains(c.View.Lost, c.Status.Server) {
		c.View.Lost = append(c.View.Lost, c.Status.Server)
	}
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
			c, ok := s.cluster(ctx, servers[d])
			if ok {
				s.checkFile(ctx, &c)
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
	report := Report{Application: m, At: s.Now()}
	clients, _ := s.CountClients() // of a system that can't be asked, a report has no numbers
	for _, d := range ovndb.Databases() {
		c := seen[d]
		c.ofFormerUnit(m.Former[d])
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
