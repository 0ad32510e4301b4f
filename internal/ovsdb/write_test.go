//go:build programs

package ovsdb_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// R14: an agent with an old term can't write anything.
func TestFence_old_term_writes_nothing(t *testing.T) {
	t.Parallel()
	s := northbound(t)
	ctl(t, s, "set NB_Global . external_ids:holder=u/0")
	port, _ := lists(t, readNorthbound(t, s))
	port.After = []ovsdb.CandidateRow{{Chassis: "c3", Priority: 1}}
	sleeper, next := connected(t, s), connected(t, s)
	require.NoError(t, sleeper.Fence(t.Context(), "holder", "u/0"))
	require.NoError(t, write(t, sleeper, "before", port))
	notes, err := sleeper.Journal(t.Context())
	require.NoError(t, err)
	require.Len(t, notes, 1)

	ctl(t, s, "set NB_Global . external_ids:holder=u/1 external_ids:another=key")
	port, _ = lists(t, readNorthbound(t, s))
	port.After = []ovsdb.CandidateRow{{Chassis: "c4", Priority: 1}}
	tables := []string{"list", "Gateway_Chassis", "--", "list", "NB_Global", "--", "list", "DNS"}
	before := tool(t, s, tables...)
	require.ErrorIs(t, write(t, sleeper, "after", port), ovsdb.ErrFenced)
	note := ovsdb.Change{Put: map[string]string{"note": "after"}}
	for _, c := range []ovsdb.Change{
		note,
		{Put: note.Put, Ask: true},
		{Ask: true},
		{Notes: ovsdb.Notes{Dropped: slices.Collect(maps.Keys(notes))}},
	} {
		_, err := sleeper.Write(t.Context(), c)
		require.ErrorIs(t, err, ovsdb.ErrFenced)
	}
	assert.Equal(t, before, tool(t, s, tables...))

	require.NoError(t, next.Fence(t.Context(), "holder", "u/1"))
	require.NoError(t, write(t, next, "after", port))
	_, err = next.Write(t.Context(), note)
	require.NoError(t, err)
}

func TestJournal_written_with_change(t *testing.T) {
	t.Parallel()
	s := northbound(t)
	ctl(t, s, "create DNS external_ids:ls_name=neutron-1 records:vm=10.0.0.1")
	g := connected(t, s)
	port, group := lists(t, readNorthbound(t, s))
	port.After, group.After = port.Before[:1], group.Before[:1]
	require.NoError(t, write(t, g, `{"text": "first"}`, port))
	require.NoError(t, write(t, g, "second", group))
	notes, err := g.Journal(t.Context())
	require.NoError(t, err)
	require.Len(t, notes, 2, "without the other row of DNS")
	rows := map[string]string{}
	for row, text := range notes {
		rows[text] = row
	}
	require.Contains(t, rows, `{"text": "first"}`)

	amend := func(n ovsdb.Notes) {
		_, err := g.Write(t.Context(), ovsdb.Change{Notes: n})
		require.NoError(t, err)
	}
	changed := map[string]string{rows["second"]: "amended"}
	amend(ovsdb.Notes{Changed: changed, Dropped: []string{rows[`{"text": "first"}`]}})
	notes, err = g.Journal(t.Context())
	require.NoError(t, err)
	assert.Equal(t, changed, notes)
	amend(ovsdb.Notes{Changed: map[string]string{rows[`{"text": "first"}`]: "gone"}}) // a deleted row
	amend(ovsdb.Notes{Added: []string{"third"}})
	notes, err = g.Journal(t.Context())
	require.NoError(t, err)
	assert.Len(t, notes, 2)
	assert.Contains(t, ctl(t, s, "list DNS"), "10.0.0.1")
}

func TestWrite_creates_group(t *testing.T) {
	t.Parallel()
	s := northbound(t)
	ctl(t, s, `lr-add neutron-r3 -- lrp-add neutron-r3 lrp-3 00:00:00:00:00:03 10.0.1.1/24
		-- lrp-add neutron-r3 lrp-4 00:00:00:00:00:04 10.0.2.1/24`)
	x := ovsdb.Candidates{
		Name: "neutron-r3", After: []ovsdb.CandidateRow{{Chassis: "c1", Priority: 2}, {Chassis: "c2", Priority: 1}},
		Create: ovsdb.NewGroup{ExternalIDs: map[string]string{"neutron:router_id": "r3"}},
	}
	for _, p := range readNorthbound(t, s).RouterPorts {
		if p.Name == "lrp-3" || p.Name == "lrp-4" {
			x.Create.Ports = append(x.Create.Ports, p.UUID)
		}
	}
	g := connected(t, s)
	require.NoError(t, write(t, g, "", x))
	nb := readNorthbound(t, s)
	for _, group := range nb.Groups {
		if group.Name != "neutron-r3" {
			continue
		}
		assert.Equal(t, map[string]string{"neutron:router_id": "r3"}, group.ExternalIDs)
		assert.Equal(t, map[string]int{"c1": 2, "c2": 1}, priorities(rows(nb.HAChassis, group.Members)))
		for _, p := range nb.RouterPorts {
			if p.Name == "lrp-3" || p.Name == "lrp-4" {
				assert.Equal(t, group.UUID, p.Group)
			}
		}
	}
	require.Len(t, nb.Groups, 2)

	// By now the ports have a group, or a group of that name exists.
	require.ErrorIs(t, write(t, g, "", x), ovsdb.ErrChanged)
	ctl(t, s, "clear Logical_Router_Port lrp-3 ha_chassis_group -- clear Logical_Router_Port lrp-4 ha_chassis_group")
	require.ErrorIs(t, write(t, g, "", x), ovsdb.ErrChanged)
}
