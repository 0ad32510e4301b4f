package observe_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

func peer(identity string, id raft.ID) raft.Peer {
	return raft.Peer{Member: raft.Member{Short: identity, Address: "ssl:10.0.0.10:6643"}, ID: id}
}

// R16: a member is stale only if it belongs to no unit and all units have published.
func TestR16_owner(t *testing.T) {
	full := func(identity string) raft.Peer { return peer(identity, observetest.Full(identity)) }
	const twin raft.ID = "aa01ffff-0000-4000-8000-000000000000"
	type scenario = func(s *observetest.Scenario)
	publishes := func(unit string, identities [2]string) scenario {
		return func(s *observetest.Scenario) { s.Published[unit] = identities }
	}
	asItIs := func(*observetest.Scenario) {}
	joining := func(s *observetest.Scenario) { s.Goal["ovn-central/3"] = "waiting" }
	silent := func(s *observetest.Scenario) { s.Goal = nil }
	unknown := observe.Owner{Was: "ovn-central/4"}
	stale := observe.Owner{Was: "ovn-central/4", Stale: true}
	for name, test := range map[string]struct {
		scenario scenario
		peer     raft.Peer
		owner    observe.Owner
	}{
		"a unit's, whole ID":         {asItIs, full("aa01"), observe.Owner{Unit: "ovn-central/1"}},
		"a unit's, identity":         {asItIs, peer("aa01", ""), observe.Owner{Unit: "ovn-central/1"}},
		"this unit's":                {asItIs, full("aa00"), observe.Owner{Unit: "ovn-central/0"}},
		"a unit's, Juju silent":      {silent, full("aa02"), observe.Owner{Unit: "ovn-central/2"}},
		"other ID, same identity":    {asItIs, peer("aa01", twin), observe.Owner{Stale: true}},
		"of the other database":      {asItIs, full("bb01"), observe.Owner{Stale: true}},
		"of a gone unit":             {asItIs, full("aa04"), stale},
		"of a gone unit, identity":   {asItIs, peer("aa04", ""), stale},
		"a unit published nothing":   {joining, full("aa04"), unknown},
		"a unit published half":      {publishes("ovn-central/2", [2]string{"aa02", ""}), full("aa04"), unknown},
		"this one published nothing": {publishes("ovn-central/0", [2]string{}), full("aa04"), unknown},
		"Juju silent":                {silent, full("aa04"), unknown},
		"of a unit that has another now": {
			func(s *observetest.Scenario) { s.History[ovndb.NB]["aa0f"] = "ovn-central/1" }, full("aa0f"),
			observe.Owner{Was: "ovn-central/1", Stale: true},
		},
		"dying one published nothing": {func(s *observetest.Scenario) {
			s.Goal["ovn-central/2"], s.Published["ovn-central/2"] = "dying", [2]string{}
		}, full("aa04"), unknown},
	} {
		t.Run(name, func(t *testing.T) {
			s := observetest.JoinedBy4(t)
			test.scenario(&s)
			assert.Equal(t, test.owner, s.Application().Owner(ovndb.NB, test.peer))
		})
	}
}

// A unit whose server was removed joins again with another one, and publishes the old one until its hook has
// succeeded. Until then no member may be called stale.
func TestR16_identity_of_no_member_counts_as_none(t *testing.T) {
	unknown := peer("aa0e", observetest.Full("aa0e"))
	m := observetest.JoinedBy4(t).Application()
	require.True(t, m.Owner(ovndb.NB, unknown).Stale)

	removed := observetest.JoinedBy4(t).Application()
	removed.History = removed.History.Merge(
		relation.History{ovndb.NB: {observetest.Full("aa01"): {Unit: "ovn-central/1", Removed: observetest.Now}}},
	)
	assert.False(t, removed.Owner(ovndb.NB, unknown).Stale)
	outdated := []string{"info IDENTITY_OUTDATED nb ovn-central/1 Member=aa01"}
	assert.Equal(t, outdated, briefs(removed.Unpublished()))

	absent := observetest.JoinedBy4(t).Application()
	absent.Members = map[ovndb.Database][]string{ovndb.NB: {"aa00", "aa02", "aa0e"}}
	assert.False(t, absent.Owner(ovndb.NB, unknown).Stale)
	assert.False(t, absent.Owner(ovndb.SB, peer("bb0e", observetest.Full("bb0e"))).Stale, "of the other database neither")
	assert.Equal(t, outdated, briefs(absent.Unpublished()))
}

