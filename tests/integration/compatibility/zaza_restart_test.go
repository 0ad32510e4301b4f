package compatibility

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// policyOf is the file that test_deferred_restarts waits for.
func policyOf(u *lab.Unit) string {
	return filepath.Join(u.SysconfDir(), "policy-rc.d", "charm-ovn-central.policy")
}

// clear is check_status_message_is_clear.
func (z zaza) clear() {
	z.T.Helper()
	z.message("Unit is ready")
	for _, u := range z.Units() {
		assert.NotContains(z.T, u.Workload().Message, "queued", u.Name())
	}
}

// test_deferred_restarts of OVNCentralDeferredRestartTest, from its first line to its last,
// on three units: run_package_change_test, then restart-services on unit after unit without
// a pause, then the option as it was.
func TestRestartsThatPackagesAskForOnEachUnitAreMadeOneUnitAfterTheOther(t *testing.T) {
	t.Parallel()
	m, units := labtest.Fresh(t, 3, lab.Options{})
	z := zaza{m}
	require.NoError(t, m.Configure(t.Context(), map[string]string{"enable-auto-restarts": "False"}))
	for _, u := range units {
		text, err := os.ReadFile(policyOf(u))
		require.NoError(t, err)
		require.Contains(t, string(text), "policy_requestor_name")
	}

	// get_service_timestamps, and trigger_deferred_restart_via_package.
	before := m.Processes(units...)
	for _, u := range units {
		_, err := m.JujuExec(t.Context(), u, "dpkg-reconfigure ovn-central; JUJU_HOOK_NAME=update-status ./hooks/update-status")
		require.NoError(t, err)
	}
	assert.Equal(t, before, m.Processes(units...), "nothing was restarted")
	for _, u := range units {
		assert.Contains(t, u.Workload().Message, "ovn-central", "check_show_deferred_restarts_wlm")
	}
	var shown struct{ Restarts, Hooks []string }
	require.NoError(t, yaml.Unmarshal([]byte(m.Act(units[0], "show-deferred-events")["output"]), &shown))
	assert.True(t, slices.ContainsFunc(shown.Restarts, func(event string) bool {
		return strings.Contains(event, "ovn-central") && strings.Contains(event, "Package update")
	}), "%v", shown.Restarts)

	// check_clear_restarts.
	down := labtest.WatchServers(units)
	w := m.StartWriter(t.Context(), 0)
	for _, u := range units {
		m.Act(u, "restart-services", "deferred-only=true")
	}
	down.End()
	assert.Empty(t, down.Broken)
	z.clear()
	for name, process := range m.Processes(units...) {
		assert.NotEqual(t, before[name], process, name)
	}
	m.Verify(w)

	require.NoError(t, m.Configure(t.Context(), map[string]string{"enable-auto-restarts": "True"}))
	for _, u := range units {
		assert.NoFileExists(t, policyOf(u))
		m.Act(u, "run-deferred-hooks") // check_clear_hooks
	}
	z.clear()
}
