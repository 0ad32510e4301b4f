package observe_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// An earlier observation is immutable: both are compared.
func TestRefresh_keeps_earlier_snapshot(t *testing.T) {
	s := observetest.Three(t)
	observer := s.ObserverOn(new(observetest.Machine))
	published := relation.UnitIdentities{
		s.Unit:          {ovndb.SB: {Server: observetest.Full("bb0f")}},
		"ovn-central/1": {ovndb.NB: {Server: observetest.Full("aa01")}},
	}
	application := s.Application()
	application.Published = maps.Clone(published)
	before := observe.Snapshot{
		Application: application,
		Cache: observe.Cache{
			Published: application.Published, Configurations: map[ovndb.Database]relation.Configuration{},
		},
	}

	after := observer.Refresh(t.Context(), before)
	assert.Equal(t, observetest.Full("aa00"), after.Own[ovndb.NB].Server, "observed again")
	assert.Equal(t, published, before.Application.Published)
	assert.Equal(t, published, before.Cache.Published)
}

func TestForgetServers_keeps_snapshot(t *testing.T) {
	s := observetest.Three(t)
	observer := s.ObserverOn(new(observetest.Machine))
	published := relation.UnitIdentities{s.Unit: {ovndb.NB: {Server: observetest.Full("aa00")}}}
	cache := observe.Cache{Published: maps.Clone(published)}

	observer.ForgetServers(t.Context(), cache, relation.Identities{})
	assert.Equal(t, published, cache.Published)
	assert.Empty(t, observer.LoadCache(t.Context()).Published[s.Unit])
}
