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

func TestHistory_wire_form(t *testing.T) {
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

// drawHistory draws some of nine servers, each with or without its unit and its removal. Two drawn histories never
// contradict each other.
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

// If two units saw the same removal at different times, they agree on the earlier one.
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
	another := History{ovndb.SB: {sbServer: {Unit: "ovn-central/5"}}}
	assert.Equal(t, never.Merge(another), another.Merge(never), "all agree, even if two units publish one server")
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
	sound, good := map[raft.ID]ServerRecord{sbServer: {Unit: "ovn-central/4"}},
		`"`+string(nbServer)+`":{"unit":"ovn-central/5"}`
	for text, tt := range map[string]struct {
		found    bool // whether the valid record is found
		problems int
	}{
		"": {}, "{}": {}, "null": {},
		`{"13e4":{"unit":"ovn-central/4"}}`:                                           {problems: 1},
		`{"13e4":{},` + good + `}`:                                                    {true, 1},
		`{"` + string(sbServer) + `":{"removed":"yesterday"},` + good + `}`:           {true, 1},
		`{"e":0,"a":0,"c":0,"d":0,"b":0,"` + string(sbServer) + `":0}`:                {problems: maxProblems + 1},
		`{"` + string(sbServer) + `":{"removed":"` + strings.Repeat("9", 1e5) + `"}}`: {problems: 1},
		`{"13e4f3b0`: {problems: 1},
		`[]`:         {problems: 1},
		`{"` + string(nbServer) + `":{"unit":"ovn-central/5","of a newer charm":3}}`: {found: true},
	} {
		databag := History{ovndb.SB: sound}.Databag()
		databag["nb-servers"] = text
		h, problems := ParseHistory(databag)
		assert.Equal(t, sound, h[ovndb.SB], "the other database")
		var want map[raft.ID]ServerRecord
		if tt.found {
			want = map[raft.ID]ServerRecord{nbServer: {Unit: "ovn-central/5"}}
		}
		assert.Equal(t, want, h[ovndb.NB], "%.60s", text)
		assert.Len(t, problems, tt.problems, "%.60s", text)
		for range 3 {
			_, again := ParseHistory(databag)
			assert.Equal(t, problems, again, "in one order")
		}
		for _, p := range problems {
			assert.Less(t, len(p.String()), 200)
		}
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

// removed records that a server was removed.
func (h History) removed(d ovndb.Database, id raft.ID, unit string, now time.Time) History {
	gone := History{}
	gone.set(d, id, ServerRecord{Unit: unit, Removed: now.UTC().Truncate(time.Second)})
	return h.Merge(gone)
}
