package observe_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// A server in another unit's cache becomes this unit's only once it works in the application's cluster.
func TestFormerServers(t *testing.T) {
	dir := t.TempDir()
	former, _ := newCacheObserver(dir)
	former.Env.Unit = "ovn-central/7"
	left := memory()
	left.Published = relation.UnitIdentities{"ovn-central/7": {ovndb.NB: {Server: observetest.Full("aa00")}}}
	require.NoError(t, former.SaveCache(left))

	s := observetest.Three(t)
	remembered := map[ovndb.Database]observe.FormerServer{
		ovndb.NB: {Unit: "ovn-central/7", Server: observetest.Full("aa00")},
	}
	alone := observe.Application{
		Unit: s.Unit, Goal: map[string]juju.UnitGoal{s.Unit: {}, "ovn-central/1": {}},
		Published: relation.UnitIdentities{s.Unit: {}},
	}
	lost := observetest.Up("aa00").Down("aa01", "aa02").CutOff()
	works := observetest.Up("aa00", "aa01", "aa02")
	for name, c := range map[string]struct {
		m       observe.Application
		members observetest.Members
		former  bool
	}{
		"it hears no leader":                               {alone, lost, true},
		"it hears no leader, and the other units do":       {s.Application(), lost, true},
		"works_and_others_unknown":                         {alone, works, true},
		"it works in the cluster that other units publish": {s.Application(), works, false},
		"another server runs": {
			alone, observetest.Up("aa05").Down("aa01", "aa02").CutOff(), false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			unit := s.Observer()
			unit.Control.Paths.DB = dir
			c.m.Published[s.Unit] = relation.Identities{}
			server := s.Cluster(ovndb.NB, c.members).ServerState
			servers := map[ovndb.Database]observe.ServerState{ovndb.NB: server}
			next := unit.UpdateCache(unit.LoadCache(t.Context()), &c.m, servers)
			if !c.former {
				assert.Empty(t, next.Former)
				assert.Empty(t, c.m.Former)
				return
			}
			assert.Equal(t, remembered, c.m.Former)
			assert.Empty(t, c.m.Members[ovndb.NB], "who is a member is not known from it")
			assert.Empty(t, next.Configurations)

			unit.Control.Paths.DB = t.TempDir()
			require.NoError(t, unit.SaveCache(next))
			again := unit.UpdateCache(unit.LoadCache(t.Context()), &c.m, servers)
			assert.Equal(t, remembered, again.Former, "the second hook finds this unit's own memory")
		})
	}
}

func TestReport_server_of_other_unit(t *testing.T) {
	s := observetest.Three(t)
	m := s.Application()
	m.Former = map[ovndb.Database]observe.FormerServer{ovndb.NB: {Unit: "ovn-central/7", Server: observetest.Full("aa00")}}
	seen := map[ovndb.Database]observe.Cluster{
		ovndb.NB: s.Cluster(ovndb.NB, observetest.Up("aa00").Down("aa01", "aa02").CutOff()),
		ovndb.SB: s.Cluster(ovndb.SB, s.SB),
	}
	for d, c := range seen {
		seen[d] = observe.Cluster{ServerState: c.ServerState, View: c.View}
	}
	r := s.Observer().ReportOf(m, seen)
	assert.Equal(t, ovndb.Former, r.Clusters[0].Condition)
	assert.Empty(t, r.Clusters[0].Rows)
	assert.Equal(t, raft.Quorum{}, r.Clusters[0].Quorum)
	assert.Equal(t, ovndb.Serving, r.Clusters[1].Condition)
	assert.Len(t, r.Clusters[1].Rows, 3)
}
