package agent

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// clusters has this unit's view of the members of both databases, and of its ovn-northd.
type clusters struct {
	servers Servers
	now     func() time.Duration
	log     *slog.Logger
	// observing serialises observations.
	observing sync.Mutex
	// files has the files of the local servers. Only the loop uses it.
	files map[ovndb.Database]*file
	last  atomic.Pointer[clusterObservation]
}

// clusterObservation is one observation of the clusters.
type clusterObservation struct {
	report observe.Report
	at     time.Duration // of the observation; 0: none yet
	northd ovndb.NorthdHealth
	idle   int // consecutive observations, with this one, in which ovn-northd did not work
}

// Servers are the agent's operations on this machine's servers.
type Servers struct {
	// Observe returns the state of the clusters as the servers see it, and the state of ovn-northd, which is empty if none
	// should run here. It changes nothing.
	Observe func(context.Context) (observe.Report, ovndb.NorthdHealth)
	// PublishDamage publishes which entries a local server's file lacks; empty means none. The agent calls it until it has
	// succeeded once.
	PublishDamage func(ctx context.Context, server observe.ServerState, missing string) error
}

// file is the state of a server's file: whether it lacks entries, for how many consecutive observations that has been
// so, and whether the other units know.
type file struct {
	server       raft.ID
	damaged      bool
	observations int
	published    bool
}

// How often the clusters are observed, and how long an observation may take. It asks this machine's servers and, if
// they don't lead, each other member once.
const (
	clusterPause   = 15 * time.Second
	clusterTimeout = 10 * time.Second
)

// northdObservations is how many consecutive observations must find that ovn-northd does not work: during a Raft
// election no ovn-northd is connected.
const northdObservations = 2

// damageObservations is how many consecutive observations must find that a local server's file lacks entries, or is
// whole again, before the other units are notified.
const damageObservations = 2

// run observes periodically until ctx is done.
func (c *clusters) run(ctx context.Context) {
	for pause := time.Duration(0); after(ctx, pause); pause = clusterPause {
		seen, northd := c.observeNow(ctx)
		if ctx.Err() != nil {
			return
		}
		last, now := c.last.Load(), &clusterObservation{report: seen, northd: northd, at: c.now()}
		for _, l := range orphanEvents(orphanMembers(last.report), orphanMembers(seen)) {
			c.log.Info(l.message, l.attributes...) //nolint:sloglint // constants, chosen by a pure function
		}
		if northd != "" && !northd.Works() {
			now.idle = last.idle + 1
		}
		c.last.Store(now)
		c.publishDamage(ctx, seen)
		switch now := now.northdError(); {
		case now == last.northdError():
		case now == "":
			c.log.Info("ovn-northd works again")
		default:
			c.log.Warn("ovn-northd does not work; this unit does not act", "state", northd)
		}
	}
}

// observeNow makes a new observation, for decisions that must not rely on an earlier one.
func (c *clusters) observeNow(ctx context.Context) (observe.Report, ovndb.NorthdHealth) {
	c.observing.Lock()
	defer c.observing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	return c.servers.Observe(ctx)
}

// publishDamage makes all units count a local server as down within seconds if its file lacks entries (R0). The unit's
// next hook has the file rewritten and withdraws the note, but may be minutes away. Without the charm, the agent
// withdraws the note.
func (c *clusters) publishDamage(ctx context.Context, seen observe.Report) {
	for _, cluster := range seen.Clusters {
		published := slices.Contains(cluster.View.Lost, cluster.Status.Server)
		if !cluster.Checked || cluster.Damage.IsZero() && !published {
			delete(c.files, cluster.Database)
			continue
		}
		found, damaged := c.files[cluster.Database], !cluster.Damage.IsZero()
		if found == nil || found.server != cluster.Status.Server || found.damaged != damaged {
			found = &file{server: cluster.Status.Server, damaged: damaged}
			c.files[cluster.Database] = found
		}
		if found.observations++; found.observations < damageObservations || found.published {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, clusterTimeout)
		err := c.servers.PublishDamage(limited, cluster.ServerState, cluster.Damage.String())
		cancel()
		log := c.log.With("database", cluster.Database.Short(), "missing", cluster.Damage)
		found.published = err == nil
		switch {
		case err != nil:
			log.Warn("cannot publish the state of this unit's database file", "error", err)
		case damaged:
			log.Warn("the file of this unit's server lacks entries; all units count it as down until a " +
				"hook has the file rewritten")
		default:
			log.Info("the file of this unit's server is whole; all units know")
		}
	}
}

// recent returns the last observation, or a new one if the last is older than the interval between two observations.
func (c *clusters) recent(ctx context.Context) observe.Report {
	if seen := c.fresh(c.now(), clusterPause+clusterTimeout); seen.at != 0 {
		return seen.report
	}
	seen, _ := c.observeNow(ctx)
	return seen
}

// northdError returns why this unit may not act: its ovn-northd does not work, so the unit's writes have no effect if
// no other ovn-northd is left. The text is empty if ovn-northd works or is not expected here.
func (c *clusters) northdError() string { return c.last.Load().northdError() }

func (s *clusterObservation) northdError() string {
	if s.idle < northdObservations {
		return ""
	}
	return finding.Reason{Code: finding.NorthdIs, Value: fmt.Sprint(s.northd)}.String()
}

// fresh returns the last observation, or nothing if it is older than most.
func (c *clusters) fresh(now, most time.Duration) clusterObservation {
	if last := c.last.Load(); now-last.at <= most {
		return *last
	}
	return clusterObservation{}
}

// orphanMembers returns members that are down and belong to no unit, as far as this unit knows. The action
// cluster-status also asks Juju, and decides whether to advise a kick.
func orphanMembers(r observe.Report) []finding.Document {
	var all []finding.Finding
	for _, c := range r.Clusters {
		for _, row := range c.Rows {
			if row.Owner.Unit == "" && !row.Up && !row.OneWay {
				member := finding.Server{ID: row.Short, Address: row.Address}
				all = append(all, finding.Of(finding.MemberUnowned, c.Database,
					finding.Args{Member: member, Detail: finding.Said(row.Address + ": " + row.Label())}))
			}
		}
	}
	return present.Documents(juju.Version{}, all)
}

func orphanEvents(was, is []finding.Document) (lines []line) {
	event := func(message string, of, than []finding.Document) {
		for _, o := range of {
			if !slices.ContainsFunc(than, func(d finding.Document) bool { return d.Message == o.Message }) {
				lines = append(lines, line{message, []any{"where", o.Subject, "code", o.Code, "what", o.Message}})
			}
		}
	}
	event("orphan found", is, was)
	event("orphan resolved", was, is)
	return lines
}

// document returns the description of both clusters for programs.
func (c *clusters) document(now time.Duration) report.ClusterStatus {
	last := c.last.Load()
	d := report.ClusterStatus{LookedSecondsAgo: -1, Orphans: orphanMembers(last.report)}
	if last.at != 0 {
		d.LookedSecondsAgo = (now - last.at).Seconds()
	}
	for _, cluster := range last.report.Clusters {
		switch one := status.ClusterDocument(cluster); cluster.Database {
		case ovndb.NB:
			d.Northbound = one
		case ovndb.SB:
			d.Southbound = one
		}
	}
	return d
}
