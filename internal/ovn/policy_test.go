package ovn_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	policy, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(policy), "policy_requestor_name: ovn-central\n")

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
	assert.Len(t, left, 1, "the other charm's is left to it")

	require.NoError(t, p.Allow())
	assert.NoFileExists(t, file)
	require.NoError(t, asked("ovn-central.service", "restart"))
}
