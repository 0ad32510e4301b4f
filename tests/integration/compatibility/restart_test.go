package compatibility

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

func TestDeferredRestarts_are_shown_until_made(t *testing.T) {
	t.Parallel()
	m, units := labtest.Fresh(t, 3, lab.Options{})
	was := labtest.Versions(units)[0]
	require.NoError(t, m.Configure(t.Context(), map[string]string{"enable-auto-restarts": "false"}))
	before := m.Processes(units...)
	for _, u := range units {
		assert.Equal(t, "nothing is held back\n", m.Act(u, "show-deferred-events", "format=text")["output"])
	}
	m.Offer("99.1.0-1", units...)
	require.NoError(t, m.Configure(t.Context(), labtest.Archive(1)))
	m.Tick("all have the newer version", func() bool { return slices.Equal(labtest.Versions(units), []string{"99.1.0-1"}) })
	assert.Equal(t, before, m.Processes(units...), "nothing was restarted")
	reason := "upgrade from " + was + " to 99.1.0-1"
	for _, u := range units {
		m.Says(u, "active", "Services queued for restart: ovn-central, ovn-northd, ovn-ovsdb-server-nb, ovn-ovsdb-server-sb)")
		m.Finds(u, finding.RestartsHeld, "")
		assert.Contains(t, m.NextCommands(u), "juju run "+u.Name()+" restart-services deferred-only=true")
		// check_show_deferred_events_action_restart of zaza-openstack-tests.
		var shown struct{ Restarts, Hooks []string }
		require.NoError(t, yaml.Unmarshal([]byte(m.Act(u, "show-deferred-events")["output"]), &shown))
		assert.True(t, slices.ContainsFunc(shown.Restarts, func(event string) bool {
			return strings.Contains(event, "ovn-northd") && strings.Contains(event, reason)
		}), "%v", shown.Restarts)
		assert.Empty(t, shown.Hooks)
	}
	// trigger_deferred_restart_via_package and run_package_change_test of zaza: a package that is configured again
	// outside of the charm restarts nothing.
	for _, u := range units {
		assert.FileExists(t, filepath.Join(u.SysconfDir(), "policy-rc.d", "charm-ovn-central.policy"))
	}
	u := units[1]
	assert.Equal(t, "restart ovn-northd: "+reason+"\nrestart ovn-ovsdb-server-nb: "+reason+"\nrestart ovn-ovsdb-server-sb: "+reason+"\n",
		m.Act(u, "show-deferred-events", "format=text")["output"])
	assert.Contains(t, m.Act(u, "show-deferred-events", "format=yaml")["output"], "- service: ovn-northd\n  action: restart\n  reason: "+reason)
	assert.JSONEq(t, fmt.Sprintf(`[{"service":"ovn-northd","action":"restart","reason":%[1]q},{"service":"ovn-ovsdb-server-nb","action":"restart","reason":%[1]q},
		{"service":"ovn-ovsdb-server-sb","action":"restart","reason":%[1]q}]`, reason), m.Act(u, "show-deferred-events", "format=json")["output"])

	// A restart that would break the quorum is refused, and stays deferred.
	require.NoError(t, units[2].Kill(lab.NB))
	said := m.Refuse(u, "restart-services", "deferred-only=true")
	assert.Contains(t, said, "nb: "+labtest.QuorumLost(2, 3, 1, 3))
	assert.Contains(t, said, "down: ")
	assert.Contains(t, m.Act(u, "show-deferred-events", "format=text")["output"], "restart ovn-ovsdb-server-nb: "+reason)
	require.NoError(t, units[2].Start(t.Context(), lab.NB))

	m.Tick("three members that are up", m.AllActive)
	// F9: no server could be started on a file that lacks entries. Here the restart itself first rewrites the file.
	m.TakeOut(u.DBFile(lab.NB))
	assert.Equal(t, "restart ovn-ovsdb-server-nb: "+reason+"; its file lacks entries and must be rewritten first\n"+
		"restart ovn-ovsdb-server-sb: "+reason+"\n", m.Act(u, "show-deferred-events", "format=text")["output"])
	result := m.Act(u, "restart-services", "deferred-only=true")
	assert.Contains(t, result["restarted"], "ovn-ovsdb-server-nb, ovn-ovsdb-server-sb")
	assert.Equal(t, "nothing is held back\n", m.Act(u, "show-deferred-events", "format=text")["output"])
	m.Says(u, "active")
	assert.NotContains(t, u.Workload().Message, "queued")
	assert.Equal(t, "nothing: no restart is held back", m.Act(u, "restart-services", "deferred-only=true")["restarted"])

	// The second action that runbooks use does the same: hooks are never deferred.
	m.Tick("three members that are up", m.AllActive)
	result = m.Act(units[0], "run-deferred-hooks")
	assert.Equal(t, "ovn-northd, ovn-ovsdb-server-nb, ovn-ovsdb-server-sb", strings.Join(slices.Sorted(slices.Values(strings.Split(result["restarted"], ", "))), ", "))
	assert.Equal(t, "nothing is held back\n", m.Act(units[0], "show-deferred-events", "format=text")["output"])
	requireRestarted(m, units[0], before)
	assert.NotContains(t, units[0].Workload().Message, "queued")
	assert.Equal(t, "nothing: no restart is held back", m.Act(units[0], "run-deferred-hooks")["restarted"])

	// A service that is named is restarted even if no restart is deferred.
	middle := m.Processes(u)
	assert.Equal(t, "ovn-ovsdb-server-sb", m.Act(u, "restart-services", "services=ovn-ovsdb-server-sb")["restarted"])
	after := m.Processes(u)
	assert.Equal(t, strings.Split(middle[u.Name()+" nb"], ",")[0], strings.Split(after[u.Name()+" nb"], ",")[0])
	assert.NotEqual(t, middle[u.Name()+" sb"], after[u.Name()+" sb"])
	assert.Contains(t, m.Refuse(u, "restart-services", "services=mysql"), `no such service: "mysql"`)
	assert.Contains(t, m.Refuse(u, "restart-services"), "give either deferred-only=true, or services")

	down := labtest.WatchServers(units)
	require.NoError(t, m.Configure(t.Context(), map[string]string{"enable-auto-restarts": "true"}))
	m.Tick("nothing is due any more", func() bool {
		return !slices.ContainsFunc(units, func(u *lab.Unit) bool { return m.HasFinding(u, finding.RestartDue, "") }) && m.AllActive()
	})
	down.End()
	assert.Empty(t, down.Broken)
	for _, u := range units {
		assert.Equal(t, "nothing is held back\n", m.Act(u, "show-deferred-events", "format=text")["output"])
	}
	requireRestarted(m, units[0], before)
	requireRestarted(m, units[2], before)
}

