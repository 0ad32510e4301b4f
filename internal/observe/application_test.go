package observe_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// agent maps the command lines of hook tools to their answers.
type agent map[string]any

// Run implements run.Runner.
func (a agent) Run(_ context.Context, c run.Command) ([]byte, error) {
	line := strings.TrimSpace(c.Name + " " + strings.TrimPrefix(strings.Join(c.Args, " "), "--format=json"))
	line = strings.Join(strings.Fields(line), " ")
	switch answer := a[line].(type) {
	case nil:
		return nil, observetest.Failed(c, 1, "ERROR settings not found\n")
	case error:
		return nil, observetest.Failed(c, 1, "ERROR "+answer.Error()+"\n")
	default:
		return json.Marshal(answer)
	}
}

// bag is the data that a unit publishes.
func bag(nb, sb string) map[string]string {
	return relation.Identities{
		ovndb.NB: {Server: observetest.Full(nb), Cluster: observetest.Cluster(ovndb.NB)},
		ovndb.SB: {Server: observetest.Full(sb), Cluster: observetest.Cluster(ovndb.SB)},
	}.Databag()
}

func unit(nb, sb string) relation.Identities {
	u, _ := relation.ParseIdentities(bag(nb, sb))
	return u
}

// thisUnit returns the identities of a unit that has just seen both its servers as members, at the end of the
// scenarios' logs.
func thisUnit() relation.Identities {
	u := unit("aa00", "bb00")
	for d, id := range u {
		id.Since = 11
		u[d] = id
	}
	return u
}

// data is the data that a unit, or the application, publishes.
type data map[string]string

// answers returns Juju's answers for a model with these units, each with its status. Some units publish data.
func answers(units []string, published map[string]data, app data) agent {
	all, listed := map[string]any{}, []string{}
	for _, u := range units {
		name, status, _ := strings.Cut(u, " ")
		all[name] = map[string]string{"status": status, "since": "2026-01-01 00:00:00Z"}
	}
	a := agent{
		"goal-state":              map[string]any{"units": all, "relations": map[string]any{}},
		"relation-ids ovsdb-peer": []string{"ovsdb-peer:0"},
		"relation-get -r ovsdb-peer:0 --app - ovn-central": app,
	}
	for unit, texts := range published {
		listed = append(listed, unit)
		a["relation-get -r ovsdb-peer:0 - "+unit] = texts
	}
	a["relation-list -r ovsdb-peer:0"] = listed
	return a
}

// modelOf returns the application as ovn-central/0, with the servers aa00 and bb00, sees it with the agent's answers
// and its cache.
func modelOf(t *testing.T, a agent, cache observe.Cache) observe.Application {
	t.Helper()
	observer := observetest.Three(t).ObserverOn(new(observetest.Machine))
	require.NoError(t, observer.SaveCache(cache))
	snapshot := observer.Observe(t.Context(), juju.New(a))
	assert.Equal(t, thisUnit(), snapshot.Own)
	assert.Equal(t, snapshot.Cache.Published, snapshot.Application.Published, "what was read is remembered")
	return snapshot.Application
}

func TestApplication_from_relation(t *testing.T) {
	m := modelOf(t, answers(
		[]string{"ovn-central/0 active", "ovn-central/1 active", "ovn-central/2 waiting"},
		map[string]data{"ovn-central/1": bag("aa01", "bb01"), "ovn-central/2": {"egress-subnets": "10.0.0.2/32"}},
		relation.History{ovndb.SB: {observetest.Full("13fe"): {Unit: "ovn-central/4"}}}.Databag(),
	), observe.Cache{})
	assert.Empty(t, m.Problems)
	assert.Equal(t, relation.UnitIdentities{
		"ovn-central/0": thisUnit(), "ovn-central/1": unit("aa01", "bb01"), "ovn-central/2": {},
	}, m.Published)
	assert.Equal(t, "ovn-central/4", m.History[ovndb.SB][observetest.Full("13fe")].Unit)
	assert.Equal(t, "ovn-central/1", m.History[ovndb.NB][observetest.Full("aa01")].Unit, "what is published is remembered")
	assert.Equal(t, []string{"info NOT_PUBLISHED nb sb ovn-central/2"}, briefs(m.Unpublished()))
}

