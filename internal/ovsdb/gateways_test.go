//go:build programs

package ovsdb_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
)

// northbound starts an NB with a router. One of its gateways has two candidates, another has a group.
func northbound(t *testing.T) *server {
	t.Helper()
	return northboundOf(t, "")
}

func northboundOf(t *testing.T, schema string) *server {
	t.Helper()
	s := ovsdbtest.New(t, ovndb.NB, "127.0.0.1")
	s.Schema = schema
	s.Standalone(t).Start(t)
	ctl(t, s, `ls-add public -- lsp-add public provnet -- lsp-set-type provnet localnet
		-- lsp-set-options provnet network_name=physnet1 -- lsp-add public vm
		-- lr-add r1 -- set Logical_Router r1 external_ids:neutron\:availability_zone_hints=az1
		-- lrp-add r1 lrp-1 00:00:00:00:00:01 10.0.0.1/24
		-- lsp-add public public-1 -- lsp-set-type public-1 router -- lsp-set-options public-1 router-port=lrp-1
		-- lrp-set-gateway-chassis lrp-1 c1 2 -- lrp-set-gateway-chassis lrp-1 c2 1
		-- lr-add r2 -- lrp-add r2 lrp-2 00:00:00:00:00:02 10.0.0.2/24
		-- lsp-add public public-2 -- lsp-set-type public-2 router -- lsp-set-options public-2 router-port=lrp-2
		-- ha-chassis-group-add g2 -- ha-chassis-group-add-chassis g2 c1 20 -- ha-chassis-group-add-chassis g2 c2 10`)
	group := ctl(t, s, "--bare --columns=_uuid find HA_Chassis_Group name=g2")
	tool(t, s, "set", "Logical_Router_Port", "lrp-2", "ha_chassis_group="+group)
	return s
}

// connected connects to the server and to an empty server of the other database.
func connected(t *testing.T, s *server) *ovsdb.Gateways {
	t.Helper()
	other := ovndb.NB
	if s.Database == ovndb.NB {
		other = ovndb.SB
	}
	empty := ovsdbtest.New(t, other, "127.0.0.1").Standalone(t).Start(t)
	at := map[ovndb.Database][]string{s.Database: {s.Endpoint()}, other: {empty.Endpoint()}}
	g, err := new(ovsdb.Dialer).Gateways(t.Context(), at[ovndb.NB], at[ovndb.SB])
	require.NoError(t, err)
	t.Cleanup(g.Close)
	return g
}

func readNorthbound(t *testing.T, s *server) ovsdb.Northbound {
	t.Helper()
	nb, err := connected(t, s).Northbound(t.Context())
	require.NoError(t, err)
	return nb
}

// lists returns the candidates of the port and of the group.
func lists(t *testing.T, nb ovsdb.Northbound) (port, group ovsdb.Candidates) {
	t.Helper()
	for _, p := range nb.RouterPorts {
		if p.Name == "lrp-1" {
			port = ovsdb.Candidates{Port: true, Holder: p.UUID, Name: p.Name, Before: rows(nb.GatewayChassis, p.GatewayChassis)}
			for _, r := range nb.Routers {
				if r.Name == "r1" {
					port.Routers = append(port.Routers, r)
				}
			}
		}
	}
	require.Len(t, nb.Groups, 1)
	group = ovsdb.Candidates{Holder: nb.Groups[0].UUID, Name: "g2", Before: rows(nb.HAChassis, nb.Groups[0].Members)}
	return port, group
}

func rows(all map[string]ovsdb.CandidateRow, uuids []string) (some []ovsdb.CandidateRow) {
	for _, uuid := range uuids {
		some = append(some, all[uuid])
	}
	return some
}

// priorities returns each chassis's priority.
func priorities(rows []ovsdb.CandidateRow) map[string]int {
	all := map[string]int{}
	for _, r := range rows {
		all[r.Chassis] = r.Priority
	}
	return all
}

func TestNorthbound_read(t *testing.T) {
	t.Parallel()
	nb := readNorthbound(t, northbound(t))
	port, group := lists(t, nb)
	assert.Equal(t, map[string]int{"c1": 2, "c2": 1}, priorities(port.Before))
	assert.Equal(t, map[string]int{"c1": 20, "c2": 10}, priorities(group.Before))
	require.Len(t, nb.Routers, 2)
	require.Len(t, nb.RouterPorts, 2)
	for _, r := range nb.Routers {
		if r.Name == "r1" {
			assert.Equal(t, map[string]string{"neutron:availability_zone_hints": "az1"}, r.ExternalIDs)
			assert.Equal(t, []string{port.Holder}, r.Ports)
		}
	}
	require.Len(t, nb.Switches, 1)
	assert.Len(t, nb.Switches[0].Ports, 4)
	assert.Len(t, nb.SwitchPorts, 3, "without the VM's port")
}

func TestWrite_both_forms(t *testing.T) {
	t.Parallel()
	s := northbound(t)
	port, group := lists(t, readNorthbound(t, s))
	for _, x := range []*ovsdb.Candidates{&port, &group} {
		kept := x.Before[0] // the other one is removed
		kept.Priority = 7
		x.After = []ovsdb.CandidateRow{kept, {Name: "lrp-1_c3", Chassis: "c3", Priority: 9}}
	}
	g := connected(t, s)
	require.NoError(t, write(t, g, "a note", port, group))

	nb := readNorthbound(t, s)
	after, groupAfter := lists(t, nb)
	want := map[string]int{port.Before[0].Chassis: 7, "c3": 9}
	assert.Equal(t, want, priorities(after.Before))
	assert.Equal(t, map[string]int{group.Before[0].Chassis: 7, "c3": 9}, priorities(groupAfter.Before))
	assert.Len(t, nb.GatewayChassis, 2, "nothing is left over")
	assert.Len(t, nb.HAChassis, 2)
	for _, r := range after.Before {
		if r.Chassis == "c3" {
			assert.Equal(t, "lrp-1_c3", r.Name, "as Neutron would write it")
		} else {
			assert.Equal(t, port.Before[0].UUID, r.UUID, "the same row")
		}
	}
}

