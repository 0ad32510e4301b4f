//go:build programs

package ovsdb_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
)

// edited returns the installed schema of a database in an older or newer version: without some tables and columns
// (and columns that refer to them), and with others.
func edited(t *testing.T, d ovndb.Database, without, with []string) string {
	t.Helper()
	return ovsdbtest.EditSchema(t, d, func(_, tables map[string]any) {
		for _, name := range without {
			table, column, isColumn := strings.Cut(name, ".")
			if isColumn {
				delete(ovsdbtest.ColumnsOf(tables, table), column)
				continue
			}
			delete(tables, table)
			for other := range tables {
				maps.DeleteFunc(ovsdbtest.ColumnsOf(tables, other), func(_ string, definition any) bool {
					refers, err := json.Marshal(definition)
					return err == nil && strings.Contains(string(refers), `"refTable":"`+table+`"`)
				})
			}
		}
		for _, name := range with {
			table, column, isColumn := strings.Cut(name, ".")
			if !isColumn {
				column = "name"
				tables[table] = map[string]any{"columns": map[string]any{}, "isRoot": true}
			}
			strings := map[string]any{"key": "string", "value": "string", "min": 0, "max": "unlimited"}
			ovsdbtest.ColumnsOf(tables, table)[column] = map[string]any{"type": strings}
		}
	})
}

// The tests use the differences between the schemas in what is read here: ovn-nb.ovsschema and ovn-sb.ovsschema of
// v20.12.0 and of v26.03.0 compared with 23.03, and a schema from before Chassis_Private and other_config.
func TestGateways_every_schema(t *testing.T) {
	t.Parallel()
	type names struct{ nb, sb []string }
	old := names{
		strings.Fields(`BFD Chassis_Template_Var Copp Load_Balancer_Group Mirror Static_MAC_Binding
			Logical_Switch_Port.mirror_rules`),
		strings.Fields(`BFD Chassis_Template_Var FDB Mirror Static_MAC_Binding Port_Binding.additional_chassis
			Port_Binding.additional_encap Port_Binding.port_security Port_Binding.requested_additional_chassis
			Port_Binding.requested_chassis Port_Binding.up`),
	}
	newest := names{
		strings.Fields(`DNS.options Logical_Router_Port.status Logical_Router_Port.dhcp_relay Logical_Switch_Port.peer
			Logical_Switch_Port.health_checks DHCP_Relay Network_Function Sample`),
		strings.Fields(`DNS.options Port_Binding.mirror_port SB_Global.nb_cfg_timestamp ACL_ID Advertised_Route`),
	}
	older := names{old.nb, slices.Concat(old.sb, []string{"Chassis_Private", "Chassis.other_config"})}
	for name, x := range map[string]struct{ without, with names }{
		"23.03": {}, "20.12": {without: old}, "26.03": {with: newest}, "20.03": {without: older},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nb := northboundOf(t, edited(t, ovndb.NB, x.without.nb, x.with.nb))
			sb := ovsdbtest.New(t, ovndb.SB, "127.0.0.1")
			sb.Schema = edited(t, ovndb.SB, x.without.sb, x.with.sb)
			sb.Standalone(t).Start(t)
			// ovn-sbctl itself refuses a schema without its known tables.
			config := "other_config"
			if slices.Contains(x.without.sb, "Chassis.other_config") {
				config = "external_ids"
			}
			command(t, "ovsdb-client", "transact", sb.Endpoint(), `["OVN_Southbound",
				{"op": "insert", "table": "Encap", "uuid-name": "e",
				"row": {"type": "geneve", "ip": "192.0.2.1", "chassis_name": "c1"}},
				{"op": "insert", "table": "Chassis", "row": {"name": "c1", "hostname": "one", "encaps": ["named-uuid", "e"],
				"`+config+`": ["map", [["ovn-cms-options", "enable-chassis-as-gw"]]]}}]`)
			g, err := new(ovsdb.Dialer).Gateways(t.Context(), []string{nb.Endpoint()}, []string{sb.Endpoint()})
			require.NoError(t, err)
			t.Cleanup(g.Close)
			south, err := g.Southbound(t.Context())
			require.NoError(t, err)
			require.Len(t, south.Chassis, 1)
			assert.Equal(t, "enable-chassis-as-gw", south.Chassis[0].Config["ovn-cms-options"])
			assert.False(t, south.Chassis[0].Known)

			north, err := g.Northbound(t.Context())
			require.NoError(t, err)
			port, group := lists(t, north)
			port.After, group.After = port.Before[:1], []ovsdb.CandidateRow{{Chassis: "c3", Priority: 1}}
			require.NoError(t, write(t, g, "noted", port, group))
			north, err = g.Northbound(t.Context())
			require.NoError(t, err)
			port, group = lists(t, north)
			assert.Len(t, port.Before, 1)
			assert.Equal(t, map[string]int{"c3": 1}, priorities(group.Before))
			notes, err := g.Journal(t.Context())
			require.NoError(t, err)
			assert.Len(t, notes, 1)
		})
	}
}
