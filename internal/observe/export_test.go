package observe

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// ChangedBy is changedBy.
var ChangedBy = changedBy

// Identities returns the identities that the unit publishes of its servers.
func (s *Observer) Identities(ctx context.Context, servers map[ovndb.Database]ServerState) relation.Identities {
	return s.identities(ctx, servers, Cache{})
}

// LoadCache reads the unit's cache.
func (s *Observer) LoadCache(ctx context.Context) Cache { return s.loadCache(ctx) }

// SaveCache writes the unit's cache.
func (s *Observer) SaveCache(c Cache) error { return s.saveCache(c) }

// UpdateCache adds the observed state to the cache.
func (s *Observer) UpdateCache(c Cache, m *Application, servers map[ovndb.Database]ServerState) Cache {
	return s.updateCache(c, m, servers)
}

// ReportOf adds the members' owners to clusters.
func (s *Observer) ReportOf(m Application, seen map[ovndb.Database]Cluster) Report {
	return s.report(m, seen)
}