// Each hook tool is a large program on a controller.
func TestApplication_relation_is_asked_for_once(t *testing.T) {
	const ask = "relation-ids ovsdb-peer"
	alone := []string{"ovn-central/0 active"}
	known := observe.Cache{Relations: []string{"ovsdb-peer:0"}}

	a := answers(alone, nil, data{"nb_cid": "c0de"})
	delete(a, ask)
	m := modelOf(t, a, known)
	require.NoError(t, m.Unread)
	assert.Equal(t, "c0de", m.AppData.Values()["nb_cid"])

	a = answers([]string{"ovn-central/0 dying"}, nil, data{})
	a[ask] = []string{}
	assert.Empty(t, modelOf(t, a, known).Relations, "a unit that is being removed may have left it")

	observer := observetest.Three(t).ObserverOn(new(observetest.Machine))
	require.NoError(t, observer.SaveCache(observe.Cache{Relations: []string{"ovsdb-peer:9"}}))
	whole := juju.New(answers(alone, nil, data{}))
	require.Error(t, observer.Observe(t.Context(), whole).Application.Unread, "the premise: it is another relation")
	again := observer.Observe(t.Context(), whole)
	require.NoError(t, again.Application.Unread)
	assert.Equal(t, []string{"ovsdb-peer:0"}, again.Application.Relations)
}

// The agent can't ask Juju. It finds the other units' machines in the cache, as long as the units exist.
func TestApplication_places_are_cached(t *testing.T) {
	told := bag("aa01", "bb01")
	maps.Copy(told, relation.UnitState{Address: netip.MustParseAddr("10.0.0.2"), Hostname: "one"}.Databag())
	one := observe.Place{Address: "10.0.0.2", Hostname: "one"}
	cache := observe.Cache{
		Places: map[string]observe.Place{"ovn-central/1": {Hostname: "before"}, "ovn-central/2": one, "ovn-central/9": one},
	}
	m := modelOf(t, answers(
		[]string{"ovn-central/0 active", "ovn-central/1 active", "ovn-central/2 active"},
		map[string]data{"ovn-central/1": told, "ovn-central/2": {"egress-subnets": "10.0.0.2/32"}}, data{},
	), cache)
	assert.Equal(t, map[string]observe.Place{"ovn-central/1": one, "ovn-central/2": one}, m.Places)
}

// In the hook stop the relation may be empty or gone.
func TestR9_application_without_relation_is_cache(t *testing.T) {
	remembered := observe.Cache{
		Published: relation.UnitIdentities{
			"ovn-central/0": unit("ff00", "ff01"), "ovn-central/1": unit("aa01", "bb01"), "ovn-central/9": unit("aa09", "bb09"),
		},
		History: relation.History{ovndb.NB: {observetest.Full("aa04"): {Unit: "ovn-central/4"}}},
	}
	silent := errors.New("connection is shut down")
	for name, change := range map[string]func(agent){
		"gone":         func(a agent) { a["relation-ids ovsdb-peer"] = []string{} },
		"not known":    func(a agent) { a["relation-ids ovsdb-peer"] = silent },
		"empty":        func(agent) {},
		"not readable": func(a agent) { a["relation-list -r ovsdb-peer:0"] = silent },
	} {
		t.Run(name, func(t *testing.T) {
			a := answers([]string{"ovn-central/0 dying", "ovn-central/1 active"}, nil, data{})
			change(a)
			m := modelOf(t, a, remembered)
			want := relation.UnitIdentities{"ovn-central/0": thisUnit(), "ovn-central/1": unit("aa01", "bb01")}
			assert.Equal(t, want, m.Published, "its own servers as they are now, and only units that exist")
			assert.Equal(t, "ovn-central/4", m.History[ovndb.NB][observetest.Full("aa04")].Unit)
			assert.True(t, m.OthersStay())
		})
	}
}

func TestApplication_without_Juju(t *testing.T) {
	m := modelOf(t, agent{}, observe.Cache{Published: relation.UnitIdentities{"ovn-central/1": unit("aa01", "bb01")}})
	assert.Nil(t, m.Goal)
	assert.True(t, m.OthersStay())
	assert.Contains(t, m.Published, "ovn-central/1")
	assert.Len(t, m.Problems, 2, "what went wrong is said: %v", m.Problems)
	assert.False(t, m.Owner(ovndb.NB, peer("ffff", observetest.Full("ffff"))).Stale)
}

