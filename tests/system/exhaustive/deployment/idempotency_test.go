package deployment

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// Every hook of a unit's life, run a second time, finds all as it should be: it
// changes no file, service, row, bag or status, and takes no step.
func TestHookThatIsRunTwiceChangesNothingTheSecondTime(t *testing.T) {
	t.Parallel()
	c := newCloud(t, lab.Options{})
	c.Hold(true)
	// An agent that takes the lease between the two runs changes the database.
	require.NoError(t, c.Configure(t.Context(), map[string]string{"agent-mode": "off"}))
	c.RelateSealedVault()
	c.RelateClients()
	var units []*lab.Unit
	for range 3 {
		units = append(units, c.AddEmpty())
	}
	run := map[string]bool{}
	c.deliverTwice(run, units...) // as far as it gets without certificates
	c.VaultAnswers()
	c.deliverTwice(run, units...)
	c.RequireOneCluster(units...)
	require.NoError(t, c.Configure(t.Context(), map[string]string{"ovsdb-server-inactivity-probe": "90"}))
	c.deliverTwice(run, units...)
	c.RefreshCharm()
	c.deliverTwice(run, units...)
	require.NoError(t, c.SetLeader(t.Context(), units[1]))
	c.deliverTwice(run, units...)
	for _, u := range units {
		for range 2 {
			c.runTwice(u, "update-status")
		}
	}
	require.NoError(t, c.Unrelate(t.Context(), c.CMS))
	c.deliverTwice(run, units...)
	require.NoError(t, c.Destroy(units[2]))
	c.deliverTwice(run, units...)
	assert.True(t, units[2].Removed())
	c.RequireOneCluster(units[:2]...)
	for _, hook := range []string{
		"install", "leader-elected", "leader-settings-changed", "config-changed", "start", "upgrade-charm", "stop",
		"certificates-relation-created", "certificates-relation-joined", "certificates-relation-changed",
		"ovsdb-relation-created", "ovsdb-relation-joined", "ovsdb-relation-changed",
		"ovsdb-cms-relation-created", "ovsdb-cms-relation-joined", "ovsdb-cms-relation-changed", "ovsdb-cms-relation-departed", "ovsdb-cms-relation-broken",
		"ovsdb-peer-relation-created", "ovsdb-peer-relation-joined", "ovsdb-peer-relation-changed", "ovsdb-peer-relation-departed",
	} {
		assert.True(t, run[hook], "%s was never run", hook)
	}
}

// deliverTwice runs what is pending, one unit after another, each hook twice.
func (c *cloud) deliverTwice(run map[string]bool, units ...*lab.Unit) {
	c.T.Helper()
	for moved := true; moved; {
		moved = false
		for _, u := range units {
			hook := ""
			if !u.Removed() {
				var err error
				hook, err = c.Deliver(c.T.Context(), u)
				require.NoError(c.T, err)
			}
			if hook == "" {
				continue
			}
			moved = true
			name, about, _ := strings.Cut(hook, " ")
			if next := c.Pending(u); !u.Removed() && (len(next) == 0 || !strings.HasPrefix(next[0], name)) { // else RunHook runs that one
				run[name] = true
				c.runTwice(u, name, "JUJU_REMOTE_UNIT="+about)
			}
		}
	}
}

// runTwice runs a hook that has just been run once more.
func (c *cloud) runTwice(u *lab.Unit, hook string, env ...string) {
	c.T.Helper()
	if hook == "update-status" || hook == "install" || strings.HasSuffix(hook, "-departed") {
		// It was not run yet; and by the end of the others Juju itself shows more, or
		// less: an agent enters relations, or a relation has no unit left.
		require.NoError(c.T, c.RunHook(c.T.Context(), u, hook, env...))
	}
	before, from := c.Everything(u), labtest.HookLogSize(c.T, u)
	var calls []string
	u.OnCall(func(call string) { calls = append(calls, call) })
	require.NoError(c.T, c.RunHook(c.T.Context(), u, hook, env...))
	u.OnCall(nil)
	require.Equal(c.T, before, c.Everything(u), "%s: the second %s changed something", u.Name(), hook)
	said := strings.ReplaceAll(labtest.HookLogFrom(c.T, u, from), "INFO nb: there is no database\nINFO sb: there is no database\n", "") // that is what stop finds
	require.NotContains(c.T, said, "INFO", "%s: the second %s took a step", u.Name(), hook)
	for _, call := range calls {
		if hook == "stop" && (strings.HasPrefix(call, "systemctl stop ") || strings.HasPrefix(call, "systemctl disable ")) {
			continue // for certain; what is down and disabled stays so
		}
		require.True(c.T, onlyLooks(call), "%s: the second %s called %s", u.Name(), hook, call)
	}
}

// onlyLooks reports whether a call of another program leaves everything as it is.
// Hook tools that write are judged by what they have changed.
func onlyLooks(call string) bool {
	words := strings.Fields(call)
	has := func(some ...string) bool {
		return slices.ContainsFunc(some, func(word string) bool { return slices.Contains(words, word) })
	}
	switch words[0] {
	case "systemctl":
		return has("show", "is-active", "is-enabled")
	case "ovs-appctl":
		return has("cluster/status", "status", "nb-connection-status", "sb-connection-status")
	case "ovsdb-tool":
		return !has("create", "create-cluster", "join-cluster", "convert", "compact")
	case "ovsdb-client":
		return !has("convert", "transact")
	case "ufw":
		return has("status")
	case "apt-get", "add-apt-repository", "snap", "leader-set", "close-port":
		return false
	}
	return true
}
