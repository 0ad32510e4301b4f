package observe_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// newCacheObserver returns an observer with only a directory and a log.
func newCacheObserver(dir string) (*observe.Observer, *bytes.Buffer) {
	log := new(bytes.Buffer)
	return &observe.Observer{Machine: &observe.Machine{
		Control: ovsctl.Control{Paths: ovndb.Paths{DB: dir}},
		Log:     slog.New(slog.NewTextHandler(log, nil)),
	}}, log
}

const memoryName = "ovn-central-operator.json"

func memory() observe.Cache {
	return observe.Cache{
		History: relation.History{
			ovndb.NB: {
				observetest.Full("aa04"): {Unit: "ovn-central/4", Removed: observetest.Now},
				observetest.Full("0017"): {Unit: "ovn-central/5"},
			},
		},
		Published: relation.UnitIdentities{
			"ovn-central/1": {ovndb.SB: {Server: observetest.Full("13e4"), Cluster: "c1a57c1a-4b2d-4e3f-8a5b-6c7d8e9f0a1b"}},
		},
		Configurations: map[ovndb.Database]relation.Configuration{
			ovndb.NB: {Server: observetest.Full("aa00"), Members: []string{"0017", "aa00"}},
		},
	}
}

func TestCache_damaged_is_logged_and_dropped(t *testing.T) {
	for name, text := range map[string]string{
		"empty":         "",
		"cut off":       `{"history": {"OVN_Northbound": {"aa04`,
		"another type":  `{"history": {"OVN_Northbound": []}, "sightings": {"OVN_Northbound": {"server": "aa"}}}`,
		"another thing": "\x00\x01\x02",
		"a list":        "[1, 2]",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, log := newCacheObserver(dir)
			require.NoError(t, os.WriteFile(filepath.Join(dir, memoryName), []byte(text), 0o600))
			m := s.LoadCache(t.Context())
			assert.Empty(t, m.History, "nothing of it is believed")
			assert.Empty(t, m.Configurations)
			assert.Contains(t, log.String(), "level=WARN")
			assert.Contains(t, log.String(), memoryName)

			require.NoError(t, s.SaveCache(memory()), "and it is made anew")
			assert.Equal(t, memory(), s.LoadCache(t.Context()))
		})
	}
}

func TestCache_empty_can_be_updated(t *testing.T) {
	for _, text := range []string{
		"", "null", "{}", `{"sightings":null,"history":{"OVN_Northbound":null},"published":{"ovn-central/1":null}}`,
	} {
		dir := t.TempDir()
		s, log := newCacheObserver(dir)
		if text != "" { // otherwise the file is missing
			require.NoError(t, os.WriteFile(filepath.Join(dir, memoryName), []byte(text), 0o600))
		}
		m := s.LoadCache(t.Context())
		assert.Empty(t, log.String(), text)
		model := observe.Application{History: m.History.Merge(memory().History)}
		alone, err := os.ReadFile(filepath.Join("..", "raft", "testdata", "cluster-status", "nb-single-server.txt"))
		require.NoError(t, err)
		status, err := raft.Parse(string(alone))
		require.NoError(t, err)
		local := observe.ServerState{Database: ovndb.NB, Condition: ovndb.Serving, Status: status}
		s.Now = func() time.Time { return observetest.Now }
		next := s.UpdateCache(m, &model, map[ovndb.Database]observe.ServerState{ovndb.NB: local})
		assert.Equal(t, []string{status.Server.Short()}, next.Configurations[ovndb.NB].Members, text)
	}
}

// A forced removal leaves the unit's cache on the machine.
func TestCache_of_other_unit_is_ignored(t *testing.T) {
	dir := t.TempDir()
	former, _ := newCacheObserver(dir)
	former.Env.Unit = "ovn-central/1"
	require.NoError(t, former.SaveCache(memory()))
	assert.NotEmpty(t, former.LoadCache(t.Context()).History)

	next, log := newCacheObserver(dir)
	next.Env.Unit = "ovn-central/5"
	of := map[ovndb.Database]observe.FormerServer{ovndb.SB: {Unit: "ovn-central/1", Server: observetest.Full("13e4")}}
	assert.Equal(t, observe.Cache{Former: of}, next.LoadCache(t.Context()))
	assert.Contains(t, log.String(), "unit=ovn-central/1")
}

// The machine may get a unit of the same name from another model. If either model is unknown, as for the agent and an
// old cache, the name decides.
func TestCache_of_other_model_is_ignored(t *testing.T) {
	dir := t.TempDir()
	unit := func(model string) *observe.Observer {
		s, _ := newCacheObserver(dir)
		s.Env.Unit, s.Env.ModelUUID = "ovn-central/1", model
		return s
	}
	require.NoError(t, unit("").SaveCache(memory()))
	assert.NotEmpty(t, unit("former").LoadCache(t.Context()).Published)
	require.NoError(t, unit("former").SaveCache(memory()))
	assert.NotEmpty(t, unit("former").LoadCache(t.Context()).Published)
	assert.NotEmpty(t, unit("").LoadCache(t.Context()).Published)
	next := unit("next").LoadCache(t.Context())
	assert.Empty(t, next.Published)
	assert.Empty(t, next.History)
	assert.NotEmpty(t, next.Former)
}

// A server reports a skipped entry only until it restarts, but never gets the entry, so the unit remembers the server
// as long as it has it.
func TestInconsistent_is_cached_until_replaced(t *testing.T) {
	s, _ := newCacheObserver(t.TempDir())
	s.Now = time.Now
	unapplied := finding.Reason{Code: finding.NotApplied}
	said := unapplied
	said.Because = []finding.Reason{finding.Quote("ovsdb error: inconsistent data")}
	serving := func(id string, inconsistent finding.Reason) observe.ServerState {
		return observe.ServerState{
			Database: ovndb.NB, Condition: ovndb.Serving, Inconsistent: inconsistent,
			Status: raft.Status{Server: observetest.Full(id), State: raft.ClusterMember},
		}
	}
	var none finding.Reason
	cache := s.LoadCache(t.Context())
	for _, step := range []struct {
		what   string
		server observe.ServerState
		found  finding.Reason
	}{
		{"in order", serving("aa00", none), none},
		{"it says so", serving("aa00", said), said},
		{"it was started again", serving("aa00", none), unapplied},
		{"it is down", observe.ServerState{Database: ovndb.NB, Condition: ovndb.Down}, none},
		{"and started", serving("aa00", none), unapplied},
		{"another one has joined", serving("bb00", none), none},
		{"first_report_is_dropped", serving("aa00", none), none},
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
