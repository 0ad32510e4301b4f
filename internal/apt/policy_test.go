package apt_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

// policyIn returns a policy below a root, on a machine that runs these commands.
func policyIn(t *testing.T, root string, calls ...runtest.Call) apt.Policy {
	t.Helper()
	return apt.Policy{
		Runner: alternatives{runtest.New(t, calls...), root}, App: "ovn-central",
		Paths: ovndb.Paths{Etc: filepath.Join(root, "etc", "ovn"), DB: filepath.Join(root, "ovn")},
	}
}

// programIn returns the path of the program that packages ask.
func programIn(root string) string { return filepath.Join(root, "charm", "ovn-central", "policy-rc.d") }

// The test asks the program as deb-systemd-invoke and invoke-rc.d do. Other charms, and zaza (test_deferred_restarts
// of zaza-openstack-tests), read the files.
func TestPolicy_refuses_and_records_restarts(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	p := policyIn(t, root, installs(programIn(root)))
	asked := func(line string) error {
		_, err := run.Exec{}.Run(t.Context(), run.Command{Name: programIn(root), Args: strings.Fields(line)})
		return err
	}
	for range 2 {
		require.NoError(t, p.Forbid(t.Context()))
	}
	file := filepath.Join(root, "etc", "policy-rc.d", "charm-ovn-central.policy")
	// The form of contrib/openstack/policy_rcd.py of charm-helpers.
	blocked := map[string]any{}
	for _, service := range ovndb.AllServices() {
		blocked[string(service)] = []any{"restart", "stop", "try-restart"}
	}
	assert.Equal(t, map[string]any{
		"blocked_actions": blocked, "policy_requestor_name": "ovn-central", "policy_requestor_type": "charm",
	}, readYAML(t, file))

	for _, refused := range []string{"ovn-central restart", "--quiet ovn-ovsdb-server-sb stop", "ovn-northd try-restart"} {
		require.ErrorContains(t, asked(refused), "101", refused)
	}
	for _, permitted := range []string{"ovn-central.service start", "mysql restart", "ovn-northd reload 2"} {
		require.NoError(t, asked(permitted), permitted)
	}
	// Another charm's policy, as PyYAML writes it.
	other := "# Managed by juju\nblocked_actions:\n  openvswitch-switch: [restart, stop, try-restart]\n" +
		"policy_requestor_name: neutron-openvswitch\npolicy_requestor_type: charm\n"
	theirs := filepath.Join(filepath.Dir(file), "charm-neutron-openvswitch.policy")
	require.NoError(t, os.WriteFile(theirs, []byte(other), 0o644))
	require.ErrorContains(t, asked("openvswitch-switch.service restart"), "101")

	want := []ovndb.Service{"ovn-central", "ovn-northd", "ovn-ovsdb-server-sb"}
	var deferred map[string]ovndb.Service
	var err error
	for range 2 { // reading keeps the records
		deferred, err = p.Deferred()
		require.NoError(t, err)
		assert.Equal(t, want, slices.Sorted(maps.Values(deferred)))
	}
	for range 2 { // Forget is idempotent
		require.NoError(t, p.Forget(deferred))
	}
	deferred, err = p.Deferred()
	require.NoError(t, err)
	assert.Empty(t, deferred)
	left, err := filepath.Glob(filepath.Join(root, "policy-rc.d", "charm-neutron-openvswitch-*.deferred"))
	require.NoError(t, err)
	require.Len(t, left, 1, "the other charm's record stays")
	event := readYAML(t, left[0])
	assert.InDelta(t, time.Now().Unix(), event["timestamp"], 60)
	delete(event, "timestamp")
	assert.Equal(t, map[string]any{
		"action": "restart", "service": "openvswitch-switch.service", "reason": "Package update",
		"policy_requestor_name": "neutron-openvswitch", "policy_requestor_type": "charm",
	}, event, "charm-helpers reads exactly these keys")

	require.NoError(t, p.Allow())
	assert.NoFileExists(t, file)
	require.NoError(t, asked("ovn-central.service restart"))
}

// alternatives replaces update-alternatives(1) below a root, for one alternative. It makes the link, but leaves
// a file that is not a link in place, and exits with 0.
type alternatives struct {
	*runtest.Script
	root string
}

func (a alternatives) Run(ctx context.Context, c run.Command) ([]byte, error) {
	out, err := a.Script.Run(ctx, c)
	link := filepath.Join(a.root, c.Args[1])
	if info, missing := os.Lstat(link); err != nil || missing == nil && info.Mode().IsRegular() {
		return out, err
	}
	return out, errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.RemoveAll(link), os.Symlink(c.Args[3], link))
}

func installs(program string) runtest.Call {
	return runtest.Expect("update-alternatives", "--install", "/usr/sbin/policy-rc.d", "policy-rc.d", program, "40")
}

// update-alternatives can fail, or leave a file that is not a link. So each hook checks which program packages ask.
func TestPolicy_other_program_in_place(t *testing.T) {
	t.Parallel()
	nothing := func(string) error { return nil }
	for title, c := range map[string]struct {
		before func(link string) error
		calls  func(install runtest.Call) []runtest.Call
		says   []string // the error of each hook; empty is success
	}{
		"failed_call": {nothing, func(install runtest.Call) []runtest.Call {
			return []runtest.Call{install.Fails(2, "update-alternatives: error: unable to make it\n"), install}
		}, []string{"unable to make it", "", ""}},
		"other_file": {
			func(link string) error { return os.WriteFile(link, []byte("#!/bin/sh\nexit 0\n"), 0o755) },
			func(install runtest.Call) []runtest.Call { return []runtest.Call{install, install} },
			[]string{"/usr/sbin/policy-rc.d", "/usr/sbin/policy-rc.d"},
		},
		"link_to_reader_of_policies": {func(link string) error {
			root := filepath.Dir(filepath.Dir(filepath.Dir(link)))
			script := filepath.Join(root, "script.py")
			text := []byte("DIR = '" + filepath.Join(root, "etc", "policy-rc.d") + "'\n")
			return errors.Join(os.WriteFile(script, text, 0o755), os.Symlink(script, link))
		}, func(runtest.Call) []runtest.Call { return nil }, []string{"", ""}},
		"broken_link": {
			func(link string) error { return os.Symlink("/nowhere", link) },
			func(install runtest.Call) []runtest.Call { return []runtest.Call{install} },
			[]string{"", ""},
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			link := filepath.Join(root, "usr", "sbin", "policy-rc.d")
			require.NoError(t, os.MkdirAll(filepath.Dir(link), 0o755))
			require.NoError(t, c.before(link))
			was, _ := os.ReadFile(link)
			p := policyIn(t, root, c.calls(installs(programIn(root)))...)
			for hook, says := range c.says {
				err := p.Forbid(t.Context())
				assert.FileExists(t, filepath.Join(root, "etc", "policy-rc.d", "charm-ovn-central.policy"))
				if says == "" {
					require.NoError(t, err, hook)
					continue
				}
				require.ErrorContains(t, err, says, hook)
			}
			if info, err := os.Lstat(link); err == nil && info.Mode().IsRegular() {
				now, err := os.ReadFile(link)
				require.NoError(t, err)
				assert.Equal(t, was, now)
			}
		})
	}
}

func readYAML(t *testing.T, file string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	found := map[string]any{}
	require.NoError(t, yaml.Unmarshal(text, &found))
	return found
}
