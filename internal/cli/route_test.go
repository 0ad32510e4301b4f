package cli_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/cli"
)

func TestRoute(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ typed, dispatch, want string }{
		"hook":                        {"/charm/dispatch", "hooks/stop", "hook stop"},
		"unknown hook":                {"/charm/dispatch", "hooks/collect-metrics", "hook collect-metrics"},
		"action":                      {"/charm/dispatch", "actions/cluster-status", "action cluster-status"},
		"link among hooks":            {"/charm/hooks/stop", "", "hook stop"},
		"link from the charm's place": {"hooks/update-status", "", "hook update-status"},
		"link with a dot":             {"./hooks/install", "", "hook install"},
		"link among actions":          {"/charm/actions/kick", "", "action kick"},
		"variable before link":        {"/charm/hooks/install", "hooks/stop", "hook stop"},
		"variable of another folder":  {"/charm/hooks/install", "secrets/stop", "hook install"},
		"variable without a folder":   {"dispatch", "stop", ""},
		"variable is a folder":        {"dispatch", "hooks", ""},
		"sub-command":                 {"ovn-central-operator action kick", "", "action kick"},
		"sub-command in a hook":       {"./dispatch version", "hooks/stop", "version"},
		"sub-command of a link":       {"/charm/hooks/stop version", "", "version"},
		"flag":                        {"ovn-central-operator --help", "", "--help"},
		"nothing":                     {"ovn-central-operator", "", ""},
		"only dispatch":               {"/charm/dispatch", "", ""},
		"folders above do not count":  {"/srv/hooks/bin/ovn-central-operator", "", ""},
		"gateways in a hook":          {"/usr/bin/ovn-gateways status", "hooks/stop", "status"},
		"only gateways in a hook":     {"ovn-gateways", "hooks/stop", ""},
		"no arguments":                {"", "hooks/stop", ""},
	} {
		getenv := func(key string) string { return map[string]string{"JUJU_DISPATCH_PATH": test.dispatch}[key] }
		assert.Equal(t, test.want, strings.Join(cli.Route(strings.Fields(test.typed), getenv), " "), name)
	}
}
