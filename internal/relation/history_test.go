package relation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// monday is when most removals are seen.
var monday = time.Date(2026, 11, 16, 8, 30, 15, 999, time.FixedZone("", 3600))

func serverID(i int) raft.ID { return raft.ID(fmt.Sprintf("%04x0000-0000-4000-8000-%012x", i, i)) }

func TestHistoryHasItsWireForm(t *testing.T) {
	t.Parallel()
	h := History{ovndb.NB: {nbServer: {Unit: "ovn-central/4"}}}.removed(ovndb.NB, serverID(7), "ovn-central/5", monday)
	assert.Equal(t, map[string]string{
		"nb-servers": `{"00070000-0000-4000-8000-000000000007":{"unit":"ovn-central/5","removed":"2026-11-16T07:30:15Z"},` +
			`"` + string(nbServer) + `":{"unit":"ovn-central/4"}}`,
		"sb-servers": "",
	}, h.Databag())
	assert.Equal(t, map[string]string{"nb-servers": "", "sb-servers": ""}, History(nil).Databag())
}

func TestHistory_round_trip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := drawHistory(t)
		got, problems := ParseHistory(want.Databag())
		require.Empty(t, problems)
		require.Equal(t, want, got)
	})
}

// drawHistory draws some of nine servers, each with or without its unit and its removal. Two histories never contradict
// each other.
func drawHistory(t *rapid.T) History {
	h := History{}
	for _, d := range ovndb.Databases() {
		for i := range 9 {
			if !rapid.Bool().Draw(t, "is known") {
				continue
			}
			var k ServerRecord
			if rapid.Bool().Draw(t, "is a unit's") {
				k.Unit = fmt.Sprintf("ovn-central/%d", i)
			}
			if rapid.Bool().Draw(t, "was removed") {
				k.Removed = monday.UTC().Truncate(time.Second).AddDate(0, 0, i)
			}
			h.set(d, serverID(i), k)
		}
	}
	return h
}

func TestMerge_loses_nothing_in_any_order(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawHistory(t), drawHistory(t), drawHistory(t)
		bagA, bagB := a.Databag(), b.Databag()
		ab := a.Merge(b)
		require.Equal(t, ab, b.Merge(a))
		require.Equal(t, ab.Merge(c), a.Merge(b.Merge(c)))
		require.Equal(t, ab, ab.Merge(ab))
		require.Equal(t, ab, ab.Merge(b))
		require.Equal(t, a, a.Merge(nil))
		require.Equal(t, a, History(nil).Merge(a))
		for _, h := range []History{a, b} {
			for d, servers := range h {
				for id, k := range servers {
					require.True(t, k.Unit == "" || ab[d][id].Unit == k.Unit)
					require.True(t, k.Removed.IsZero() || ab[d][id].Removed.Equal(k.Removed))
				}
			}
		}
		require.Equal(t, bagA, a.Databag(), "what was merged is left as it was")
		require.Equal(t, bagB, b.Databag())
	})
}

// Two units that saw one removal at different times agree on the earlier one.
func TestMerge_earlier_removal_time(t *testing.T) {
	t.Parallel()
	early := History{}.removed(ovndb.SB, sbServer, "ovn-central/4", monday)
	late := History{}.removed(ovndb.SB, sbServer, "", monday.AddDate(0, 0, 1))
	never := History{ovndb.SB: {sbServer: {Unit: "ovn-central/4"}}}
	published := UnitIdentities{"ovn-central/4": {ovndb.SB: {Server: sbServer}}}
	for _, h := range []History{
		early.Merge(late), late.Merge(early), never.Merge(early), early.Merge(never), early.Publish(published),
		early.removed(ovndb.SB, sbServer, "ovn-central/4", monday.AddDate(0, 0, 1)),
	} {
		assert.Equal(t, early, h)
	}
	assert.Equal(t, never.Merge(late), late.Merge(never))
}

// A server belongs to one unit. If two publish it, all units still agree.
func TestMerge_two_units_one_server(t *testing.T) {
	t.Parallel()
	a := History{ovndb.SB: {sbServer: {Unit: "ovn-central/4"}}}
	b := History{ovndb.SB: {sbServer: {Unit: "ovn-central/5"}}}
	assert.Equal(t, a.Merge(b), b.Merge(a))
}

func TestPublish_complete_servers_only(t *testing.T) {
	t.Parallel()
	h := History{}.Publish(UnitIdentities{
		"ovn-central/0": {ovndb.NB: {Server: nbServer, Cluster: nbCluster}, ovndb.SB: {Server: "0017"}},
		"ovn-central/1": {ovndb.SB: {Server: sbServer}},
		"ovn-central/2": nil,
	})
	assert.Equal(t, History{
		ovndb.NB: {nbServer: {Unit: "ovn-central/0"}},
		ovndb.SB: {sbServer: {Unit: "ovn-central/1"}},
	}, h)
}

