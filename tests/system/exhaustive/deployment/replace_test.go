package deployment

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// stopAtOnce runs the remaining hooks of units that are being removed; a refused `stop` is retried.
func stopAtOnce(c *labtest.Model, units []*lab.Unit) {
	c.T.Helper()
	var all sync.WaitGroup
	for _, u := range units {
		all.Go(func() {
			if u.Agent().Status == "error" {
				_ = c.Retry(c.T.Context(), u)
			} else {
				_ = c.RemoveUnit(c.T.Context(), u, lab.RemoveOptions{})
			}
		})
	}
	all.Wait()
}

// calls matches a call of a program with this argument.
func calls(program, argument string) func(call string) bool {
	return func(call string) bool {
		return strings.HasPrefix(call, program+" ") && strings.Contains(call, argument)
	}
}

// All units are replaced by new ones, in every order that an operator may type: the data end on the new units, and no
// unit asks to deploy again. Juju hides a dying unit from the others' relation-list, and runs only its last hooks.
func TestReplace_all_units_keeps_data(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		n int
		// oldFirst: the removal of the old units begins before the new units exist.
		oldFirst bool
		juju     string
		// gone: this many of the old units have left before that.
		gone int
		// killed: a new unit's hook is killed while the unit joins, and an old unit's `stop` while it leaves.
		killed bool
	}{
		"1 by 1, the old one first":                       {n: 1, oldFirst: true, juju: "2.9.51"},
		"1 by 1, the new one first, and hooks are killed": {n: 1, juju: "3.6.11", killed: true},
		"2 by 2, the new ones first, Juju 4":              {n: 2, juju: lab.Juju4},
		"2 by 2, all at once":                             {n: 2, oldFirst: true, juju: "3.6.11"},
		"3 by 3, all at once":                             {n: 3, oldFirst: true, juju: "3.6.11"},
		"3 by 3, the old ones first":                      {n: 3, oldFirst: true, juju: "3.6.11", gone: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, old := labtest.Fresh(t, test.n, lab.Options{JujuVersion: test.juju})
			w := c.StartWriter(t.Context(), 0)
			for _, u := range old[:test.gone] {
				require.NoError(t, c.RemoveUnit(t.Context(), u, lab.RemoveOptions{}))
			}
			old = old[test.gone:]
			c.Hold(true)
			var fresh []*lab.Unit
			add := func() {
				for range test.n {
					fresh = append(fresh, c.AddEmpty())
				}
			}
			if !test.oldFirst {
				add()
			}
			for _, u := range old {
				require.NoError(t, c.Destroy(u))
			}
			if test.oldFirst {
				add()
			}
			if test.killed {
				c.KillPending(fresh[0], calls("ovsdb-tool", "join-cluster"))
			}
			c.Hold(false)
			for round := 0; len(old) > 0; round++ {
				require.Less(t, round, 20, "%s", c.Statuses())
				if round > 0 || !test.oldFirst {
					require.NoError(t, c.Settle(t.Context()))
				}
				for _, u := range fresh {
					assert.NotContains(t, u.Workload().Message, "deploy", "the old units have the copy")
					assert.NotContains(t, u.Workload().Message, "kick")
				}
				if test.killed && round == 0 {
					require.NoError(t, c.BeginRemoval(t.Context(), old[0]))
					c.KillPending(old[0], calls("ovs-appctl", "cluster/leave"))
				}
				stopAtOnce(c, old)
				old = slices.DeleteFunc(old, func(u *lab.Unit) bool { return u.Removed() })
			}
			require.NoError(t, c.Settle(t.Context()))
			c.Tick("the new ones are active", c.AllActive)
			for _, db := range lab.Databases {
				for _, u := range fresh {
					assert.Len(t, c.Raft(u, db).Servers, test.n)
				}
			}
			c.Verify(w)
		})
	}
}

func charmOf(t *testing.T, version string) string {
	t.Helper()
	dir, dispatch := t.TempDir(), filepath.Join(t.TempDir(), "dispatch")
	root, err := lab.Root()
	require.NoError(t, err)
	flags := "-ldflags=-s -w -X github.com/ovn-central/ovn-central-operator/internal/version.Version=" + version
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", flags, "-o", dispatch, "./cmd/ovn-central-operator")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, lab.LayOut(t.Context(), dir, root, dispatch))
	return dir
}

