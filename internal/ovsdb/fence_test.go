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

// R14: an agent with an old term changes nothing, for any write.
func TestFence_old_term_writes_nothing(t *testing.T) {
	t.Parallel()
	s := northbound(t)
	ctl(t, s, "set NB_Global . external_ids:holder=u/0")
	port, _ := lists(t, readNorthbound(t, s))
	port.After = []ovsdb.CandidateRow{{Chassis: "c3", Priority: 1}}
	sleeper, next := connected(t, s), connected(t, s)
	require.NoError(t, sleeper.Fence(t.Context(), "holder", "u/0"))
	require.NoError(t, sleeper.Write(t.Context(), []string{"before"}, ovsdb.Guard{}, port))
	notes, err := sleeper.Journal(t.Context())
	require.NoError(t, err)
	require.Len(t, notes, 1)

	ctl(t, s, "set NB_Global . external_ids:holder=u/1 external_ids:another=key")
	port, _ = lists(t, readNorthbound(t, s))
	port.After = []ovsdb.CandidateRow{{Chassis: "c4", Priority: 1}}
	tables := []string{"list", "Gateway_Chassis", "--", "list", "NB_Global", "--", "list", "DNS"}
	before := tool(t, s, tables...)
	require.ErrorIs(t, sleeper.Write(t.Context(), []string{"after"}, ovsdb.Guard{}, port), ovsdb.ErrFenced)
	dropped := ovsdb.Amendment{Dropped: slices.Collect(maps.Keys(notes))}
	require.Error(t, sleeper.AmendIDs(t.Context(), ovsdb.Guard{}, dropped))
	require.Error(t, sleeper.SyncNorthd(t.Context(), nil))
	note := ovsdb.Amendment{Put: map[string]string{"note": "after"}}
	require.Error(t, sleeper.AmendIDs(t.Context(), ovsdb.Guard{}, note))
	require.Error(t, sleeper.AmendIDsAndSync(t.Context(), ovsdb.Guard{}, note, nil))
	assert.Equal(t, before, tool(t, s, tables...))

	require.NoError(t, next.Fence(t.Context(), "holder", "u/1"))
	require.NoError(t, next.Write(t.Context(), []string{"after"}, ovsdb.Guard{}, port))
	require.NoError(t, next.AmendIDs(t.Context(), ovsdb.Guard{}, note))
}
