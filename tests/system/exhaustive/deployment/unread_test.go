package deployment

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// without makes a hook tool fail on a unit until the returned function is called.
func without(t *testing.T, u *lab.Unit, tool string) (again func()) {
	t.Helper()
	dispatch, tools := filepath.Join(u.CharmDir(), "dispatch"), t.TempDir()
	require.NoError(t, os.Rename(dispatch, dispatch+".charm"))
	require.NoError(t, os.WriteFile(filepath.Join(tools, tool), []byte("#!/bin/sh\necho ERROR connection is shut down >&2\nexit 1\n"), 0o755))
	require.NoError(t, os.WriteFile(dispatch, []byte("#!/bin/sh\nPATH="+tools+":$PATH exec "+dispatch+".charm\n"), 0o755))
	return func() { require.NoError(t, os.Rename(dispatch+".charm", dispatch)) }
}

// Data that a unit could not read must not look missing. A hook that can't read them fails, and changes nothing.
func TestRelation_unreadable_data_changes_nothing(t *testing.T) {
	t.Parallel()
	for juju, tool := range map[string]string{"3.6.11": "goal-state", "4.0.15": "relation-list"} {
		t.Run(juju+" "+tool, func(t *testing.T) {
			t.Parallel()
			c, units := deployed(t, 1, lab.Options{JujuVersion: juju})
			again := without(t, units[0], tool)
			failed := (*lab.HookError)(nil)
			require.ErrorAs(t, c.RunHook(t.Context(), units[0], "config-changed"), &failed)
			assert.Contains(t, failed.Output, "connection is shut down")
			assert.NotContains(t, units[0].Workload().Message, "move", "its database is not in the way")
			fresh := c.AddEmpty()
			mended := without(t, fresh, tool)
			require.ErrorAs(t, c.Settle(t.Context()), &failed)
			for _, db := range lab.Databases {
				assert.NoFileExists(t, fresh.DBFile(db))
			}
			again()
			mended()
			require.NoError(t, c.Resolved(t.Context(), units[0], false))
			require.NoError(t, c.Resolved(t.Context(), fresh, false))
			require.NoError(t, c.Settle(t.Context()))
			c.Tick("both are active", c.AllActive)
			for _, db := range lab.Databases {
				assert.Len(t, c.Raft(units[0], db).Servers, 2)
				assert.Len(t, c.Raft(fresh, db).Servers, 2)
			}
		})
	}
}
