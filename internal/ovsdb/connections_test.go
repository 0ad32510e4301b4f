//go:build programs

package ovsdb_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

func wanted(d ovndb.Database) []ovsdb.Connection { return ovsdb.WantedConnections(d, minute, false) }

// ensure calls EnsureConnections through one member, and returns the targets that it changed.
func ensure(t *testing.T, s *server, want ...ovsdb.Connection) []string {
	t.Helper()
	changed, err := new(ovsdb.Dialer).EnsureConnections(within(t, patience), s.Database, want, s.Endpoint())
	require.NoError(t, err)
	return changed
}

func connections(t *testing.T, s *server) []ovsdb.Connection {
	t.Helper()
	rows, err := new(ovsdb.Dialer).Connections(within(t, patience), s.Database, s.Endpoint())
	require.NoError(t, err)
	var all []ovsdb.Connection
	for _, row := range rows {
		assert.Equal(t, row.UUID, strings.TrimSpace(column(t, s, "_uuid", row.Target)))
		all = append(all, row.Connection)
	}
	return all
}

// column returns the row's column for the target, as OVN's tools print it.
func column(t *testing.T, s *server, name, target string) string {
	t.Helper()
	return tool(t, s, "--bare", "--no-headings", "--columns="+name, "find", "connection", fmt.Sprintf("target=%q", target))
}

func TestEnsureConnections_fresh_database(t *testing.T) {
	t.Parallel()
	for _, d := range ovndb.Databases() {
		t.Run(d.Short(), func(t *testing.T) {
			t.Parallel()
			s := cluster(t, d, 1)[0]
			assert.Empty(t, connections(t, s))
			assert.Len(t, ensure(t, s, wanted(d)...), len(wanted(d)))
			assert.ElementsMatch(t, wanted(d), connections(t, s))
			assert.Empty(t, ensure(t, s, wanted(d)...), "the second time changes nothing")

			var targets []string
			for _, c := range wanted(d) {
				targets = append(targets, c.Target)
				assert.Equal(t, "60000", column(t, s, "inactivity_probe", c.Target))
				if d == ovndb.SB {
					assert.Equal(t, c.Role, column(t, s, "role", c.Target))
				}
			}
			printed := strings.Fields(strings.ReplaceAll(ctl(t, s, "get-connection"), "role=", ""))
			assert.Subset(t, printed, targets, "OVN's own tools see them")
		})
	}
}

func TestEnsureConnections_adopts_Python_charm_rows(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.SB, 1)[0]
	for _, port := range []string{"6642", "16642"} {
		ctl(t, s, `-- --id=@c create connection target="pssl:`+port+`" -- add SB_Global . connections @c`)
	}
	tool(t, s, "set", "connection", column(t, s, "_uuid", "pssl:6642"), "role=ovn-controller", "inactivity_probe=60000")
	tool(t, s, "set", "connection", column(t, s, "_uuid", "pssl:16642"), "inactivity_probe=60000")
	before := ctl(t, s, "list connection")
	assert.Empty(t, ensure(t, s, wanted(ovndb.SB)...))
	assert.Equal(t, before, ctl(t, s, "list connection"))
}

func TestEnsureConnections_keeps_other_rows_and_columns(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.SB, 1)[0]
	ctl(t, s, "--inactivity-probe=1000 set-connection ptcp:6642:127.9.9.9 read-only role=ovn-controller pssl:6642")
	ctl(t, s, "set connection "+column(t, s, "_uuid", "pssl:6642")+
		" max_backoff=2000 external_ids:owner=me other_config:dscp=10")
	theirs := tool(t, s, "list", "connection", column(t, s, "_uuid", "ptcp:6642:127.9.9.9"))
	ctl(t, s, "set SB_Global . external_ids:a=b")

	assert.Equal(t, []string{"pssl:16642", "pssl:6642"}, ensure(t, s, wanted(ovndb.SB)...))
	assert.Equal(t, theirs, tool(t, s, "list", "connection", column(t, s, "_uuid", "ptcp:6642:127.9.9.9")))
	for name, value := range map[string]string{
		"inactivity_probe": "60000", "max_backoff": "2000", "external_ids": "owner=me", "other_config": "dscp=10",
	} {
		assert.Equal(t, value, column(t, s, name, "pssl:6642"))
	}
	assert.Equal(t, "{a=b}", ctl(t, s, "get SB_Global . external_ids"))
}

