package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/cli"
)

func TestRoute(t *testing.T) {
	t.Parallel()
	const charm = "/var/lib/juju/agents/unit-ovn-central-0/charm/"
	tests := map[string]struct {
		args     []string
		dispatch string
		command  []string
	}{
		"hook": {[]string{charm + "dispatch"}, "hooks/stop", []string{"hook", "stop"}},
		"hook of a relation": {
			[]string{charm + "dispatch"},
			"hooks/ovsdb-peer-relation-joined",
			[]string{"hook", "ovsdb-peer-relation-joined"},
		},
		"action": {
			[]string{charm + "dispatch"},
			"actions/cluster-status",
			[]string{"action", "cluster-status"},
		},
		"unknown_hook": {
			[]string{charm + "dispatch"},
			"hooks/collect-metrics",
			[]string{"hook", "collect-metrics"},
		},
		"symlink in the folder of hooks":   {[]string{charm + "hooks/stop"}, "", []string{"hook", "stop"}},
		"symlink from the charm's folder":  {[]string{"hooks/update-status"}, "", []string{"hook", "update-status"}},
		"symlink with a dot":               {[]string{"./hooks/install"}, "", []string{"hook", "install"}},
		"symlink in the folder of actions": {[]string{charm + "actions/kick"}, "", []string{"action", "kick"}},
		"variable_of_Juju_comes_first":     {[]string{charm + "hooks/install"}, "hooks/stop", []string{"hook", "stop"}},
		"a dispatch path of neither":       {[]string{charm + "hooks/install"}, "secrets/stop", []string{"hook", "install"}},
		"sub-command": {
			[]string{"ovn-central-operator", "action", "kick"},
			"",
			[]string{"action", "kick"},
		},
		"sub-command in a hook":             {[]string{"./dispatch", "version"}, "hooks/stop", []string{"version"}},
		"sub-command of a symlink":          {[]string{charm + "hooks/stop", "version"}, "", []string{"version"}},
		"option":                            {[]string{"ovn-central-operator", "--help"}, "", []string{"--help"}},
		"nothing":                           {[]string{"ovn-central-operator"}, "", nil},
		"nothing but dispatch":              {[]string{charm + "dispatch"}, "", nil},
		"a dispatch path without a folder":  {[]string{"dispatch"}, "stop", nil},
		"a dispatch path that is a folder":  {[]string{"dispatch"}, "hooks", nil},
		"a dispatch path of another folder": {[]string{"dispatch"}, "lib/stop", nil},
		"folders above do not count":        {[]string{"/srv/hooks/bin/ovn-central-operator"}, "", nil},
		"by the name for gateways":          {[]string{"/usr/bin/ovn-gateways", "status"}, "hooks/stop", []string{"status"}},
		"nothing but that name":             {[]string{"ovn-gateways"}, "hooks/stop", []string{}},
		"no arguments at all":               {nil, "hooks/stop", nil},
	}
	for name, test := range tests {
		getenv := func(key string) string { return map[string]string{"JUJU_DISPATCH_PATH": test.dispatch}[key] }
		assert.Equal(t, test.command, cli.Route(test.args, getenv), name)
	}
}

// Juju, and people who look for hooks, use the charm's directory hooks/.
func TestRoute_every_hook(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir(filepath.Join("..", "..", "hooks"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		assert.Equal(t, []string{"hook", f.Name()}, cli.Route([]string{"/charm/hooks/" + f.Name()},
			func(string) string { return "" }))
	}
}