// While units publish different clusters of a database, a member without a unit in one may belong to a unit in the
// other.
func TestR16_two_clusters_have_no_stale_member(t *testing.T) {
	m := observetest.JoinedBy4(t).Application()
	for unit, cluster := range map[string]raft.ID{
		"ovn-central/0": observetest.Cluster(ovndb.NB), "ovn-central/1": "dd000000-0000-4000-8000-000000000000",
	} {
		id := m.Published[unit][ovndb.NB]
		id.Cluster = cluster
		m.Published[unit][ovndb.NB] = id
	}
	assert.False(t, m.Owner(ovndb.NB, peer("aa04", observetest.Full("aa04"))).Stale)
	assert.True(t, m.Owner(ovndb.SB, peer("13fe", observetest.Full("13fe"))).Stale, "the other database has one cluster")
}

// A running member may belong to a unit that has yet to publish it, or may still be leaving: Juju 4 removes a unit
// from the model while its `stop` runs, which takes long without a leader. Then no text may advise a forced kick.
func TestR16_running_member(t *testing.T) {
	const gone = "ovn-central/4"
	unknown, stale := observe.Owner{Was: gone}, observe.Owner{Was: gone, Stale: true}
	departing := observe.Owner{Was: gone, Departing: true}
	down := func(*raft.Peer) {}
	up := func(p *raft.Peer) { p.Up = true }
	noted := func(p *raft.Peer) { p.Noted = true } // it runs, and counts as down: its file lacks entries
	leaving := func(p *raft.Peer) { p.Up, p.Leaving = true, true }
	atUnit := func(m *observe.Application) {
		address := relation.UnitState{Address: netip.MustParseAddr("10.0.0.10")}
		m.Peers = map[string]observe.Peer{"ovn-central/1": {State: address}}
	}
	departed := func(unit string) func(*observe.Application) {
		return func(m *observe.Application) { m.Departed = []string{unit} }
	}
	earlier := func(m *observe.Application) { m.DepartedEarlier = []string{gone} }
	for name, test := range map[string]struct {
		change func(*observe.Application)
		member func(*raft.Peer)
		want   observe.Owner
	}{
		"at a unit's address, down":  {atUnit, down, stale},
		"at a unit's address, up":    {atUnit, up, unknown},
		"at a unit's address, noted": {atUnit, noted, unknown},
		"unit departed, down":        {departed(gone), down, stale},
		"unit departed, up":          {departed(gone), up, departing},
		"unit departed, noted":       {departed(gone), noted, departing},
		"another departed, up":       {departed("ovn-central/3"), up, stale},
		"departed earlier, up":       {earlier, up, stale},
		"departed earlier, leaving":  {earlier, leaving, departing},
		"departed before, leaving":   {func(*observe.Application) {}, leaving, stale},
	} {
		m, p := observetest.JoinedBy4(t).Application(), peer("aa04", observetest.Full("aa04"))
		test.change(&m)
		test.member(&p)
		assert.Equal(t, test.want, m.Owner(ovndb.NB, p), name)
	}
	s := observetest.Three(t)
	v := s.View(ovndb.NB, s.NB)
	v.Leaving = []raft.ID{observetest.Full("aa02")}
	assert.True(t, v.Peers()[2].Leaving)
}

