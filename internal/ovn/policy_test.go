package ovn_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/ovn-central/ovn-central-operator/internal/ovn"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

// What zaza waits for is in the file that it looks at (test_deferred_restarts of
// zaza-openstack-tests), and what packages ask is asked of the program as
// deb-systemd-invoke and invoke-rc.d do.
func TestPolicyRefusesWhatPackagesWouldRestartAndNotesIt(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	program := filepath.Join(root, "charm", "ovn-central", "policy-rc.d")
	install := runtest.Expect("update-alternatives", "--install", "/usr/sbin/policy-rc.d", "policy-rc.d", program, "40")
	p := ovn.Policy{
		Runner: runtest.New(t, install), App: "ovn-central",
		Paths: ovndb.Paths{Etc: filepath.Join(root, "etc", "ovn"), DB: filepath.Join(root, "ovn")},
	}
	asked := func(args ...string) error {
		_, err := run.Exec{}.Run(t.Context(), run.Command{Name: program, Args: args})
		return err
	}
	for range 2 {
		require.NoError(t, p.Forbid(t.Context()))
	}
	file := filepath.Join(root, "etc", "policy-rc.d", "charm-ovn-central.policy")
	// The keys are those that other charms' programs read (contrib/openstack/policy_rcd.py of
	// charm-helpers).
	blocked := map[string]any{}
	for _, service := range ovndb.AllServices() {
		blocked[string(service)] = []any{"restart", "stop", "try-restart"}
	}
	assert.Equal(t, map[string]any{"blocked_actions": blocked, "policy_requestor_name": "ovn-central", "policy_requestor_type": "charm"}, readYAML(t, file))

	for _, args := range [][]string{{"ovn-central.service", "restart"}, {"--quiet", "ovn-ovsdb-server-sb", "stop"}, {"ovn-northd", "try-restart"}} {
		require.ErrorContains(t, asked(args...), "101", strings.Join(args, " "))
	}
	for _, args := range [][]string{{"ovn-central.service", "start"}, {"mysql", "restart"}, {"ovn-northd", "reload", "2"}} {
		require.NoError(t, asked(args...), strings.Join(args, " "))
	}
	// As PyYAML writes them, for another charm.
	other := "# Managed by juju\nblocked_actions:\n  openvswitch-switch: [restart, stop, try-restart]\npolicy_requestor_name: neutron-openvswitch\npolicy_requestor_type: charm\n"
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(file), "charm-neutron-openvswitch.policy"), []byte(other), 0o644))
	require.ErrorContains(t, asked("openvswitch-switch.service", "restart"), "101")

	taken, err := p.TakeDeferred()
	require.NoError(t, err)
	assert.ElementsMatch(t, []ovndb.Service{"ovn-central", "ovn-ovsdb-server-sb", "ovn-northd"}, taken)
	taken, err = p.TakeDeferred()
	require.NoError(t, err)
	assert.Empty(t, taken)
	left, err := filepath.Glob(filepath.Join(root, "policy-rc.d", "charm-neutron-openvswitch-*.deferred"))
	require.NoError(t, err)
	require.Len(t, left, 1, "the other charm's is left to it")
	event := readYAML(t, left[0])
	assert.InDelta(t, time.Now().Unix(), event["timestamp"], 60)
	delete(event, "timestamp")
	assert.Equal(t, map[string]any{
		"action": "restart", "service": "openvswitch-switch.service", "reason": "Package update",
		"policy_requestor_name": "neutron-openvswitch", "policy_requestor_type": "charm",
	}, event, "nothing more: charm-helpers makes a tuple of it")

	require.NoError(t, p.Allow())
	assert.NoFileExists(t, file)
	require.NoError(t, asked("ovn-central.service", "restart"))
}

func readYAML(t *testing.T, file string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	found := map[string]any{}
	require.NoError(t, yaml.Unmarshal(text, &found))
	return found
}