func TestApplication_malformed_data_is_reported(t *testing.T) {
	m := modelOf(t, answers(
		[]string{"ovn-central/0 active", "ovn-central/1 active"},
		map[string]data{"ovn-central/1": {"nb-identity": "AA01", "sb-identity": "0017"}},
		data{"nb-servers": "{", "sb-servers": `{"` + string(observetest.Full("13fe")) + `":{"unit":"ovn-central/4"}}`},
	), observe.Cache{})
	require.Len(t, m.Problems, 2)
	assert.Contains(t, briefs(m.Problems)[0], "PUBLISHED_DATA_DAMAGED ovn-central/1 Reasons=NOT_FOUR_DIGITS nb-identity")
	assert.Contains(t, briefs(m.Problems)[1], "PUBLISHED_DATA_DAMAGED ovn-central Reasons=NOT_SERVERS nb-servers")
	assert.Equal(t, raft.ID("0017"), m.Published["ovn-central/1"][ovndb.SB].Server)
	assert.Equal(t, "ovn-central/4", m.History[ovndb.SB][observetest.Full("13fe")].Unit)
}

// Data that can't be read is neither empty nor missing, and the reason is kept.
func TestApplication_unread_empty_and_present_differ(t *testing.T) {
	const (
		list = "relation-list -r ovsdb-peer:0"
		get  = "relation-get -r ovsdb-peer:0 - ovn-central/1"
		app  = "relation-get -r ovsdb-peer:0 --app - ovn-central"
	)
	down := errors.New("connection is shut down")
	whole := func() agent {
		a := answers(
			[]string{"ovn-central/0 active", "ovn-central/1 active", "ovn-central/2 dying"},
			map[string]data{"ovn-central/1": bag("aa01", "bb01"), "ovn-central/2": bag("aa02", "bb02")},
			data{"nb_cid": string(observetest.Cluster(ovndb.NB))},
		)
		a[list] = []string{"ovn-central/1"}
		return a
	}
	remembered := observe.Cache{Published: relation.UnitIdentities{"ovn-central/1": unit("aa01", "bb01")}}
	m := modelOf(t, whole(), remembered)
	require.NoError(t, m.Unread)
	assert.False(t, m.AppData.Unread())
	assert.False(t, m.Peers["ovn-central/1"].Unread() || m.Peers["ovn-central/1"].Empty())
	assert.Equal(
		t, unit("aa02", "bb02"), m.Published["ovn-central/2"], "Juju hides a unit that is going from the list, not its data",
	)

	for _, tool := range []string{"goal-state", "relation-ids ovsdb-peer", get, app} {
		t.Run(tool+" fails", func(t *testing.T) {
			a := whole()
			a[tool] = down
			m := modelOf(t, a, remembered)
			require.ErrorContains(t, m.Unread, down.Error())
			if tool != "goal-state" {
				assert.True(t, m.AppData.Unread())
			}
			assert.Equal(t, tool != "goal-state" && tool != app, m.Peers["ovn-central/1"].Unread())
			assert.Equal(t, unit("aa01", "bb01"), m.Published["ovn-central/1"], "as it was last read")
		})
	}
	t.Run("not_joined_yet", func(t *testing.T) {
		a := whole()
		a[list] = []string{}
		delete(a, get)
		m := modelOf(t, a, observe.Cache{})
		require.NoError(t, m.Unread)
		assert.True(t, m.Peers["ovn-central/1"].Empty())
	})
	t.Run("unlisted_and_unreadable", func(t *testing.T) {
		a := whole()
		a[list], a[get] = []string{}, errors.New("another Juju's words")
		m := modelOf(t, a, remembered)
		require.NoError(t, m.Unread, "no hook may hang on it")
		assert.True(t, m.Peers["ovn-central/1"].Unread())
		assert.Equal(t, unit("aa01", "bb01"), m.Published["ovn-central/1"])
	})
	t.Run("dying_and_left", func(t *testing.T) {
		a := whole()
		delete(a, "relation-get -r ovsdb-peer:0 - ovn-central/2")
		m := modelOf(t, a, observe.Cache{Published: relation.UnitIdentities{"ovn-central/2": unit("aa02", "bb02")}})
		require.NoError(t, m.Unread)
		assert.Equal(t, unit("aa02", "bb02"), m.Published["ovn-central/2"])
	})
}

// A failed removal or a lost cache must not undo recorded removals.
func TestApplication_removal_is_never_lost(t *testing.T) {
	removed := relation.History{
		ovndb.NB: {observetest.Full("aa04"): {Unit: "ovn-central/4", Removed: observetest.Now.Add(-time.Hour)}},
	}
	m := modelOf(t, answers(
		[]string{"ovn-central/0 active"}, nil,
		relation.History{ovndb.NB: {observetest.Full("aa04"): {Unit: "ovn-central/4"}}}.Databag(),
	), observe.Cache{History: removed})
	assert.Equal(t, removed[ovndb.NB][observetest.Full("aa04")], m.History[ovndb.NB][observetest.Full("aa04")])
}
