package gateway

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// A candidate that stays keeps its row. A row that goes frees its name for a new one in the same transaction, and a
// name that another row has gets a number.
func TestLists_rows_and_names(t *testing.T) {
	t.Parallel()
	rows := map[string]ovsdb.CandidateRow{
		"G1": {UUID: "G1", Name: "lrp-1_c1", Chassis: "c1", Priority: 3},
		"G2": {UUID: "G2", Name: "lrp-1_c3", Chassis: "c2", Priority: 2}, // its name is that of a new row
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
