package observe_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// A joining server that knows the leader receives the log. If there is no progress for minutes, the leader has lost the
// join; the patience doubles with each further server of the unit.
func TestJoinIsLost_no_progress_with_leader(t *testing.T) {
	s, _ := newCacheObserver(t.TempDir())
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s.Now = func() time.Time { return now }
	server := func(id, leader string, state raft.MemberState, end uint64) observe.ServerState {
		return observe.ServerState{Database: ovndb.NB, Condition: ovndb.Serving, Status: raft.Status{
			Server: observetest.Full(id), State: state, Leader: raft.Ref(leader), Log: raft.Log{End: end},
		}}
	}
	joins := func(id string, end uint64) observe.ServerState { return server(id, "b001", raft.JoiningCluster, end) }
	down := observe.ServerState{Database: ovndb.NB, Condition: ovndb.Down}
	cache := s.LoadCache(t.Context())
	for _, step := range []struct {
		what   string
		after  time.Duration
		server observe.ServerState
		lost   bool
	}{
		{"it knows no leader", 0, server("aa00", string(raft.UnknownRef), raft.JoiningCluster, 0), false},
		{"for an hour", time.Hour, server("aa00", string(raft.UnknownRef), raft.JoiningCluster, 0), false},
		{"it knows one", time.Minute, joins("aa00", 0), false},
		{"it was sent a snapshot", 5 * time.Minute, joins("aa00", 70), false},
		{"nothing more", 4 * time.Minute, joins("aa00", 70), false},
		{"for five minutes", time.Minute, joins("aa00", 70), true},
		{"the clock was set back", -time.Hour, joins("aa00", 70), false},
		{"continues_from_there", 5 * time.Minute, joins("aa00", 70), true},
		{"it grows again", time.Minute, joins("aa00", 71), false},
		{"it stays there", 6 * time.Minute, joins("aa00", 71), true},
		{"the leader is gone", time.Minute, server("aa00", string(raft.UnknownRef), raft.JoiningCluster, 71), false},
		{"it is stopped", time.Minute, down, false},
		{"the second one", time.Minute, joins("bb00", 70), false},
		{"after five minutes", 5 * time.Minute, joins("bb00", 70), false},
		{"after ten", 5 * time.Minute, joins("bb00", 70), true},
		{"it has become a member meanwhile", time.Minute, server("bb00", "b001", raft.ClusterMember, 72), false},
		{"the first one of another time", time.Minute, joins("cc00", 70), false},
		{"after five minutes again", 5 * time.Minute, joins("cc00", 70), true},
	} {
		now = now.Add(step.after)
		servers := map[ovndb.Database]observe.ServerState{ovndb.NB: step.server}
		cache = s.UpdateCache(cache, &observe.Application{Unit: "ovn-central/0"}, servers)
		require.NoError(t, s.SaveCache(cache))
		cache = s.LoadCache(t.Context())
		snapshot := observe.Snapshot{Servers: servers, Cache: cache}
		assert.Equal(t, step.lost, snapshot.JoinIsLost(ovndb.NB, now, 0), step.what)
		assert.False(t, snapshot.JoinIsLost(ovndb.SB, now, 0), step.what)
	}
}

// From the tenth server of a unit in a row the patience is five hours, more for a large database.
func TestJoinIsLost_patience_by_tries_and_size(t *testing.T) {
	at := func(earlier int, waited time.Duration, size int64) bool {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		id := observetest.Full("aa00")
		return observe.Snapshot{
			Servers: map[ovndb.Database]observe.ServerState{
				ovndb.NB: {
					Database: ovndb.NB, Condition: ovndb.Serving,
					Status: raft.Status{Server: id, State: raft.JoiningCluster, Leader: "b001"},
				},
			},
			Cache: observe.Cache{Joins: map[ovndb.Database]observe.Join{ovndb.NB: {Server: id, Since: now, Earlier: earlier}}},
		}.JoinIsLost(ovndb.NB, now.Add(waited), size)
	}
	assert.False(t, at(9, 319*time.Minute, 0))
	assert.True(t, at(9, 320*time.Minute, 0))
	assert.True(t, at(90, 320*time.Minute, 0))
	assert.False(t, at(0, 5*time.Minute, 400<<20))
	assert.True(t, at(0, 7*time.Minute, 400<<20))
}
