package agent

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// How often the clusters are observed, by asking this machine's servers and, where these
// don't lead, each other member once; and how long that may take.
const (
	clusterPause   = 15 * time.Second
	clusterTimeout = 10 * time.Second
)

// northdObservations is how many observations in a row have to find that ovn-northd does not work: while a
// database elects, none is connected.
const northdObservations = 2

// damageObservations is how many observations in a row have to find that the file of a server here lacks
// entries, or that it is whole again, before the other units are told.
const damageObservations = 2

// Servers is what the agent does with this machine's servers.
type Servers struct {
	// Observe finds out what they see of their clusters, and how its ovn-northd is; empty where none
	// is to run here. It changes nothing.
	Observe func(context.Context) (observe.Report, ovndb.NorthdHealth)
	// PublishDamage has the other units know what the file of one of them lacks; empty: nothing any
	// more. It is called until it has succeeded once.
	PublishDamage func(ctx context.Context, server observe.ServerState, missing string) error
}

// clusters is what this unit sees of both databases' members, and of its ovn-northd.
type clusters struct {
	agent   *Agent
	servers Servers
	// observing is held by the one that observes.
	observing sync.Mutex
	// files are those of the servers here. The loop alone uses it.
	files map[ovndb.Database]*file

	mu     sync.Mutex
	report observe.Report
	at     time.Duration // of the observation; 0: none yet
	northd ovndb.NorthdHealth
	idle   int // observations in a row that found it not to work
}

// file is that of a server: whether it lacks entries, in how many observations in a row that was so, and
// whether the other units know.
type file struct {
	server       raft.ID
	damaged      bool
	observations int
	published    bool
}

// run observes again and again until ctx is done.
func (c *clusters) run(ctx context.Context) {
	for pause := time.Duration(0); after(ctx, pause); pause = clusterPause {
		seen, northd := c.observeNow(ctx)
		if ctx.Err() != nil {
			return
		}
		before := c.northdError()
		c.mu.Lock()
		for _, l := range tellOrphans(staleMembers(c.report), staleMembers(seen)) {
			c.agent.log.Info(l.message, l.attributes...) //nolint:sloglint // constants, chosen by a pure function
		}
		c.report, c.northd, c.at = seen, northd, c.agent.now()
		if c.idle++; northd == "" || northd.Works() {
			c.idle = 0
		}
		c.mu.Unlock()
		c.publishDamage(ctx, seen)
		switch now := c.northdError(); {
		case now == before:
		case now == "":
			c.agent.log.Info("ovn-northd works again")
		default:
			c.agent.log.Warn("ovn-northd does not work; this unit does not act", "state", northd)
		}
	}
}

// observeNow observes, for what may not go by what was seen before.
func (c *clusters) observeNow(ctx context.Context) (observe.Report, ovndb.NorthdHealth) {
	c.observing.Lock()
	defer c.observing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	return c.servers.Observe(ctx)
}

// publishDamage has all units count a server here as down whose file lacks entries (rule R0), within
// seconds: the unit's own next hook, which has the file written anew and takes the word back, may be
// minutes away, and others judge until then. Without the charm it takes the word back itself.
func (c *clusters) publishDamage(ctx context.Context, seen observe.Report) {
	for _, cluster := range seen.Clusters {
		told := slices.Contains(cluster.View.Lost, cluster.Status.Server)
		if !cluster.Checked || cluster.Damage == "" && !told {
			delete(c.files, cluster.Database)
			continue
		}
		found, damaged := c.files[cluster.Database], cluster.Damage != ""
		if found == nil || found.server != cluster.Status.Server || found.damaged != damaged {
			found = &file{server: cluster.Status.Server, damaged: damaged}
			c.files[cluster.Database] = found
		}
		if found.observations++; found.observations < damageObservations || found.published {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, clusterTimeout)
		err := c.servers.PublishDamage(limited, cluster.ServerState, cluster.Damage)
		cancel()
		log := c.agent.log.With("database", cluster.Database.Short(), "missing", cluster.Damage)
		found.published = err == nil
		switch {
		case err != nil:
			log.Warn("cannot tell the other units the state of this unit's database file", "error", err)
		case damaged:
			log.Warn("the file of this unit's server lacks entries; all units count it as down until a hook has the file rewritten")
		default:
			log.Info("the file of this unit's server is whole; told all units")
		}
	}
}

// recent is the last observation, or one that is made now where there was none for longer than one takes
// to come.
func (c *clusters) recent(ctx context.Context) observe.Report {
	seen, ago := c.latest(c.agent.now())
	if ago < 0 || ago > (clusterPause+clusterTimeout).Seconds() {
		seen, _ = c.observeNow(ctx)
	}
	return seen
}

// northdError is why this unit is not to act: without its ovn-northd nothing would come of what
// it writes, if it is the last; empty where it works, or is not asked for.
func (c *clusters) northdError() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle < northdObservations {
		return ""
	}
	return fmt.Sprintf("this unit's ovn-northd: %s", c.northd)
}

// latest is what was last seen, and how many seconds ago; -1: nothing yet.
func (c *clusters) latest(now time.Duration) (seen observe.Report, secondsAgo float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == 0 {
		return observe.Report{}, -1
	}
	return c.report, (now - c.at).Seconds()
}

// staleMembers are members that are down and that no unit has, as far as this unit knows. The
// action cluster-status asks Juju too, and says whether one is to be kicked.
func staleMembers(r observe.Report) (all []schedule.Finding) {
	for _, c := range r.Clusters {
		for _, row := range c.Rows {
			if row.Owner.Unit == "" && !row.Up && !row.OneWay {
				all = append(all, schedule.Finding{
					Where: c.Database.Short(), Text: fmt.Sprintf("member %s at %s is down and is no unit's: %s", row.Short, row.Address, row.Label()),
				})
			}
		}
	}
	return all
}

// document is what is seen of both clusters, for programs.
func (c *clusters) document(now time.Duration) report.ClusterStatus {
	seen, ago := c.latest(now)
	d := report.ClusterStatus{LookedSecondsAgo: ago, Orphans: append([]schedule.Finding{}, staleMembers(seen)...)}
	for _, cluster := range seen.Clusters {
		switch one := status.ClusterDocument(cluster); cluster.Database {
		case ovndb.NB:
			d.Northbound = one
		case ovndb.SB:
			d.Southbound = one
		}
	}
	return d
}
