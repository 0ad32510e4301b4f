package deployment

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// A held ovn-northd stays held, whatever happens to the unit meanwhile.
func TestHold_northd_stays_down_through_all_hooks(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 1, lab.Options{})
	u := units[0]
	c.Act(u, "hold-northd")
	assert.Contains(t, c.Refuse(u, "restart-services", "services=ovn-northd"), "next: juju run "+u.Name()+" release-northd")
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
			assert.Equal(t, "nb, sb", c.Act(u, "pause")["without-majority"])
			c.Act(u, "resume")
		},
	} {
		happens()
		c.RunUpdateStatus(u)
		assert.False(t, c.NorthdRuns(u), title)
		assert.Contains(t, northds(c, u), string(ovndb.NorthdHeld), title)
		for _, db := range lab.Databases {
			assert.True(t, u.Running(db), title)
		}
	}
	released := c.Act(u, "release-northd")["result"]
	assert.True(t, c.NorthdRuns(u))
	assert.NotEqual(t, released, c.Act(u, "release-northd")["result"], "it was not held any more")
	c.Tick("it is active", c.AllActive)
}

// A package or an operator stops every ovn-northd at once. The units know that before their next hooks, although their
// last reports say otherwise.
func TestNorthd_all_stopped_is_found_before_next_hook(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 2, lab.Options{})
	on, other := units[0], units[1]
	metrics := func(value string) func() bool {
		return func() bool {
			out, err := other.Exec(t.Context(), "curl", "--silent", "http://127.0.0.1:16401/metrics")
			return err == nil && strings.Contains(out, "\novn_central_northd_active "+value+"\n")
		}
	}
	c.Tick("another unit's ovn-northd is active, and its metrics show that", func() bool {
		if northdIs(t, on, ovndb.NorthdActive) {
			on, other = other, on
		}
		return strings.Contains(northds(c, on), other.Name()+": active") && metrics("1")()
	})
	c.FindsNone(on, finding.NorthdNoneActive)

	for _, u := range units {
		_, code, err := u.Systemctl(t.Context(), "stop", "ovn-northd")
		require.NoError(t, err)
		require.Zero(t, code)
	}
	for _, u := range units {
		assert.Equal(t, "waiting", c.Finds(u, finding.NorthdNoneActive, "").Severity, u.Name())
		assert.NotRegexp(t, `\.\d+ .*active`, c.Act(u, "cluster-status")["at-a-glance"], u.Name())
	}
	c.Eventually("the metrics show no active one", metrics("0"))

	c.Tick("one is active again", func() bool { return !c.HasFinding(on, finding.NorthdNoneActive, "") })
}

// The machine of an ovn-northd on standby dies, and its unit is replaced at once. SB's server still holds the dead
// session, which waits for the lock. So the active ovn-northd isn't restarted yet to learn of the new unit.
func TestNorthd_stays_active_while_dead_unit_is_replaced(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 3, lab.Options{})
	var active, dead *lab.Unit
	c.Tick("an active ovn-northd", func() bool {
		leader := c.LeaderOf(lab.SB)
		active, dead = nil, nil
		for _, u := range units {
			if northdIs(t, u, ovndb.NorthdActive) {
				active = u
			} else if u != leader {
				dead = u
			}
		}
		return active != nil
	})
	lost := false
	end := labtest.Watch(t.Context(), 20*time.Millisecond, func() {
		lost = lost || !northdIs(t, active, ovndb.NorthdActive)
	})
	c.PowerOff(dead)
	c.RequireDown(dead)
	c.RemoveByForce(dead)
	fresh := c.AddFresh(1)[0]
	end()
	assert.False(t, lost, "the active ovn-northd was restarted")
	knows := func(u *lab.Unit) func() bool {
		return func() bool {
			params, err := os.ReadFile(u.NorthdParams())
			return err == nil && strings.Contains(string(params), fresh.Address())
		}
	}
	assert.False(t, knows(active)())
	for _, u := range labtest.Without(labtest.Without(append(units, fresh), active), dead) {
		assert.True(t, knows(u)(), u.Name())
	}

	// With a shorter probe, that session ends sooner.
	require.NoError(t, c.Configure(t.Context(), map[string]string{"ovsdb-server-inactivity-probe": "1"}))
	c.Tick("the active one learns of it, too", knows(active))
}

func northdIs(t *testing.T, u *lab.Unit, state ovndb.NorthdHealth) bool {
	t.Helper()
	out, err := u.Exec(context.WithoutCancel(t.Context()), "ovn-appctl", "-t", "ovn-northd", "status")
	return err == nil && strings.TrimSpace(out) == "Status: "+string(state)
}

// northds returns the state of each unit's ovn-northd in a unit's cluster-status.
func northds(c *labtest.Model, u *lab.Unit) string {
	c.T.Helper()
	return c.Act(u, "cluster-status", "format=json")["northd"]
}
