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

// What zaza waits for is in the file that it looks at (test_deferred_restarts of
// zaza-openstack-tests), and what packages ask is asked of the program as
// deb-systemd-invoke and invoke-rc.d do.
func TestPolicyRefusesWhatPackagesWouldRestartAndNotesIt(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	program := filepath.Join(root, "charm", "ovn-central", "policy-rc.d")
	p := apt.Policy{
		Runner: alternatives{runtest.New(t, installs(program)), root}, App: "ovn-central",
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

	for range 2 { // reading forgets nothing
		deferred, err := p.Deferred()
		require.NoError(t, err)
		assert.ElementsMatch(t, []ovndb.Service{"ovn-central", "ovn-ovsdb-server-sb", "ovn-northd"}, slices.Collect(maps.Values(deferred)))
	}
	deferred, err := p.Deferred()
	require.NoError(t, err)
	for range 2 { // as one that was killed in between does it again
		require.NoError(t, p.Forget(deferred))
	}
	deferred, err = p.Deferred()
	require.NoError(t, err)
	assert.Empty(t, deferred)
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

// alternatives is update-alternatives(1) below a root, for one alternative: it makes the
// link, unless something else than a link is there, which it leaves there and exits with 0.
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

// The link is made by a program that can fail, or leave alone what is no link: each hook
// looks whether packages would ask in fact.
func TestPolicyIsNotTakenForSetWherePackagesAskSomethingElse(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		before func(link string) error
		calls  func(install runtest.Call) []runtest.Call
		says   []string // of each hook; empty is success
	}{
		"the call fails once": {
			calls: func(install runtest.Call) []runtest.Call {
				return []runtest.Call{install.Fails(2, "update-alternatives: error: unable to make it\n"), install}
			},
			says: []string{"unable to make it", "", ""},
		},
		"a file of something else": {
			before: func(link string) error { return os.WriteFile(link, []byte("#!/bin/sh\nexit 0\n"), 0o755) },
			calls:  func(install runtest.Call) []runtest.Call { return []runtest.Call{install, install} },
			says:   []string{"/usr/sbin/policy-rc.d away ", "(it does not read "},
		},
		"a link to what reads the policies": {
			before: func(link string) error {
				root := filepath.Dir(filepath.Dir(filepath.Dir(link)))
				script := filepath.Join(root, "script.py")
				text := []byte("DIR = '" + filepath.Join(root, "etc", "policy-rc.d") + "'\n")
				return errors.Join(os.WriteFile(script, text, 0o755), os.Symlink(script, link))
			},
			says: []string{"", ""},
		},
		"a link that leads nowhere": {
			before: func(link string) error { return os.Symlink("/nowhere", link) },
			calls:  func(install runtest.Call) []runtest.Call { return []runtest.Call{install} },
			says:   []string{"", ""},
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			link := filepath.Join(root, "usr", "sbin", "policy-rc.d")
			require.NoError(t, os.MkdirAll(filepath.Dir(link), 0o755))
			if c.before != nil {
				require.NoError(t, c.before(link))
			}
			was, _ := os.ReadFile(link)
			var calls []runtest.Call
			if c.calls != nil {
				calls = c.calls(installs(filepath.Join(root, "charm", "ovn-central", "policy-rc.d")))
			}
			p := apt.Policy{
				Runner: alternatives{runtest.New(t, calls...), root}, App: "ovn-central",
				Paths: ovndb.Paths{Etc: filepath.Join(root, "etc", "ovn"), DB: filepath.Join(root, "ovn")},
			}
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
				assert.Equal(t, was, now, "it is not ours")
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