// A unit that is down during a refresh stays on the old charm with Juju 4. While it is silent, its version is ignored.
func TestRefresh_missed_by_unit_is_reported(t *testing.T) {
	t.Parallel()
	older, newer := charmOf(t, "1.0"), charmOf(t, "1.1")
	m, units := labtest.Fresh(t, 3, lab.Options{Charm: older, JujuVersion: lab.Juju4})
	behind := units[2]
	require.NoError(t, behind.PowerOff())
	require.NoError(t, m.Refresh(t.Context(), newer))
	m.RunUpdateStatus(units[:2]...)
	for _, u := range units[:2] {
		assert.Equal(t, "1.1", u.Data()["charm-version"])
		m.FindsNone(u, finding.CharmVersionDiffers)
	}

	require.NoError(t, behind.PowerOn(t.Context()))
	require.NoError(t, m.Settle(t.Context()))
	m.RunUpdateStatus(units...)
	for _, u := range units {
		m.Finds(u, finding.CharmVersionDiffers, behind.Name())
	}

	before := m.Processes(units...)
	require.NoError(t, m.Refresh(t.Context(), newer)) // as the remedy says
	m.RunUpdateStatus(units...)
	for _, u := range units {
		m.FindsNone(u, finding.CharmVersionDiffers)
		m.Says(u, "active")
	}
	assert.Equal(t, before, m.Processes(units...), "nothing was restarted")
}

// Every hook, run a second time, changes no file, service, row, bag or status, and takes no step.
func TestHook_second_run_changes_nothing(t *testing.T) {
	t.Parallel()
	c := labtest.Empty(t, lab.Options{})
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
	deliverTwice(c, run, units...) // as far as it gets without certificates
	c.VaultAnswers()
	deliverTwice(c, run, units...)
	c.RequireOneCluster(units...)
	require.NoError(t, c.Configure(t.Context(), map[string]string{"ovsdb-server-inactivity-probe": "90"}))
	deliverTwice(c, run, units...)
	c.RefreshCharm()
	deliverTwice(c, run, units...)
	require.NoError(t, c.SetLeader(t.Context(), units[1]))
	deliverTwice(c, run, units...)
	for _, u := range units {
		for range 2 {
			runTwice(c, u, "update-status")
		}
	}
	require.NoError(t, c.Unrelate(t.Context(), c.CMS))
	deliverTwice(c, run, units...)
	require.NoError(t, c.Destroy(units[2]))
	deliverTwice(c, run, units...)
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

// deliverTwice runs the pending hooks of one unit after another, each hook twice.
func deliverTwice(c *labtest.Model, run map[string]bool, units ...*lab.Unit) {
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
				runTwice(c, u, name, "JUJU_REMOTE_UNIT="+about)
			}
		}
	}
}

func runTwice(c *labtest.Model, u *lab.Unit, hook string, env ...string) {
	c.T.Helper()
	if hook == "update-status" || hook == "install" || strings.HasSuffix(hook, "-departed") {
		// The hook had not run yet. For the other hooks, Juju itself changes the data at their end.
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
			continue // stop repeats it to be certain; it changes nothing
		}
		require.True(c.T, onlyLooks(call), "%s: the second %s called %s", u.Name(), hook, call)
	}
}

// onlyLooks reports whether a call changes nothing. Hook tools are judged by their effect.
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

// The hooks that set a unit up are killed at one of their first calls, run again and killed further on, to the end.
func TestHook_killed_at_any_call_completes_when_run_again(t *testing.T) {
	t.Parallel()
	c := labtest.Empty(t, lab.Options{JujuVersion: lab.Juju4})
	c.Hold(true)
	var units []*lab.Unit
	for range 2 {
		u := c.AddEmpty()
		units = append(units, u)
		c.KillHookEverywhere(u)
		c.DeliverAll(u)
	}
	c.VaultAnswers()
	c.RelateSealedVault()
	leader, joiner := units[0], units[1]
	hooks := []string{"certificates-relation-joined", "certificates-relation-changed"}
	deliverKillingEverywhere(c, leader, hooks...)
	assert.Equal(t, "active", leader.Workload().Status, leader.Workload().Message)
	deliverKillingEverywhere(c, joiner, append(hooks, "ovsdb-peer-relation-changed ovn-central/0")...)
	// The last run may have found a server that was still joining; no event of another unit is needed for it to end.
	c.Tick("the joiner is a member", func() bool { return joiner.Workload().Status == "active" })
	c.Hold(false)
	c.Tick("both are active", c.AllActive)
	c.RequireOneCluster(units...)
	for _, u := range units {
		assert.Empty(t, c.PutAway(u), "nothing was done twice")
		runTwice(c, u, "update-status")
	}
}

// deliverKillingEverywhere runs the pending hooks of a unit, the named ones by [labtest.Model.KillHookEverywhere].
func deliverKillingEverywhere(c *labtest.Model, u *lab.Unit, hooks ...string) {
	c.T.Helper()
	for next := c.Next(u); len(next) > 0; next = c.Next(u) {
		name, _, _ := strings.Cut(next[0], " ")
		if slices.Contains(hooks, name) || slices.Contains(hooks, next[0]) {
			c.KillHookEverywhere(u)
			continue
		}
		_, err := c.Deliver(c.T.Context(), u)
		require.NoError(c.T, err)
	}
}
