package gateway

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/shelltest"
)

const hostile = "\x1b[2Ja\r\nnext: juju remove-unit ovn-central/0"

// A chassis writes its own row. Names that are read from it are clean, and findings about it are short.
func FuzzChassis(f *testing.F) {
	for _, text := range []string{
		hostile, strings.Repeat("h", 110_000), "enable-chassis-as-gw,availability-zones=a:b\x00",
		"physnet1:br-ex", ":,:,", "{}", "",
	} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, options, mappings string) {
		inv := BuildInventory(ovsdb.Northbound{},
			ovsdb.Southbound{Chassis: []ovsdb.ChassisRow{{Name: "c1", Config: map[string]string{
				"ovn-cms-options": options, "ovn-bridge-mappings": mappings,
			}}}})
		for _, x := range inv.State.Chassis {
			for _, name := range append(x.Networks, x.Zones...) {
				assert.True(t, foreign.IsName(name), "%q", name)
			}
		}
		assert.LessOrEqual(t, len(inv.Findings), namedInDetail+2)
		for _, finding := range inv.Findings {
			assert.Equal(t, foreign.Name(finding.Subject.Name), finding.Subject.Name)
			assert.LessOrEqual(t, len(finding.Message()), 4*foreign.MaxReason, "names are quoted")
			assert.False(t, strings.ContainsFunc(finding.Message(), unicode.IsControl), "%q", finding.Message())
		}
	})
}

func TestBuildInventory_invalid_mappings(t *testing.T) {
	t.Parallel()
	inv := BuildInventory(ovsdb.Northbound{},
		ovsdb.Southbound{Chassis: []ovsdb.ChassisRow{{Name: "c1", Config: map[string]string{
			"ovn-bridge-mappings": "phys\x1bnet:br-ex," +
				strings.Repeat(strings.Repeat("x", 400)+"\x1b,", 1000), "ovn-cms-options": "availability-zones=a\x1b",
		}}}})
	require.Len(t, inv.Findings, 1)
	assert.Equal(t, finding.MappingsInvalid, inv.Findings[0].Code)
	assert.Equal(t, 1000, inv.Findings[0].Args.Count)
	assert.Less(t, len(inv.Findings[0].Message()), 900)
	assert.Equal(t, []string{"phys?net"}, inv.State.Chassis[0].Networks)
	assert.Equal(t, []string{"a?"}, inv.State.Chassis[0].Zones)
}

func TestBuildInventory_malformed_rows(t *testing.T) {
	t.Parallel()
	inv := BuildInventory(
		ovsdb.Northbound{Malformed: []ovsdb.Malformed{{Table: "HA_Chassis_Group", UUID: "0f7a", Name: "a?"}}},
		ovsdb.Southbound{Malformed: []ovsdb.Malformed{{Table: "Chassis", UUID: "1f7a", Name: "b?"}}})
	assert.Equal(t, []string{
		`warning ROW_NAME_INVALID Chassis 1f7a Total=255 Detail="b?"`,
		`warning ROW_NAME_INVALID HA_Chassis_Group 0f7a Total=255 Detail="a?"`,
	}, findingtest.All(inv.Findings))
}

// S15: a name in the database must not become a command.
func TestBuildInventory_quotes_commands(t *testing.T) {
	t.Parallel()
	for i, name := range shelltest.Hostile {
		group, port := name, fmt.Sprintf("p%d%s", i, name)
		inv := BuildInventory(ovsdb.Northbound{
			Routers: []ovsdb.LogicalRouter{{UUID: "R", Name: group, Ports: []string{"P", "Q"}}},
			Groups:  []ovsdb.HAChassisGroup{{UUID: "H", Name: group}},
			RouterPorts: []ovsdb.LogicalRouterPort{
				{UUID: "Q", Name: "other", Group: "H"},
				{UUID: "P", Name: port, ExternalIDs: map[string]string{gatewayKey: "true"}},
			},
		}, ovsdb.Southbound{})
		i := slices.IndexFunc(inv.Findings, func(f finding.Finding) bool { return f.Code == finding.GatewayOutsideGroup })
		require.NotEqual(t, -1, i, "%v", inv.Findings)
		line := juju.Version{}.Render(inv.Findings[i].Remedies[0].Command)
		assert.Equal(t, []string{
			"ovn-nbctl", "--id=@g", "get", "HA_Chassis_Group", group, "--", "set", "Logical_Router_Port",
			port, "ha_chassis_group=@g",
		}, shelltest.Words(t, line))
	}
}
