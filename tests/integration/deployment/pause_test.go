package deployment

import (
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

func TestPause_unit_stays_down_until_resume(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 3, lab.Options{})
	w := c.StartWriter(t.Context(), 0)
	paused := c.Leader()
	c.MakeLeader(paused, lab.NB)
	others := labtest.Without(units, paused)
	// The action records that the unit is paused before it stops anything, so a killed action leaves nothing that starts
	// again. If it is run again, it continues, or finds nothing to do.
	var once sync.Once
	paused.OnCall(func(call string) {
		if strings.HasPrefix(call, "systemctl stop") {
			once.Do(func() { assert.NoError(t, paused.SignalHook(syscall.SIGKILL)) })
		}
	})
	r, err := c.RunAction(t.Context(), paused, "pause")
	require.NoError(t, err)
	require.Equal(t, "failed", r.Status, "the premise: it was killed")
	paused.OnCall(nil)
	for range 2 {
		results := c.Act(paused, "pause")
		assert.NotContains(t, results, "without-majority")
		requirePaused(c, paused)
	}
	c.RunUpdateStatus(paused)
	requirePaused(c, paused)

	message := c.Refuse(others[0], "pause")
	assert.Contains(t, message, "nb, sb: "+labtest.QuorumLost(2, 3, 1, 3))
	assert.Contains(t, message, paused.Address(), "it names the member that is down")
	assert.Contains(t, message, "next: juju run "+paused.Name()+" resume")
	for _, u := range others {
		requireRunning(c, u)
	}

	require.NoError(t, paused.PowerOff())
	require.NoError(t, paused.PowerOn(t.Context()))
	require.NoError(t, c.Settle(t.Context()))
	requirePaused(c, paused)

	// The paused unit gets changes meanwhile, and applies them once it is resumed.
	require.NoError(t, c.Configure(t.Context(), map[string]string{"ovsdb-server-inactivity-probe": "77", "ovsdb-server-election-timer": "9"}))
	requirePaused(c, paused)
	units = append(units, c.AddFresh(1)...)
	requirePaused(c, paused)

	said := map[string]bool{}
	for range 2 { // the second time the unit is not paused
		results := c.Act(paused, "resume")
		said[results["result"]] = true
		assert.NotContains(t, results["status"], "blocked")
		requireRunning(c, paused)
	}
	assert.Len(t, said, 2)
	c.Tick("all are active", c.AllActive)
	c.RequireOneCluster(units...)
	c.RequireConfigured(9, 77)
	c.Verify(w)
}

func requirePaused(c *labtest.Model, u *lab.Unit) {
	c.T.Helper()
	c.Says(u, "maintenance")
	c.Finds(u, finding.Paused, "")
	for _, db := range lab.Databases {
		require.False(c.T, u.Running(db), "%s of %s", db, u.Name())
	}
	out, _, err := u.Systemctl(c.T.Context(), "is-active", "ovn-northd")
	require.NoError(c.T, err)
	require.NotEqual(c.T, "active\n", out)
}

func requireRunning(c *labtest.Model, u *lab.Unit) {
	c.T.Helper()
	for _, db := range lab.Databases {
		require.True(c.T, u.Running(db), "%s of %s", db, u.Name())
	}
	require.True(c.T, c.NorthdRuns(u), u.Name())
}
