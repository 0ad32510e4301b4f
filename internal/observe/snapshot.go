package observe

import (
	"context"
	"net/netip"
	"sync"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// Snapshot is the state that a hook or an action starts from. It is immutable; a later observation is a new one
// ([Observer.Refresh]).
type Snapshot struct {
	Servers map[ovndb.Database]ServerState
	// Own is what this unit should publish.
	Own         relation.Identities
	Application Application
	Cache       Cache
}

// MemberAddresses are those of all members of both clusters, as this unit's servers
// have them.
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
