//go:build programs

package ovsdb_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// hostile is a host name that clears a terminal and adds a row to a table.
const hostile = "\x1b[2J\x1b[1;31mPWNED\r\nfake-node  fake  up  in use"

// quoted is a text in the form of OVN's tools.
func quoted(text string) string {
	return `"` + strings.NewReplacer("\x1b", `\u001b`, "\r", `\r`, "\n", `\n`).Replace(text) + `"`
}

// R18: OVN's role lets a chassis delete its own row and insert it with any host name.
func TestSouthbound_host_name_is_cleaned(t *testing.T) {
	t.Parallel()
	c := newControl(t)
	target, endpoint := c.port("6642")
	ensure(t, c.server, ovsdb.Connection{Target: target, Role: "ovn-controller", InactivityProbe: minute})
	c.listens(t, endpoint)
	for name, host := range map[string]string{"evil": hostile, "long": strings.Repeat("h", 110_000)} {
		at := "192.0.2." + name
		require.NoError(t, c.as(t, name, endpoint, "chassis-add", name, "geneve", at))
		require.ErrorContains(t, c.as(t, name, endpoint, "set", "Chassis", name, "hostname=other"), "RBAC rules")
		require.NoError(t, c.as(t, name, endpoint, "chassis-del", name))
		require.NoError(t, c.as(t, name, endpoint, "--id=@e", "create", "Encap", "type=geneve",
			"ip="+quoted(at+"\n"), "chassis_name="+name, "--",
			"create", "Chassis", "name="+name, "encaps=@e", "hostname="+quoted(host)))
	}
	g := connected(t, c.server)
	sb, err := g.Southbound(t.Context())
	require.NoError(t, err)
	hosts := map[string]string{}
	for _, x := range sb.Chassis {
		hosts[x.Name] = x.Hostname
	}
	assert.Equal(t, "?[2J?[1;31mPWNED??fake-node  fake  up  in use", hosts["evil"])
	assert.Len(t, hosts["long"], foreign.MaxName)
	occupied, err := g.Occupied(t.Context(), "")
	require.NoError(t, err)
	assert.Equal(t, []string{"192.0.2.evil?"}, occupied.Addresses["evil"])
}

// A row that is found and written by its name can't be cleaned: another name is another row.
func TestNorthbound_malformed_names_are_reported(t *testing.T) {
	t.Parallel()
	s := northbound(t)
	tool(t, s, "create", "HA_Chassis_Group", "name="+quoted(hostile), "--",
		"set", "Logical_Router", "r1", "name="+quoted(hostile), "--",
		"lrp-add", "r2", "lrp-3", "00:00:00:00:00:03", "10.0.0.3/24", "--",
		"lrp-set-gateway-chassis", "lrp-3", hostile, "1", "--", "lr-add", "r4", "--",
		"lrp-add", "r4", "lrp-4", "00:00:00:00:00:04", "10.0.0.4/24", "--",
		"set", "Logical_Router_Port", "lrp-4", "name="+quoted(hostile))
	nb := readNorthbound(t, s)
	var tables, ports []string
	for _, m := range nb.Malformed {
		tables = append(tables, m.Table)
		assert.True(t, foreign.IsName(m.Name), "%q", m.Name)
		assert.NotEmpty(t, m.UUID)
	}
	assert.ElementsMatch(t, []string{"HA_Chassis_Group", "Logical_Router_Port", "Logical_Router_Port"}, tables)
	for _, p := range nb.RouterPorts {
		ports = append(ports, p.Name)
	}
	assert.ElementsMatch(t, []string{"lrp-1", "lrp-2"}, ports)
	assert.Len(t, nb.Groups, 1)
	for _, r := range nb.Routers {
		assert.True(t, foreign.IsName(r.Name), "nothing is written by a router's name: %q", r.Name)
	}
}

func TestSouthbound_malformed_names_are_reported(t *testing.T) {
	t.Parallel()
	c := newControl(t)
	ctl(t, c.server, "chassis-add c1 geneve 192.0.2.1 -- chassis-add c2 geneve 192.0.2.2")
	tool(t, c.server, "set", "Chassis", "c2", "name="+quoted(hostile), "--",
		"create", "Chassis_Private", "name="+quoted(hostile))
	g := connected(t, c.server)
	require.Eventually(t, func() bool {
		sb, err := g.Southbound(t.Context())
		require.NoError(t, err)
		return len(sb.Chassis) == 1 && sb.Chassis[0].Name == "c1" && len(sb.Malformed) == 2 && len(sb.Private) == 0
	}, patience, 50*time.Millisecond)
}