func TestDeparted_for_five_minutes(t *testing.T) {
	s := observetest.Three(t).ObserverOn(new(observetest.Machine))
	begun := s.Now()
	cache := observe.Cache{
		Published: relation.UnitIdentities{"ovn-central/0": unit("aa00", "bb00"), "ovn-central/1": unit("aa01", "bb01")},
	}
	there := map[string]juju.UnitGoal{"ovn-central/0": {}, "ovn-central/1": {}}
	var earlier []string
	learn := func(after time.Duration, goal map[string]juju.UnitGoal) []string {
		s.Now = func() time.Time { return begun.Add(after) }
		m := observe.Application{
			Unit: "ovn-central/0", Goal: goal, Published: relation.UnitIdentities{"ovn-central/0": unit("aa00", "bb00")},
		}
		cache = s.UpdateCache(cache, &m, nil)
		earlier = m.DepartedEarlier
		return m.Departed
	}
	cache = s.UpdateCache(cache, &observe.Application{Unit: "ovn-central/0", Goal: there, Published: cache.Published}, nil)
	assert.Empty(t, learn(0, nil), "Juju could not be asked")
	cache.Published["ovn-central/1"] = unit("aa01", "bb01")
	only := map[string]juju.UnitGoal{"ovn-central/0": {}}
	assert.Equal(t, []string{"ovn-central/1"}, learn(0, only))
	assert.Equal(t, []string{"ovn-central/1"}, learn(5*time.Minute-1, only))
	assert.Empty(t, learn(5*time.Minute, only))
	assert.Equal(t, []string{"ovn-central/1"}, earlier, "if its leave is noted")
	assert.Empty(t, learn(20*time.Minute-1, only))
	assert.Equal(t, []string{"ovn-central/1"}, earlier)
	assert.Empty(t, learn(20*time.Minute, only))
	assert.Empty(t, earlier)

	const back = -365 * 24 * time.Hour // the clock was set back
	cache.Departed = map[string]time.Time{"ovn-central/1": begun}
	assert.Equal(t, []string{"ovn-central/1"}, learn(back, only))
	assert.Equal(t, []string{"ovn-central/1"}, learn(back+5*time.Minute-1, only))
	assert.Empty(t, learn(back+5*time.Minute, only))
}

func TestR16_address_makes_no_owner(t *testing.T) {
	s := observetest.JoinedBy4(t)
	s.NB = s.NB.Down("aa04")
	s.NB.Rows[3].Address = observetest.Address(ovndb.NB, 1)
	rows := s.Report().Clusters[0].Rows
	assert.Equal(t, "ovn-central/1", rows[1].Label())
	assert.Equal(t, "UNKNOWN (was ovn-central/4)", rows[3].Label())
	assert.True(t, rows[3].Owner.Stale)
}

func TestLabels(t *testing.T) {
	for label, row := range map[string]observe.Row{
		"ovn-central/1":               {Owner: observe.Owner{Unit: "ovn-central/1"}},
		"ovn-central/1 (leaving)":     {Owner: observe.Owner{Unit: "ovn-central/1"}, Leaving: true},
		"UNKNOWN (was ovn-central/4)": {Owner: observe.Owner{Was: "ovn-central/4"}},
		"UNKNOWN":                     {},
	} {
		assert.Equal(t, label, row.Label())
	}
	departing := observe.Row{Owner: observe.Owner{Was: "ovn-central/4", Departing: true}}
	assert.Regexp(t, `^UNKNOWN \(was ovn-central/4, .+\)$`, departing.Label())
}

func TestOthersStay(t *testing.T) {
	for name, test := range map[string]struct {
		goal map[string]string
		stay bool
	}{
		"alone":                      {map[string]string{"ovn-central/0": "dying"}, false},
		"another works":              {map[string]string{"ovn-central/0": "dying", "ovn-central/1": "active"}, true},
		"another is yet to come":     {map[string]string{"ovn-central/0": "dying", "ovn-central/9": "waiting"}, true},
		"another is in error":        {map[string]string{"ovn-central/0": "dying", "ovn-central/1": "error"}, true},
		"all others go as well":      {map[string]string{"ovn-central/0": "dying", "ovn-central/1": "dying"}, false},
		"Juju cannot be asked":       {nil, true},
		"Juju knows of no unit more": {map[string]string{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := observetest.Three(t)
			s.Goal = test.goal
			assert.Equal(t, test.stay, s.Application().OthersStay())
		})
	}
}

func TestUnpublished_is_ordered(t *testing.T) {
	s := observetest.Three(t)
	for _, unit := range []string{"ovn-central/10", "ovn-central/9", "ovn-central/11"} {
		s.Goal[unit] = "waiting"
	}
	s.Published["ovn-central/10"] = [2]string{"aa10", ""}
	assert.Equal(t, []string{
		"info NOT_PUBLISHED nb sb ovn-central/9", "info NOT_PUBLISHED sb ovn-central/10",
		"info NOT_PUBLISHED nb sb ovn-central/11",
	}, briefs(s.Application().Unpublished()))
}

func briefs(all []finding.Finding) (texts []string) {
	for _, f := range all {
		texts = append(texts, findingtest.Brief(f))
	}
	return texts
}
