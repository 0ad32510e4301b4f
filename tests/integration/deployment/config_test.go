package deployment

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// The options of three units that work.
func TestOptions(t *testing.T) {
	t.Parallel()
	c := labtest.Empty(t, lab.Options{})
	// An agent that takes or releases the lease meanwhile would change the database.
	require.NoError(t, c.Configure(t.Context(), map[string]string{"agent-mode": "off"}))
	c.RelateVault()
	c.RelateClients()
	units := c.AddFresh(3)
	c.RequireActive(units...)

	// An invalid value is reported with its option and the valid values; nothing else changes. The previous value ends
	// the report.
	c.Run("bad ones block and change nothing", func(c *labtest.Model) {
		t := c.T
		for _, test := range []struct{ option, value, before, wants string }{
			{"ovsdb-server-inactivity-probe", "86401", "60", "0 to 86400"},
			{"source", "cloud:no-such-release", "distro", "no-such-release"},
		} {
			before := map[string]map[string]string{}
			for _, u := range units {
				before[u.Name()] = besidesStatus(c, u)
			}
			require.NoError(t, c.Configure(t.Context(), map[string]string{test.option: test.value}))
			for range 2 {
				for _, u := range units {
					c.Says(u, "blocked")
					said := c.Finds(u, finding.OptionInvalid, test.option).Message
					assert.Contains(t, said, test.value)
					assert.Contains(t, said, test.wants)
					assert.NotContains(t, u.Workload().Message, "\n")
					require.Equal(t, before[u.Name()], besidesStatus(c, u), "%s with %s=%s", u.Name(), test.option, test.value)
				}
				require.NoError(t, c.UpdateStatus(t.Context()))
			}
			require.NoError(t, c.Configure(t.Context(), map[string]string{test.option: test.before}))
			c.RequireActive(units...)
		}
	})

	// The options of the databases take effect at once and without a restart, whichever units lead the databases.
	c.Run("those of the databases take effect whoever leads", func(c *labtest.Model) {
		t := c.T
		follower := leadersApart(c, units)
		pids := c.PIDs(units...)
		require.NoError(t, c.Configure(t.Context(), map[string]string{"ovsdb-server-inactivity-probe": "180"}))
		c.RequireConfigured(4, 180)
		require.NoError(t, c.Configure(t.Context(), map[string]string{"ovsdb-server-inactivity-probe": "0", "ovsdb-server-election-timer": "1"}))
		c.RequireConfigured(1, 0)
		c.RequireActive(units...)

		// A unit that is not the leader reports the pending changes.
		c.Hold(true)
		require.NoError(t, c.Configure(t.Context(), map[string]string{"ovsdb-server-election-timer": "16"}))
		c.DeliverAll(follower)
		c.Says(follower, "active")
		for _, db := range lab.Databases {
			said := c.Finds(follower, finding.ElectionTimerChanges, string(db)).Message
			assert.Contains(t, said, "1000 ms")
			assert.Contains(t, said, "16000 ms")
		}
		c.Hold(false)
		require.NoError(t, c.Settle(t.Context()))
		c.RequireConfigured(16, 0)
		c.RunUpdateStatus(follower)
		c.FindsNone(follower, finding.ElectionTimerChanges)
		require.NoError(t, c.Configure(t.Context(), map[string]string{"ovsdb-server-election-timer": "1"}))
		c.RequireConfigured(1, 0)
		c.RequireActive(units...)
		assert.Equal(t, pids, c.PIDs(units...), "no server was restarted")
	})

	// A change of the election timer without a quorum is pending, and is made once there is a quorum again.
	c.Run("an election timer that finds no quorum is pending", func(c *labtest.Model) {
		t := c.T
		require.NoError(t, c.Configure(t.Context(), map[string]string{"ovsdb-server-election-timer": "1", "ovsdb-server-inactivity-probe": "60"}))
		c.PowerOff(units[1:]...)
		c.Eventually("it has no quorum", func() bool {
			s := c.Raft(units[0], lab.NB)
			return !s.HasLeader() || s.Role != "leader"
		})
		require.NoError(t, c.Configure(t.Context(), map[string]string{"ovsdb-server-election-timer": "2"}))
		assert.NotEqual(t, "active", units[0].Workload().Status, units[0].Workload().Message)
		for _, u := range units[1:] {
			require.NoError(t, u.PowerOn(t.Context()))
		}
		require.NoError(t, c.Settle(t.Context()))
		c.Tick("all are active", c.AllActive)
		c.RequireConfigured(2, 60)
	})
}

// besidesStatus returns everything that a hook can change, except the status and the unit's own record that it must
// observe everything.
func besidesStatus(c *labtest.Model, u *lab.Unit) map[string]string {
	c.T.Helper()
	all := c.Everything(u)
	maps.DeleteFunc(all, func(name, _ string) bool {
		return slices.Contains([]string{"status", "/db/ovn-central-operator.unit.json", "/run/ovn-central-findings.json"}, name)
	})
	return all
}

// A value that is invalid from the beginning affects only what depends on it: the clusters are created with the
// default, and get the value once it is corrected.
func TestOptions_invalid_at_deployment_apply_once_corrected(t *testing.T) {
	t.Parallel()
	c := labtest.Empty(t, lab.Options{})
	c.RelateVault()
	require.NoError(t, c.Configure(t.Context(), map[string]string{"ovsdb-server-election-timer": "100"}))
	u := c.AddFresh(1)[0]
	c.Says(u, "blocked")
	assert.Contains(t, c.Finds(u, finding.OptionInvalid, "ovsdb-server-election-timer").Message, "1 to 60")
	c.RequireConfigured(4, 60)
	require.NoError(t, c.Configure(t.Context(), map[string]string{"ovsdb-server-election-timer": "6"}))
	c.RequireActive(u)
	c.RequireConfigured(6, 60)
}

// leadersApart makes different units lead the databases, and returns a unit that leads neither.
func leadersApart(c *labtest.Model, units []*lab.Unit) *lab.Unit {
	c.T.Helper()
	ctx := c.Patient()
	for {
		nb, err := c.RaftLeader(ctx, lab.NB)
		require.NoError(c.T, err)
		sb, err := c.RaftLeader(ctx, lab.SB)
		require.NoError(c.T, err)
		if nb != sb {
			return units[slices.IndexFunc(units, func(u *lab.Unit) bool { return u != nb && u != sb })]
		}
		_, err = nb.Appctl(ctx, lab.NB, "cluster/failure-test", "transfer-leadership")
		require.NoError(c.T, err)
	}
}
