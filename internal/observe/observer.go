// Package observe determines the state of this unit's servers, of the clusters that they see, and of the application
// in Juju, and compares it with the cache. The result is an immutable [Snapshot]; the package changes nothing that it
// observes.
package observe

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// Observer observes a unit's machine and Juju. It changes nothing.
type Observer struct{ *Machine }

// Machine gives access to a unit's machine and its databases. Observers and changers share one.
type Machine struct {
	Env      juju.Env
	Control  ovsctl.Control
	Files    ovsctl.Files
	Services systemd.Services
	Dialer   *ovsdb.Dialer
	// Clients counts the clients of this unit's servers; nil means [machine.CountClients].
	Clients func() (map[ovndb.Database]ovndb.Clients, error)
	// Now is the clock.
	Now func() time.Time
	Log *slog.Logger
}

// Intervals and limits of observations.
const (
	// PollInterval is the time between two checks whether a change is done: a follower's leave takes about 5 ms, a
	// leader's takes one election timer.
	PollInterval = 20 * time.Millisecond
	// ProbeTimeout is how long a member may take to answer on its client port before it counts as down (R0). On an
	// established connection, the size of the database adds to it ([raft.Patience]), since the server may be compacting.
	ProbeTimeout = 2 * time.Second
	// storeTimeout limits one read or write of external_ids; a write waits until a majority has stored it. A large
	// database adds to it ([raft.Patience]).
	storeTimeout = 10 * time.Second
)

// Patience returns the timeout for servers of a database, given the timeout for a small one. The size of this unit's
// file represents the size of all copies.
func (s *Machine) Patience(d ovndb.Database, base time.Duration) time.Duration {
	return raft.Patience(base, raftfile.Size(s.Control.Paths.File(d)))
}

// Snapshot is the state from which a hook or an action starts. It is immutable; a later observation is a new one
// ([Observer.Refresh]).
type Snapshot struct {
	Servers map[ovndb.Database]ServerState
	// Own are the identities that this unit should publish.
	Own         relation.Identities
	Application Application
	Cache       Cache
}

// MemberAddresses returns the addresses of all members of both clusters, as this unit's servers know them.
func (s Snapshot) MemberAddresses() (all []netip.Addr) {
	for _, l := range s.Servers {
		for _, member := range l.Status.Servers {
			if address, err := netip.ParseAddr(ovndb.HostOf(member.Address)); err == nil {
				all = append(all, address)
			}
		}
	}
	return all
}

// Observe observes the unit's servers and asks Juju at the same time, and caches both. An unwritable cache, as on a
// full disk, is logged.
func (s *Observer) Observe(ctx context.Context, tools *juju.Tools) Snapshot {
	return s.observe(ctx, tools, func(map[ovndb.Database]ServerState) {})
}

// ObserveClusters observes like Observe, and adds the unit's view of both clusters.
func (s *Observer) ObserveClusters(ctx context.Context, tools *juju.Tools) (Snapshot, Report) {
	var seen map[ovndb.Database]Cluster
	snapshot := s.observe(ctx, tools, func(servers map[ovndb.Database]ServerState) { seen = s.clusters(ctx, servers) })
	return snapshot, s.report(snapshot.Application, seen)
}

// observe calls further with the servers' states while Juju's answers are still pending.
func (s *Observer) observe(
	ctx context.Context, tools *juju.Tools, further func(map[ovndb.Database]ServerState),
) Snapshot {
	var (
		cache   = s.loadCache(ctx)
		servers map[ovndb.Database]ServerState
		wg      sync.WaitGroup
	)
	wg.Go(func() {
		servers = s.ObserveServers(ctx)
		further(servers)
	})
	application := readApplication(ctx, tools, s.Env, cache)
	wg.Wait()
	return s.snapshot(ctx, cache, application, servers)
}

// Refresh observes the unit's servers again and keeps Juju's data.
func (s *Observer) Refresh(ctx context.Context, before Snapshot) Snapshot {
	return s.snapshot(ctx, before.Cache, before.Application, s.ObserveServers(ctx))
}

func (s *Observer) snapshot(
	ctx context.Context, cache Cache, m Application, servers map[ovndb.Database]ServerState,
) Snapshot {
	m.publish(s.identities(ctx, servers, cache))
	cache = s.updateCache(cache, &m, servers)
	if err := s.saveCache(cache); err != nil {
		s.Log.WarnContext(ctx, "cannot save what was observed; continuing", "error", err)
	}
	return Snapshot{Servers: servers, Own: m.Published[m.Unit], Application: m, Cache: cache}
}