// write writes lists of candidates with a note.
func write(t *testing.T, g *ovsdb.Gateways, note string, lists ...ovsdb.Candidates) error {
	t.Helper()
	_, err := g.Write(t.Context(), ovsdb.Change{Notes: ovsdb.Notes{Added: []string{note}}, Lists: lists})
	return err
}

func TestWrite_changed_rows_write_nothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"priority":       "lrp-set-gateway-chassis lrp-1 c1 5",
		"new_candidate":  "lrp-set-gateway-chassis lrp-1 c9 5",
		"gone_candidate": "lrp-del-gateway-chassis lrp-1 c2",
		"gone_port":      "lrp-del lrp-1",
		"larger_group":   "ha-chassis-group-add-chassis g2 c9 5",
		"renamed_port":   "set Logical_Router_Port lrp-1 name=lrp-9",
		"port_in_group":  "--id=@g create HA_Chassis_Group name=g9 -- set Logical_Router_Port lrp-1 ha_chassis_group=@g",
		"zones":          `set Logical_Router r1 external_ids:neutron\:availability_zone_hints=az2`,
		"gone_group":     "clear Logical_Router_Port lrp-2 ha_chassis_group -- ha-chassis-group-del g2",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := northbound(t)
			port, group := lists(t, readNorthbound(t, s))
			port.After = []ovsdb.CandidateRow{{Chassis: "c3", Priority: 1}}
			group.After = port.After
			ctl(t, s, change)
			before := ctl(t, s, "list Gateway_Chassis -- list HA_Chassis")
			g := connected(t, s)
			require.ErrorIs(t, write(t, g, "a note", port, group), ovsdb.ErrChanged)
			assert.Equal(t, before, ctl(t, s, "list Gateway_Chassis -- list HA_Chassis"))
			notes, err := g.Journal(t.Context())
			require.NoError(t, err)
			assert.Empty(t, notes)
		})
	}
}

func TestSouthbound_read(t *testing.T) {
	t.Parallel()
	s := ovsdbtest.New(t, ovndb.SB, "127.0.0.1").Standalone(t).Start(t)
	// OVN 20.03 wrote external_ids, and ovn-ic other_config.
	ctl(t, s, `chassis-add c1 geneve 10.0.0.1 -- set Chassis c1 hostname=one
		external_ids:ovn-bridge-mappings=physnet1:br-ex external_ids:ovn-cms-options=old
		other_config:ovn-cms-options="enable-chassis-as-gw,availability-zones=az1:az2"
		-- create Chassis_Private name=c1 nb_cfg=7 nb_cfg_timestamp=1700000000123 -- set SB_Global . nb_cfg=8`)
	sb, err := connected(t, s).Southbound(t.Context())
	require.NoError(t, err)
	require.Len(t, sb.Chassis, 1)
	c := sb.Chassis[0]
	assert.Equal(t, ovsdb.ChassisRow{
		UUID: c.UUID, Name: "c1", Hostname: "one", Known: true, Follows: 7, At: time.UnixMilli(1700000000123),
		Config: map[string]string{
			"ovn-cms-options": "enable-chassis-as-gw,availability-zones=az1:az2", "ovn-bridge-mappings": "physnet1:br-ex",
		},
	}, c)
	assert.Equal(t, int64(8), sb.Config)
	assert.False(t, sb.Responds(c))
	assert.Empty(t, sb.Redirects)

	ctl(t, s, "set SB_Global . options:enable_chassis_nb_cfg_update=false")
	sb, err = connected(t, s).Southbound(t.Context())
	require.NoError(t, err)
	assert.True(t, sb.Responds(c))

	ctl(t, s, "destroy Chassis_Private c1 -- set Chassis c1 nb_cfg=8") // as an ovn-controller before 20.09 does
	sb, err = connected(t, s).Southbound(t.Context())
	require.NoError(t, err)
	assert.Equal(t, int64(8), sb.Chassis[0].Follows)
	assert.False(t, sb.Chassis[0].Known)
}

// hostile is a host name that clears a terminal and adds a row to a table.
const hostile = "\x1b[2J\x1b[1;31mPWNED\r\nfake-node  fake  up  in use"

// quoted returns a text as OVN's tools quote it.
func quoted(text string) string {
	return `"` + strings.NewReplacer("\x1b", `\u001b`, "\r", `\r`, "\n", `\n`).Replace(text) + `"`
}

// R18: OVN's role permits a chassis to delete its own row and insert it with any host name.
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

// The name by which a row is found and written can't be cleaned: the cleaned name would be that of another row.
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

// Without a connection there is no schema either: a read fails like others.
func TestSouthbound_connection_lost(t *testing.T) {
	t.Parallel()
	s := ovsdbtest.New(t, ovndb.SB, "127.0.0.1").Standalone(t).Start(t)
	g := connected(t, s)
	_, err := s.Appctl(t, "exit")
	require.NoError(t, err)
	require.NoError(t, s.Process.Wait(t)) // until then the server may answer
	assert.Never(t, func() bool {
		_, err := g.Southbound(t.Context())
		return err == nil
	}, 200*time.Millisecond, time.Millisecond)
}
