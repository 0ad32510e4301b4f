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

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// Of two units.
func TestOvnNorthd(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 2, lab.Options{})

	// A hung ovn-northd is active to systemd. On every unit it stopped the whole
	// application, and every status stayed as if nothing had happened.
	c.run("that hangs is shown", func(c *cloud) {
		t := c.T
		first, second := units[0], units[1]
		shown := northds(c, first)
		assert.Contains(t, shown, "active")
		assert.Contains(t, shown, second.Name()+": ")
		assert.NotContains(t, shown, "not known")
		if !strings.Contains(shown, first.Name()+": active") {
			first, second = second, first
		}

		// The standby does no work until the server has ended the connection of the hung one.
		hang(t, first)
		require.NoError(t, c.UpdateStatus(t.Context()))
		restart := func(u *lab.Unit) string { return "juju run " + u.Name() + " restart-services services=ovn-northd" }
		c.Says(first, "waiting")
		c.Finds(first, finding.NorthdNoneActive, "")
		assert.Contains(t, c.NextCommands(first), restart(first))
		c.Says(second, "waiting")
		c.Finds(second, finding.NorthdNoneActive, "")

		hang(t, second)
		require.NoError(t, c.UpdateStatus(t.Context()))
		require.NoError(t, c.UpdateStatus(t.Context()))
		for _, u := range units {
			c.Says(u, "blocked")
			c.Finds(u, finding.NorthdHangs, "")
			assert.Contains(t, c.NextCommands(u), restart(u))
			assert.NotContains(t, northds(c, u), "active")
		}
		for _, u := range units {
			c.Act(u, "restart-services", "services=ovn-northd")
		}
		require.NoError(t, c.UpdateStatus(t.Context()))
		c.RequireActive(units...)
		assert.Contains(t, northds(c, first), first.Name()+": ")

		// P3: what a hook has found and ended no status tells of any more; the log does.
		_, code, err := second.Systemctl(t.Context(), "stop", "ovn-northd")
		require.NoError(t, err)
		require.Zero(t, code)
		from := labtest.HookLogSize(t, second)
		c.RunUpdateStatus(second)
		c.Says(second, "active")
		c.FindsNone(second, finding.NorthdNoneActive, finding.NorthdDown, finding.NorthdHangs)
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
				c.Says(u, "active")
				c.Finds(u, finding.NorthdHeld, "")
				assert.Contains(t, c.NextCommands(u), "juju run "+u.Name()+" release-northd")
			}
		}
		require.NoError(t, c.Configure(t.Context(), map[string]string{"ovsdb-server-inactivity-probe": "0"}))
		c.Tick("none is active", func() bool {
			return c.HasFinding(units[0], finding.NorthdNoneActive, "") && c.HasFinding(units[1], finding.NorthdNoneActive, "")
		})
		assert.Contains(t, northds(c, units[0]), units[0].Name()+": held, by action hold-northd\n")
		assert.Contains(t, c.NextCommands(units[0]), "juju run "+units[0].Name()+" release-northd")
		for _, u := range units {
			assert.False(t, c.NorthdRuns(u), "hooks leave it down")
			assert.Contains(t, c.Refuse(u, "restart-services", "services=ovn-northd"), "next: juju run "+u.Name()+" release-northd")
			assert.Equal(t, "released", c.Act(u, "release-northd")["result"])
			assert.True(t, c.NorthdRuns(u))
			assert.Equal(t, "ovn-northd was not held here", c.Act(u, "release-northd")["result"])
		}
		c.Tick("both are active", c.AllActive)
		c.Says(units[0], "active")
		c.Finds(units[0], finding.NorthdProbeOff, "")
		assert.Contains(t, c.NextCommands(units[0]), "juju config ovn-central ovsdb-server-inactivity-probe=60")
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
		assert.Contains(t, northds(c, u), "held, by action hold-northd", title)
		for _, db := range lab.Databases {
			assert.True(t, u.Running(db), title)
		}
	}
	c.Act(u, "release-northd")
	assert.True(t, c.NorthdRuns(u))
	c.Tick("it is active", c.AllActive)
}

// northds is what a unit's cluster-status shows of the ovn-northd of each unit.
func northds(c *cloud, u *lab.Unit) string {
	c.T.Helper()
	return c.Act(u, "cluster-status", "format=json")["northd"]
}

// hang suspends the unit's ovn-northd.
func hang(t *testing.T, u *lab.Unit) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(u.RunDir(), "ovn-northd.pid"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
}
