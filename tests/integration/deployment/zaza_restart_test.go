package deployment

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
)

// policyOf is the file that test_deferred_restarts waits for.
func policyOf(u *lab.Unit) string {
	return filepath.Join(u.SysconfDir(), "policy-rc.d", "charm-ovn-central.policy")
}

// clear is check_status_message_is_clear.
func (z zaza) clear(t *testing.T) {
	t.Helper()
	z.message(t, "Unit is ready")
	for _, u := range z.Units() {
		assert.NotContains(t, u.Workload().Message, "queued", u.Name())
	}
}

// test_deferred_restarts of OVNCentralDeferredRestartTest, from its first line to its last,
// on three units: run_package_change_test, then restart-services on unit after unit without
// a pause, then the option as it was.
func TestRestartsThatPackagesAskForOnEachUnitAreMadeOneUnitAfterTheOther(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{})
	z := zaza{c}
	require.NoError(t, c.Configure(t.Context(), map[string]string{"enable-auto-restarts": "False"}))
	for _, u := range units {
		text, err := os.ReadFile(policyOf(u))
		require.NoError(t, err)
		require.Contains(t, string(text), "policy_requestor_name")
	}

	// get_service_timestamps, and trigger_deferred_restart_via_package.
	before := processes(t, units...)
	for _, u := range units {
		_, err := c.JujuExec(t.Context(), u, "dpkg-reconfigure ovn-central; JUJU_HOOK_NAME=update-status ./hooks/update-status")
		require.NoError(t, err)
	}
	assert.Equal(t, before, processes(t, units...), "nothing was restarted")
	for _, u := range units {
		assert.Contains(t, u.Workload().Message, "ovn-central", "check_show_deferred_restarts_wlm")
	}
	var shown struct{ Restarts, Hooks []string }
	require.NoError(t, yaml.Unmarshal([]byte(c.act(t, units[0], "show-deferred-events")["output"]), &shown))
	assert.True(t, slices.ContainsFunc(shown.Restarts, func(event string) bool {
		return strings.Contains(event, "ovn-central") && strings.Contains(event, "Package update")
	}), "%v", shown.Restarts)

	// check_clear_restarts.
	down := watchServers(units)
	w := c.StartWriter(t.Context(), 0)
	for _, u := range units {
		c.act(t, u, "restart-services", "deferred-only=true")
	}
	down.end()
	assert.Empty(t, down.broken)
	z.clear(t)
	for name, process := range processes(t, units...) {
		assert.NotEqual(t, before[name], process, name)
	}
	lossless(t, w)

	require.NoError(t, c.Configure(t.Context(), map[string]string{"enable-auto-restarts": "True"}))
	for _, u := range units {
		assert.NoFileExists(t, policyOf(u))
		c.act(t, u, "run-deferred-hooks") // check_clear_hooks
	}
	z.clear(t)
}

// services is block_until_service_status for what CentralCharmOperationTest names:
// ovn-northd and ovsdb-server.
func (z zaza) services(t *testing.T, u *lab.Unit, run bool) {
	t.Helper()
	assert.Equal(t, run, northdRuns(t, u), "ovn-northd of %s", u.Name())
	for _, db := range lab.Databases {
		assert.Equal(t, run, u.Running(db), "ovsdb-server of %s, %s", u.Name(), db)
	}
}

// test_pause_resume of CentralCharmOperationTest: pause_resume of test_utils.py, on the
// unit that leads.
func TestUnitThatLeadsIsPausedAndResumed(t *testing.T) {
	t.Parallel()
	c, _ := deployed(t, 3, lab.Options{})
	z, u := zaza{c}, c.Leader()
	z.services(t, u, true)
	says(t, u, "active")
	c.act(t, u, "pause")
	require.NoError(t, c.Settle(t.Context()))
	says(t, u, "maintenance")
	z.services(t, u, false)
	c.act(t, u, "resume")
	require.NoError(t, c.Settle(t.Context()))
	c.tick(t, "block_until_unit_wl_status", func() bool { return u.Workload().Status == "active" })
	z.services(t, u, true)
}