// requireRestarted requires that each server of a unit is another process than before.
func requireRestarted(m *labtest.Model, u *lab.Unit, before map[string]string) {
	m.T.Helper()
	for name, process := range m.Processes(u) {
		assert.NotEqual(m.T, before[name], process)
	}
}

// OVNCentralDeferredRestartTest of zaza-openstack-tests: a restart that a package's script requests outside of the
// charm is refused, reported, and made by the action.
func TestDeferredRestarts_packages_restart_nothing(t *testing.T) {
	t.Parallel()
	m, units := labtest.Fresh(t, 1, lab.Options{})
	u := units[0]
	policy := filepath.Join(u.SysconfDir(), "policy-rc.d", "charm-ovn-central.policy")
	require.NoFileExists(t, policy)

	// A foreign program at this path is an obstacle, and the charm reports it until it is moved away.
	asked := filepath.Join(filepath.Dir(u.DBDir()), "usr/sbin/policy-rc.d")
	require.NoError(t, os.MkdirAll(filepath.Dir(asked), 0o755))
	require.NoError(t, os.WriteFile(asked, []byte("#!/bin/sh\nexit 0\n"), 0o755))
	require.NoError(t, m.Configure(t.Context(), map[string]string{"enable-auto-restarts": "False"}))
	m.Says(u, "active", "move "+asked+" away")
	m.Finds(u, finding.PolicyFailed, "")
	require.NoError(t, os.Remove(asked))
	m.RunUpdateStatus(u)
	m.FindsNone(u, finding.PolicyFailed)

	text, err := os.ReadFile(policy)
	require.NoError(t, err)
	require.Contains(t, string(text), "policy_requestor_name")

	before := m.Processes(u)
	// First the question that dpkg-reconfigure makes deb-systemd-invoke(1) ask; then an upgrade by another program.
	_, err = u.Exec(t.Context(), asked, "ovn-central.service", "restart")
	require.ErrorContains(t, err, "101")
	m.Act(u, "cluster-status") // it sees the same as a hook, and stores nothing
	_, err = m.JujuExec(t.Context(), u, "dpkg-reconfigure ovn-central; JUJU_HOOK_NAME=update-status ./hooks/update-status")
	require.NoError(t, err)
	assert.Equal(t, before, m.Processes(u), "nothing was restarted")
	m.Says(u, "active", "Services queued for restart: ovn-central, ")
	var shown struct{ Restarts, Hooks []string }
	require.NoError(t, yaml.Unmarshal([]byte(m.Act(u, "show-deferred-events")["output"]), &shown))
	assert.True(t, slices.ContainsFunc(shown.Restarts, func(event string) bool {
		return strings.Contains(event, "ovn-central") && strings.Contains(event, "Package update")
	}), "%v", shown.Restarts)

	m.Act(u, "restart-services", "deferred-only=true")
	m.Says(u, "active", "Unit is ready")
	assert.NotContains(t, u.Workload().Message, "queued")
	requireRestarted(m, u, before)

	before = m.Processes(u)
	require.NoError(t, u.OfferVersion("99.1.0-1"))
	_, err = u.Exec(t.Context(), "apt-get", "install", "-y", "--only-upgrade", "ovn-central")
	require.NoError(t, err)
	assert.Equal(t, before, m.Processes(u), "nothing was restarted")
	m.RunUpdateStatus(u)
	m.Says(u, "active", "Services queued for restart: ovn-central, ")

	// The Python charm forgets restarts that a reboot, systemd or an operator has made since (check_restart_timestamps()
	// in charm-helpers' contrib/openstack/deferred_events.py).
	held := func() string { return m.Act(u, "show-deferred-events", "format=text")["output"] }
	require.NoError(t, u.Kill(lab.NB))
	require.NoError(t, u.Start(t.Context(), lab.NB))
	m.RunUpdateStatus(u)
	assert.NotContains(t, held(), "ovn-ovsdb-server-nb")
	for _, service := range []string{"ovn-northd", "ovn-ovsdb-server-sb"} {
		assert.Contains(t, held(), "restart "+service)
	}
	require.NoError(t, u.PowerOff())
	require.NoError(t, u.PowerOn(t.Context()))
	m.Tick("the machine is back", m.AllActive)
	m.RunUpdateStatus(u)
	assert.Equal(t, "nothing is held back\n", held())
	m.FindsNone(u, finding.RestartsHeld)

	require.NoError(t, m.Configure(t.Context(), map[string]string{"enable-auto-restarts": "True"}))
	assert.NoFileExists(t, policy)
}
