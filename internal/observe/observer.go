// Package observe determines the state of this unit's servers, of the clusters that they see, and of the application in
// Juju, and compares it with the cache. The result is an immutable [Snapshot]; nothing here changes what it observes.
package observe

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
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
	// leader's one election timer.
	PollInterval = 20 * time.Millisecond
	// ProbeTimeout is how long a member may take to answer on its client port before it counts as down (R0). For an
	// established connection, a large database adds to it ([raft.Patience]), since the server may be compacting.
	ProbeTimeout = 2 * time.Second
	// storeTimeout limits one read or write of external_ids; a write waits until a majority has stored it. A large
	// database adds to it ([raft.Patience]).
	storeTimeout = 10 * time.Second
)

// Patience is the timeout for servers of a database, if base suffices for a small one. The size of this unit's file
// represents all of theirs.
func (s *Machine) Patience(d ovndb.Database, base time.Duration) time.Duration {
	return raft.Patience(base, raftfile.Size(s.Control.Paths.File(d)))
}

// Snapshot is the state that a hook or an action starts from. It is immutable; a later observation is a new one
// ([Observer.Refresh]).
type Snapshot struct {
	Servers map[ovndb.Database]ServerState
	// Own is what this unit should publish.
	Own         relation.Identities
	Application Application
	Cache       Cache
}

// MemberAddresses are those of all members of both clusters, as this unit's servers have them.
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

// ObserveClusters is Observe, followed by the unit's view of both clusters.
func (s *Observer) ObserveClusters(ctx context.Context, tools *juju.Tools) (Snapshot, Report) {
	var seen map[ovndb.Database]Cluster
	snapshot := s.observe(ctx, tools, func(servers map[ovndb.Database]ServerState) { seen = s.clusters(ctx, servers) })
	return snapshot, s.report(snapshot.Application, seen)
}

// observe calls further with the servers' states while Juju is still being asked.
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