func TestParseHistory_omits_malformed(t *testing.T) {
	t.Parallel()
	sound := map[raft.ID]ServerRecord{sbServer: {Unit: "ovn-central/4"}}
	tests := map[string]struct {
		text     string
		nb       map[raft.ID]ServerRecord
		problems []string
	}{
		"nothing":     {"", nil, nil},
		"no server":   {"{}", nil, nil},
		"null":        {"null", nil, nil},
		"four digits": {`{"13e4":{"unit":"ovn-central/4"}}`, nil, []string{`nb-servers has "13e4", which is no ID`}},
		"beside another": {
			`{"13e4":{},"` + string(nbServer) + `":{"unit":"ovn-central/5"}}`,
			map[raft.ID]ServerRecord{nbServer: {Unit: "ovn-central/5"}},
			[]string{`nb-servers has "13e4", which is no ID`},
		},
		"a damaged record beside another": {
			`{"` + string(sbServer) + `":{"removed":"yesterday"},"` + string(nbServer) + `":{"unit":"ovn-central/5"}}`,
			map[raft.ID]ServerRecord{nbServer: {Unit: "ovn-central/5"}},
			[]string{`nb-servers has for 0017f3b0-1111-4222-8333-444444444444 "{\"removed\":\"yesterday\"}", which is no record`},
		},
		"several that are damaged, always in one order": {`{"e":0,"a":0,"c":0,"d":0,"b":0,"` + string(nbServer) + `":0}`, nil, []string{
			`nb-servers has "a", which is no ID`,
			`nb-servers has "b", which is no ID`,
			`nb-servers has "c", which is no ID`,
			"and 3 more",
		}},
		"much that is damaged": {
			`{"` + string(nbServer) + `":{"removed":"` + strings.Repeat("9", 100000) + `"}}`, nil,
			[]string{`nb-servers has for 13e4f3b0-1111-4222-8333-444444444444 "{\"removed\":\"9999999999999999999999999999", which is no record`},
		},
		"cut off":      {`{"13e4f3b0`, nil, []string{`nb-servers is "{\"13e4f3b0", not a JSON object of servers`}},
		"a list":       {`[]`, nil, []string{`nb-servers is "[]", not a JSON object of servers`}},
		"newer fields": {`{"` + string(nbServer) + `":{"unit":"ovn-central/5","machine":3}}`, map[raft.ID]ServerRecord{nbServer: {Unit: "ovn-central/5"}}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			databag := History{ovndb.SB: sound}.Databag()
			databag["nb-servers"] = tt.text
			h, problems := ParseHistory(databag)
			assert.Equal(t, sound, h[ovndb.SB], "the other database")
			assert.Equal(t, tt.nb, h[ovndb.NB])
			assert.Equal(t, tt.problems, problems)
		})
	}
}

func TestMerge_drops_oldest(t *testing.T) {
	t.Parallel()
	a, b := History{}, History{}
	for i := range maxRemoved {
		a = a.removed(ovndb.NB, serverID(i), "", monday)
		b = b.removed(ovndb.NB, serverID(1000+i), "", monday.AddDate(0, 0, i-10))
	}
	ab := a.Merge(b)
	assert.Len(t, ab[ovndb.NB], maxRemoved)
	assert.Equal(t, ab, b.Merge(a))
	assert.Contains(t, ab[ovndb.NB], serverID(1000+maxRemoved-1), "the newest")
	assert.NotContains(t, ab[ovndb.NB], serverID(1000), "the oldest")
}

// Juju and the database can store any history.
func TestHistoryStaysSmall(t *testing.T) {
	t.Parallel()
	h := History{}
	for i := range 9 {
		h.set(ovndb.NB, serverID(1000+i), ServerRecord{Unit: fmt.Sprintf("ovn-central-with-a-long-name/%d", 1000+i)})
	}
	for i := range maxRemoved {
		h = h.removed(ovndb.NB, serverID(i), fmt.Sprintf("ovn-central-with-a-long-name/%d", i), monday)
	}
	databag := h.Databag()
	assert.Less(t, len(databag["nb-servers"]), 64<<10)
	again, problems := ParseHistory(databag)
	require.Empty(t, problems)
	assert.Len(t, again[ovndb.NB], maxRemoved+9)
}

// removed records that a server was removed.
func (h History) removed(d ovndb.Database, id raft.ID, unit string, now time.Time) History {
	gone := History{}
	gone.set(d, id, ServerRecord{Unit: unit, Removed: now.UTC().Truncate(time.Second)})
	return h.Merge(gone)
}
