package observe_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// A server reports a skipped entry only until its restart, but lacks it for ever, so the unit remembers the server
// while it has it.
func TestInconsistent_is_cached_until_replaced(t *testing.T) {
	s, _ := newCacheObserver(t.TempDir())
	s.Now = time.Now
	const said = "an entry of its log was not applied: ovsdb error: inconsistent data"
	serving := func(id, inconsistent string) observe.ServerState {
		return observe.ServerState{
			Database: ovndb.NB, Condition: ovndb.Serving, Inconsistent: inconsistent,
			Status: raft.Status{Server: observetest.Full(id), State: raft.ClusterMember},
		}
	}
	cache := s.LoadCache(t.Context())
	for _, step := range []struct {
		what   string
		server observe.ServerState
		found  string
	}{
		{"in order", serving("aa00", ""), ""},
		{"it says so", serving("aa00", said), said},
		{"it was started again", serving("aa00", ""), "an entry of its log was not applied"},
		{"it is down", observe.ServerState{Database: ovndb.NB, Condition: ovndb.Down}, ""},
		{"and started", serving("aa00", ""), "an entry of its log was not applied"},
		{"another one has joined", serving("bb00", ""), ""},
		{"first_report_is_dropped", serving("aa00", ""), ""},
	} {
		servers := map[ovndb.Database]observe.ServerState{ovndb.NB: step.server}
		cache = s.UpdateCache(cache, &observe.Application{Unit: "ovn-central/0"}, servers)
		assert.NoError(t, s.SaveCache(cache))
		cache = s.LoadCache(t.Context())
		snapshot := observe.Snapshot{Servers: servers, Cache: cache}
		assert.Equal(t, step.found, snapshot.Inconsistent(ovndb.NB), step.what)
		assert.Empty(t, snapshot.Inconsistent(ovndb.SB), step.what)
	}
}
