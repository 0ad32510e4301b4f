package deployment

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// breakApt makes a machine's apt-get fail, until mend.
func breakApt(t *testing.T, u *lab.Unit) (mend func()) {
	t.Helper()
	path := filepath.Join(filepath.Dir(u.CharmDir()), "bin", "apt-get")
	target, err := os.Readlink(path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	script := "#!/bin/sh\necho 'E: Unable to correct problems, you have held broken packages.' >&2\nexit 100\n"
	require.NoError(t, os.WriteFile(path, []byte(script), 0o755))
	return func() {
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.Symlink(target, path))
	}
}

// restarted returns the units that restarted a server, in order.
func restarted(called func(string) []string) (units []string) {
	for _, call := range called("systemctl restart ovn-ovsdb-server-") {
		unit, _, _ := strings.Cut(call, " ")
		if len(units) == 0 || units[len(units)-1] != unit {
			units = append(units, unit)
		}
	}
	return units
}

// followersFirst sorts the units by how many databases they lead, and then by number.
func followersFirst(leaders map[lab.DB]*lab.Unit, units []*lab.Unit) []*lab.Unit {
	led := map[*lab.Unit]int{}
	for _, u := range leaders {
		led[u]++
	}
	units = slices.Clone(units)
	slices.SortStableFunc(units, func(a, b *lab.Unit) int { return led[a] - led[b] })
	return units
}

func TestUpgrade_one_unit_at_a_time_followers_first(t *testing.T) {
	t.Parallel()
	c, units := labtest.Fresh(t, 3, lab.Options{})
	order := followersFirst(c.Leaders(), units)
	first, second, last := order[0], order[1], order[2]
	before, was := c.Processes(units...), labtest.Versions(units)
	c.Offer("99.1.0-1", units...)

	// While the first one can't, the others wait for it.
	mend := breakApt(t, first)
	require.NoError(t, c.Configure(t.Context(), labtest.Archive(1)))
	c.Says(first, "blocked", "you have held broken packages")
	for _, u := range []*lab.Unit{second, last} {
		c.Says(u, "active")
		assert.Contains(t, c.Finds(u, finding.UpgradeWaits, "").Message, first.Name())
	}
	assert.Equal(t, was, labtest.Versions(units))
	assert.Equal(t, before, c.Processes(units...), "nothing was restarted")
	mend()

	require.NoError(t, second.HoldDpkgLock(1)) // another program's apt, for a while
	called, down := labtest.RecordCalls(units...), labtest.WatchServers(units)
	w := c.StartWriter(t.Context(), 0)
	c.RunUpdateStatus(units...)
	c.Tick("all have the newer version", func() bool { return slices.Equal(labtest.Versions(units), []string{"99.1.0-1"}) && c.AllActive() })
	down.End()
	c.Verify(w)
	assert.Empty(t, down.Broken, "two members of a database are never down at once")
	assert.NotEmpty(t, down.Seen)
	assert.Equal(t, []string{first.Name(), second.Name(), last.Name()}, restarted(called), "followers before leaders")
	assert.Len(t, called("systemctl restart ovn-ovsdb-server-"), 6, "each server once")
	for _, u := range units {
		for _, db := range lab.Databases {
			pid, err := u.ServerPID(db)
			require.NoError(t, err)
			assert.NotContains(t, before[u.Name()+" "+string(db)], fmt.Sprintf("process %d,", pid))
			leadership := called(u.Name() + " ovs-appctl")
			assert.True(t, slices.ContainsFunc(leadership, func(call string) bool {
				return strings.Contains(call, "ovn"+string(db)+"_db.ctl exit")
			}), "%s's server of %s is told to exit, which hands over: %v", u.Name(), db, leadership)
		}
		c.FindsNone(u, finding.UpgradeWaits)
	}
	assert.Equal(t, "99.1.0", c.WorkloadVersion())
	c.RequireOneCluster(units...)
}

// An upgrade of the packages is killed, at its end and in the middle.
func TestUpgrade_killed_is_finished_with_restarts(t *testing.T) {
	t.Parallel()
	c, units := labtest.Fresh(t, 1, lab.Options{})
	u := units[0]

	// The next hook has nothing to finish any more.
	c.Run("a restart is made after its end", func(c *labtest.Model) {
		t := c.T
		before := c.Processes(u)
		require.NoError(t, u.InterruptDpkg())
		configured := false
		c.KillHook(u, "update-status", func(call string) bool {
			configured = configured || strings.HasPrefix(call, "dpkg ") && strings.Contains(call, "--configure")
			return configured && strings.Contains(call, "systemctl unmask --runtime")
		})
		c.RunUpdateStatus(u)
		c.RequireActive(u)
		c.Act(u, "restart-services", "services=ovn-central")
		for name, process := range c.Processes(u) {
			assert.NotEqual(t, before[name], process)
		}
		c.Tick("a unit that works", c.AllActive)
	})

	c.Run("its restarts are made", func(c *labtest.Model) {
		t := c.T
		for i, at := range []string{"systemctl unmask --runtime", "ovs-appctl"} {
			before, version := c.Processes(u), fmt.Sprintf("99.%d.0-1", i+1)
			c.Offer(version, u)
			c.Hold(true)
			require.NoError(t, c.Configure(t.Context(), labtest.Archive(i+1)))
			fetched := false
			c.KillHook(u, "config-changed", func(call string) bool {
				fetched = fetched || strings.HasPrefix(call, "apt-get") && strings.Contains(call, "--only-upgrade")
				return fetched && strings.Contains(call, at)
			})
			require.Equal(t, []string{version}, labtest.Versions(units), "the premise: the packages are there")
			c.Hold(false)
			require.NoError(t, c.Settle(t.Context()))
			c.Tick("a unit that works", c.AllActive)
			for name, process := range c.Processes(u) {
				assert.NotEqual(t, before[name], process, "killed at %s: the server is of the old version", at)
			}
		}
	})
}
