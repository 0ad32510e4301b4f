package gateway

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/cordon"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// A candidate that stays keeps its row. A row that goes frees its name for a new one in the same transaction, and a
// name that another row has gets a number.
func TestLists_rows_and_names(t *testing.T) {
	t.Parallel()
	rows := map[string]ovsdb.CandidateRow{
		"G1": {UUID: "G1", Name: "lrp-1_c1", Chassis: "c1", Priority: 3},
		"G2": {UUID: "G2", Name: "lrp-1_c3", Chassis: "c2", Priority: 2}, // a new row would have this name
		"G3": {UUID: "G3", Name: "lrp-1_c4", Chassis: "c9", Priority: 1}, // of another port
	}
	inv := BuildInventory(ovsdb.Northbound{
		GatewayChassis: rows,
		RouterPorts:    []ovsdb.LogicalRouterPort{{UUID: "P1", Name: "lrp-1", GatewayChassis: []string{"G1", "G2"}}},
	}, ovsdb.Southbound{})
	lists := inv.lists([]schedule.Change{{Group: "lrp-1", After: []schedule.Candidate{
		{Chassis: "c1", Priority: 3}, {Chassis: "c3", Priority: 2}, {Chassis: "c4", Priority: 1},
	}}})
	require.Len(t, lists, 1)
	assert.Equal(t, []ovsdb.CandidateRow{
		{UUID: "G1", Chassis: "c1", Priority: 3},
		{Name: "lrp-1_c3", Chassis: "c3", Priority: 2},
		{Name: "lrp-1_c4.2", Chassis: "c4", Priority: 1},
	}, lists[0].After)
}

// A batch is written only while its chassis is cordoned, and while no chassis that gets a better rank is. A chassis
// that was cordoned when the plan was made may stay and may get a worse rank.
func TestGuard(t *testing.T) {
	t.Parallel()
	state := schedule.State{
		Chassis: []schedule.Chassis{{Name: "c1", Cordoned: true}, {Name: "c2"}, {Name: "c3"}, {Name: "c4"}},
	}
	row := func(chassis string, before, after int) schedule.Row {
		r := schedule.Row{Chassis: chassis}
		if before > 0 {
			r.Before = &before
		}
		if after > 0 {
			r.After = &after
		}
		return r
	}
	changes := []schedule.Change{{Rows: []schedule.Row{
		row("c1", 3, 1), row("c2", 2, 3), row("c3", 0, 2), row("c4", 1, 0),
	}}}
	g := guard(&run{chassis: "c1", cordon: true}, state, changes)
	on := func(chassis string) string {
		key, _ := cordon.Pair(chassis)
		return key
	}
	assert.Equal(t, map[string]string{on("c1"): cordon.On}, g.Has)
	assert.Equal(t, map[string]string{on("c2"): cordon.On, on("c3"): cordon.On}, g.Lacks)
	down := []schedule.Change{{Rows: []schedule.Row{row("c2", 3, 2)}}}
	g = guard(&run{chassis: "c1"}, state, down)
	assert.Empty(t, g.Has)
	assert.Empty(t, g.Lacks)
}

// Each record of a batch tells how many groups are left after it, so that an interrupted run is known as unfinished.
func TestRecords_tell_what_is_left(t *testing.T) {
	t.Parallel()
	r := run{Run: journal.Begin("g1", "", "", "a test")}
	texts := r.records(schedule.Plan{}, make([]schedule.Change, perRow+20), perRow+50, time.Now())
	require.Len(t, texts, 2)
	for i, want := range []string{`"left":50,`, `"left":30,`} {
		assert.Contains(t, texts[i], want)
	}
}

// Gateways bounce while chassis begin to hear each other: they must stay where they are for a while.
func TestAwaitStable_begins_anew_after_a_bounce(t *testing.T) {
	t.Parallel()
	now, looks := time.Time{}, 0
	s := Service{Now: func() time.Time { return now }}
	missing, err := s.awaitStable(t.Context(), time.Minute, func() (found []finding.Finding, _ error) {
		looks++
		now = now.Add(stableFor - time.Second)
		if looks == 2 {
			found = []finding.Finding{schedule.Unbound("lrp-1", "c1")}
		}
		return found, nil
	})
	require.NoError(t, err)
	assert.Empty(t, missing)
	assert.Equal(t, 5, looks)
}

// A group that another client has changed since is not awaited.
func TestStillApplied(t *testing.T) {
	t.Parallel()
	inv := BuildInventory(ovsdb.Northbound{
		GatewayChassis: map[string]ovsdb.CandidateRow{
			"G1": {UUID: "G1", Name: "lrp-1_c1", Chassis: "c1", Priority: 2},
			"G2": {UUID: "G2", Name: "lrp-1_c2", Chassis: "c2", Priority: 1},
		},
		RouterPorts: []ovsdb.LogicalRouterPort{{UUID: "P1", Name: "lrp-1", GatewayChassis: []string{"G2", "G1"}}},
	}, ovsdb.Southbound{})
	as := schedule.Change{Group: "lrp-1", After: []schedule.Candidate{
		{Chassis: "c1", Priority: 2}, {Chassis: "c2", Priority: 1},
	}}
	other, gone := as, as
	other.After = []schedule.Candidate{{Chassis: "c2", Priority: 2}, {Chassis: "c1", Priority: 1}}
	gone.Group = "lrp-gone"
	assert.Equal(t, []schedule.Change{as}, inv.stillApplied([]schedule.Change{other, as, gone}))
}
