package deployment

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// Servers before Open vSwitch 3.0, which the unit's record simulates here: each hook makes them trim memory, since a
// server that was restarted meanwhile has forgotten the setting.
func TestMemory_old_server_is_told_to_trim_by_each_hook(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 1, lab.Options{})
	u := units[0]
	told := func() (databases []string) {
		hook, err := c.RunHookKilledAt(t.Context(), u, "update-status", 0)
		require.NoError(t, err)
		for _, call := range hook.Calls {
			if strings.HasSuffix(call, "ovsdb-server/memory-trim-on-compaction on") {
				databases = append(databases, strings.TrimSuffix(filepath.Base(strings.Fields(call)[4]), ".ctl"))
			}
		}
		return databases
	}
	assert.Empty(t, told(), "those of this machine do it by themselves")

	// Otherwise the servers would be restarted, since other packages are installed.
	require.NoError(t, c.Configure(t.Context(), map[string]string{"enable-auto-restarts": "false"}))
	path := filepath.Join(u.DBDir(), "ovn-central-operator.unit.json")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	record := map[string]map[string]any{}
	require.NoError(t, json.Unmarshal(text, &record))
	running := record["services"]["running"].(map[string]any)
	for service, version := range running {
		ovn, _, found := strings.Cut(version.(string), " openvswitch ")
		require.True(t, found, version)
		running[service] = ovn + " openvswitch 2.17.9-0ubuntu0.22.04.1"
	}
	text, err = json.Marshal(record)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	for range 2 {
		assert.ElementsMatch(t, []string{"ovnnb_db", "ovnsb_db"}, told())
	}
}