func TestEnsureConnections_probe_off_and_unset(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.NB, 1)[0]
	ensure(t, s, wanted(ovndb.NB)...)
	assert.Equal(t, []string{"pssl:6641"}, ensure(t, s, ovsdb.Connection{Target: "pssl:6641"}))
	assert.Equal(t, "0", column(t, s, "inactivity_probe", "pssl:6641"))
	unset := ovsdb.Connection{Target: "pssl:6641", InactivityProbe: ovsdb.ProbeUnset}
	assert.Equal(t, []string{"pssl:6641"}, ensure(t, s, unset))
	assert.Empty(t, column(t, s, "inactivity_probe", "pssl:6641"))
	assert.Equal(t, []ovsdb.Connection{unset}, connections(t, s))
}

func TestEnsureConnections_merges_equal_targets(t *testing.T) {
	t.Parallel()
	for rows, want := range map[string]string{
		"pssl:6641 pssl:6641:0.0.0.0":                     "pssl:6641:0.0.0.0",
		"pssl:6641 pssl:6641:[::]":                        "pssl:6641:[::]",
		"pssl:6641 pssl:6641:0.0.0.0 pssl:6641:127.9.9.9": "pssl:6641:0.0.0.0 pssl:6641:127.9.9.9",
	} {
		t.Run(rows, func(t *testing.T) {
			t.Parallel()
			s := cluster(t, ovndb.NB, 1)[0]
			ctl(t, s, "set-connection "+rows)
			ensure(t, s, wanted(ovndb.NB)...)
			var left []string
			for _, c := range connections(t, s) {
				left = append(left, c.Target)
			}
			assert.Equal(t, want, strings.Join(left, " "))
		})
	}
}

func TestEnsureConnections_widens_to_both_families(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.NB, 1)[0]
	ensure(t, s, wanted(ovndb.NB)...)
	both := ovsdb.WantedConnections(ovndb.NB, minute, true)
	assert.Equal(t, []string{"pssl:6641", "pssl:6641:[::]"}, ensure(t, s, both...))
	assert.Equal(t, both, connections(t, s))
	assert.Empty(t, ensure(t, s, wanted(ovndb.NB)...), "and is not narrowed again by a unit with IPv4")
}

func TestEnsureConnections_concurrent_clients_add_one_row(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.SB, 3)
	for round := range 15 {
		want := []ovsdb.Connection{
			{Target: fmt.Sprintf("pssl:%d", 7000+2*round), Role: "ovn-controller", InactivityProbe: minute},
			{Target: fmt.Sprintf("pssl:%d", 7001+2*round), InactivityProbe: minute},
		}
		var wg sync.WaitGroup
		failed := make([]error, 2*len(members))
		for i := range failed {
			wg.Go(func() {
				d := new(ovsdb.Dialer)
				_, failed[i] = d.EnsureConnections(within(t, patience), ovndb.SB, want, members[i%3].Endpoint())
			})
		}
		wg.Wait()
		for _, err := range failed {
			require.NoError(t, err)
		}
		require.Len(t, connections(t, members[0]), 2*(round+1))
		require.True(t, ovsdb.Satisfied(rowsOf(connections(t, members[0])...), want))
	}
}

func TestEnsureConnections_without_quorum_times_out(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 3)
	ensure(t, members[2], wanted(ovndb.NB)...)
	require.Eventually(t, func() bool { return len(connections(t, members[0])) == 1 }, patience, 1)
	members[1].Kill(t)
	members[2].Kill(t)
	more := []ovsdb.Connection{{Target: "pssl:1"}}
	_, err := new(ovsdb.Dialer).EnsureConnections(within(t, minute/20), ovndb.NB, more, members[0].Endpoint())
	require.Error(t, err)
}

func TestEnsureConnections_NB_has_no_roles(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.NB, 1)[0]
	_, err := new(ovsdb.Dialer).EnsureConnections(t.Context(), ovndb.NB, wanted(ovndb.SB), s.Endpoint())
	require.Error(t, err)
	assert.Empty(t, connections(t, s))
}

// The command that is printed for such a row removes it.
func TestEnsureConnections_row_is_removed_by_UUID(t *testing.T) {
	t.Parallel()
	for _, d := range ovndb.Databases() {
		s := cluster(t, d, 1)[0]
		ensure(t, s, wanted(d)...)
		ctl(t, s, `--id=@c create Connection target="ptcp:16666:0.0.0.0" -- add `+d.GlobalTable()+` . connections @c`)
		rows, err := new(ovsdb.Dialer).Connections(t.Context(), d, s.Endpoint())
		require.NoError(t, err)
		require.Len(t, rows, len(wanted(d))+1)
		for _, row := range rows {
			if row.WithoutTLS() {
				tool(t, s, "remove", d.GlobalTable(), ".", "connections", row.UUID)
			}
		}
		assert.Len(t, connections(t, s), len(wanted(d)))
	}
}
