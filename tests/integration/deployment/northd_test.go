package deployment

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// Of two units.
func TestOvnNorthd(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 2, lab.Options{})

	// A hung ovn-northd is active to systemd. On every unit it stopped the whole
	// application, and every status went on as if nothing had happened.
	c.run("that hangs is shown", func(c *cloud) {
		t := c.T
		first, second := units[0], units[1]
		shown := c.Act(first, "cluster-status")["northd"]
		assert.Contains(t, shown, "active")
		assert.Contains(t, shown, second.Name()+": ")
		assert.NotContains(t, shown, "not known")
		if !strings.Contains(shown, first.Name()+": active") {
			first, second = second, first
		}

		// One that stands by does no work, until the server has ended the connection of the one that hangs.
		hang(t, first)
		require.NoError(t, c.UpdateStatus(t.Context()))
		restart := func(u *lab.Unit) string { return "juju run " + u.Name() + " restart-services services=ovn-northd" }
		c.Says(first, "waiting", "ovn-northd hangs: "+restart(first))
		c.Says(second, "waiting", "no ovn-northd is active")

		hang(t, second)
		require.NoError(t, c.UpdateStatus(t.Context()))
		require.NoError(t, c.UpdateStatus(t.Context()))
		for _, u := range units {
			c.Says(u, "blocked", "ovn-northd hangs: "+restart(u))
			results := c.Act(u, "cluster-status")
			assert.Contains(t, results["northd"], u.Name()+": does not answer\n")
			assert.Contains(t, results["northd"], ": not reported as working (as of its last hook)\n")
			assert.Contains(t, results["warnings"], "ovn-northd: no unit reports a working one")
		}
		for _, u := range units {
			c.Act(u, "restart-services", "services=ovn-northd")
		}
		require.NoError(t, c.UpdateStatus(t.Context()))
		c.RequireActive(units...)
		assert.Contains(t, c.Act(first, "cluster-status")["northd"], first.Name()+": ")

		// P3: what a hook has found and ended no status tells of any more; the log does.
		_, code, err := second.Systemctl(t.Context(), "stop", "ovn-northd")
		require.NoError(t, err)
		require.Zero(t, code)
		from := labtest.HookLogSize(t, second)
		c.RunUpdateStatus(second)
		c.Says(second, "active")
		assert.NotContains(t, second.Workload().Message, "ovn-northd")
		assert.Contains(t, labtest.HookLogFrom(t, second, from), "INFO start ovn-northd (it was not running)\n")
	})

	// OVN's fail-safe upgrade keeps ovn-northd from running while all else is upgraded;
	// each hook would start it again.
	c.run("that is held stays down until it is released", func(c *cloud) {
		t := c.T
		for i, u := range units {
			c.Act(u, "hold-northd")
			assert.False(t, c.NorthdRuns(u))
			if i == 0 {
				c.Says(u, "active", "ovn-northd is held; run: juju run "+u.Name()+" release-northd")
			}
		}
		require.NoError(t, c.Configure(t.Context(), map[string]string{"ovsdb-server-inactivity-probe": "0"}))
		c.Tick("none is active", func() bool {
			return labtest.Shows(units[0], "ovn-northd is held, none is active") && labtest.Shows(units[1], "ovn-northd is held, none is active")
		})
		shown := c.Act(units[0], "cluster-status")
		assert.Contains(t, shown["northd"], units[0].Name()+": held, by action hold-northd\n")
		assert.Contains(t, shown["next"], "juju run "+units[0].Name()+" release-northd\n")
		for _, u := range units {
			assert.False(t, c.NorthdRuns(u), "hooks leave it down")
			assert.Contains(t, c.Refuse(u, "restart-services", "services=ovn-northd"), "it is held; run: juju run "+u.Name()+" release-northd")
			assert.Equal(t, "released", c.Act(u, "release-northd")["result"])
			assert.True(t, c.NorthdRuns(u))
			assert.Equal(t, "ovn-northd was not held here", c.Act(u, "release-northd")["result"])
		}
		c.Tick("both are active", c.AllActive)
		c.Says(units[0], "active", "a dead ovn-northd keeps its lock: juju config ovn-central ovsdb-server-inactivity-probe=60")
	})
}

// What an operator holds stays held through all that happens to a unit meanwhile.
func TestOvnNorthdThatIsHeldStaysDownThroughAllThatHappensToTheUnit(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 1, lab.Options{})
	u := units[0]
	c.Act(u, "hold-northd")
	for title, happens := range map[string]func(){
		"the machine loses its power": func() {
			require.NoError(t, u.PowerOff())
			require.NoError(t, u.PowerOn(t.Context()))
		},
		"newer packages": func() {
			c.Offer("99.1.0-1", u)
			require.NoError(t, c.Configure(t.Context(), labtest.Archive(1)))
			c.Tick("the newer version", func() bool { return slices.Equal(labtest.Versions(units), []string{"99.1.0-1"}) })
		},
		"the charm is refreshed": func() { c.RefreshCharm() },
		"pause and resume": func() {
			c.Act(u, "pause")
			c.Act(u, "resume")
		},
	} {
		happens()
		c.RunUpdateStatus(u)
		assert.False(t, c.NorthdRuns(u), title)
		assert.Contains(t, u.Workload().Message, "ovn-northd is held", title)
		for _, db := range lab.Databases {
			assert.True(t, u.Running(db), title)
		}
	}
	c.Act(u, "release-northd")
	assert.True(t, c.NorthdRuns(u))
	c.Tick("it is active", c.AllActive)
}

// hang stops the unit's ovn-northd where it stands.
func hang(t *testing.T, u *lab.Unit) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(u.RunDir(), "ovn-northd.pid"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
}