// Join is the progress of a server of this unit that joins a cluster.
type Join struct {
	Server raft.ID `json:"server"`
	// End is the end of its log, Since when that end was first seen. The leader sends the log to the server, so it grows
	// until the server is a member.
	End   uint64    `json:"end"`
	Since time.Time `json:"since"`
	// Earlier counts the servers that have tried to join before, since the unit last had a member.
	Earlier int `json:"earlier,omitempty"`
}

const (
	// lostJoinPatience is how long the log of a joining server that knows the leader may stay unchanged, besides the
	// time for its database's size. The log grows within a second of the leader's answer, by a whole snapshot at once:
	// the longest measured one took 30 s ([raft.Patience]).
	lostJoinPatience = 5 * time.Minute
	// mostDoublings limits the longer wait for each further server, to five hours: each server leaves a copy of the
	// database behind.
	mostDoublings = 6
)

// JoinIsLost reports whether a server's join will never end: it knows the leader, but the leader sends it nothing.
// The cause is a defect of Open vSwitch before 2.17.10, 3.1.5, 3.2.3 and 3.3.1. A leader that loses leadership for a
// moment also loses the answer of the server that it is adding. It keeps waiting for that answer, and rejects each
// new attempt as already in progress ("ovsdb: raft: Fix inability to join after leadership change round trip").
func (s Snapshot) JoinIsLost(d ovndb.Database, now time.Time, size int64) bool {
	l, join := s.Servers[d], s.Cache.Joins[d]
	if l.Condition != ovndb.Serving || l.Status.State != raft.JoiningCluster || !l.Status.HasLeader() {
		return false
	}
	if join.Server != l.Status.Server || join.End != l.Status.Log.End {
		return false // it has made progress since
	}
	return now.Sub(join.Since) >= raft.Patience(lostJoinPatience, size)<<min(join.Earlier, mostDoublings)
}

// joins returns the joins in progress, with the time of their last progress. A server that is not serving may be
// between two attempts.
func joins(
	before map[ovndb.Database]Join, servers map[ovndb.Database]ServerState, now time.Time,
) map[ovndb.Database]Join {
	all := map[ovndb.Database]Join{}
	for d, l := range servers {
		known, was := before[d]
		next := Join{Server: l.Status.Server, End: l.Status.Log.End, Since: now, Earlier: known.Earlier}
		switch {
		case l.Condition != ovndb.Serving:
			next = known
		case l.Status.State != raft.JoiningCluster:
			continue
		case was && known.Server != next.Server:
			next.Earlier++
		// otherwise the clock was set back
		case was && known.End == next.End && l.Status.HasLeader() && !known.Since.After(now):
			next = known
		}
		if next.Server != "" {
			all[d] = next
		}
	}
	return all
}

// newest returns the highest index that any other member shows to its clients.
func (s *Observer) newest(ctx context.Context, l ServerState) (index uint64) {
	for _, address := range OtherAddresses(l.Status) {
		ctx, cancel := context.WithTimeout(ctx, ProbeTimeout)
		state, err := s.Dialer.Server(ctx, l.Database, ovsdb.Endpoints(l.Database, address)...)
		cancel()
		if err == nil {
			index = max(index, state.Index)
		}
	}
	return index
}

// leaderConnectionPatience is how long a restarted member waits for its leader's connection. The leader reconnects
// after up to 8 s if this server was down for long (RECONNECT_DEFAULT_MAX_BACKOFF in OVS's lib/reconnect.h).
const leaderConnectionPatience = 10 * time.Second

// LeaderUnreachable reports whether a member follows a leader whose own connection to it is not yet established, as
// just after this server's start. Until then, this unit has to count the leader as down (R0).
func (l ServerState) LeaderUnreachable() bool {
	return l.Member() && l.Status.Role == raft.Follower && l.Status.HasLeader() && !l.Status.Hears(string(l.Status.Leader))
}

// AwaitMember returns when this unit's server is a member that knows a leader and has caught up with the others, or
// at the timeout with the last state. The server's own status can't show that it lags behind.
func (s *Observer) AwaitMember(ctx context.Context, db ovndb.Database, timeout time.Duration) (ServerState, error) {
	var l ServerState
	var others uint64
	asked, patient := false, s.Now().Add(leaderConnectionPatience)
	if !poll.Await(ctx, timeout, PollInterval*5, nil, func() bool {
		if l = s.ObserveServer(ctx, db); !l.MemberWithLeader() {
			return false
		}
		if !asked {
			others, asked = s.newest(ctx, l), true
		}
		// The leader reconnects only after the member has caught up.
		return (!l.LeaderUnreachable() || s.Now().After(patient)) && l.Status.Committed() >= others
	}) {
		return l, fmt.Errorf("%s: this unit's server is not a working member after %s: %s", db.Short(), timeout, l.Text())
	}
	return l, nil
}
