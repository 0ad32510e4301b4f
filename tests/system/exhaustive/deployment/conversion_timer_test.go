package deployment

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
	"github.com/ovn-central/ovn-central-operator/tests/system/transact"
)

// fillSouthbound writes rows that ovn-northd ignores to the Southbound database, until the file has so many MiB.
func fillSouthbound(c *labtest.Model, u *lab.Unit, mib int64) {
	c.T.Helper()
	_, err := transact.Grow(c.T.Context(), u.RunDir()+"/ovnsb_db.sock", u.DBFile(lab.SB), mib, 1000, "OVN_Southbound",
		"Controller_Event",
		func(n int) map[string]any {
			info := [][]string{{"vip", fmt.Sprintf("10.0.%d.%d:80", n>>8&255, n&255)}, {"load_balancer", fmt.Sprintf("%032x",
				n)}, {"datapath", fmt.Sprintf("%032x", n/7)}}
			return map[string]any{"event_type": "empty_lb_backends", "event_info": []any{"map", info}}
		})
	require.NoError(c.T, err)
}

func isConversion(call string) bool {
	return strings.HasPrefix(call, "ovsdb-client") && strings.Contains(call, " convert ") && strings.Contains(call, "ovnsb_db")
}

// With a timer of 1 s members that convert a large database hold elections: the timer is raised before, and restored.
func TestConversion_raises_election_timer_and_restores_it(t *testing.T) {
	t.Parallel()
	c, units := labtest.Fresh(t, 3, lab.Options{})
	require.NoError(t, c.Configure(t.Context(), map[string]string{"ovsdb-server-election-timer": "1"}))
	c.Tick("the timer of 1 s", c.AllActive)
	c.RequireConfigured(1, 60)
	fillSouthbound(c, c.Leaders()[lab.SB], 8)
	c.OfferUpgrade(units...)

	var mu sync.Mutex
	var conversions []string   // the unit's status, as each begins
	terms := map[uint64]bool{} // as each conversion begins, and as the timer begins to be put back
	putBack := false
	for _, u := range units {
		u.OnCall(func(call string) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case isConversion(call):
				s := c.Raft(u, lab.SB)
				assert.GreaterOrEqual(t, s.ElectionTimer, 12*time.Second)
				terms[s.Term] = true
				conversions = append(conversions, u.Workload().Status+": "+u.Workload().Message)
			case len(conversions) > 0 && strings.Contains(call, "cluster/change-election-timer OVN_Southbound"):
				if s := c.Raft(u, lab.SB); s.ElectionTimer >= 12*time.Second {
					terms[s.Term], putBack = true, true // lower, a busy machine alone costs an election
				}
			}
		})
	}
	w := c.StartWriter(t.Context(), time.Second)
	require.NoError(t, c.Configure(t.Context(), labtest.Archive(1)))
	c.Tick("both databases are of the newer schema, and the timer is back", func() bool {
		return c.Converted(units...) && c.AllActive() && c.Raft(units[0], lab.SB).ElectionTimer == time.Second
	})
	c.RequireConfigured(1, 60)
	c.Verify(w)
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, conversions, 1)
	assert.Regexp(t, `^maintenance: sb: .* 1\d s$`, conversions[0])
	assert.True(t, putBack, "from the raised value")
	assert.Len(t, terms, 1, "there was an election while the timer was raised")
}

// A new schema is for servers that were started with it: while restarts are held back, no unit converts; after the last
// restart the leader's hook does. A unit that is killed with a raised timer, or before it is restored, leaves nothing
// that the next hook misses.
func TestConversion_killed_is_finished_and_timer_restored(t *testing.T) {
	t.Parallel()
	c, units := labtest.Fresh(t, 3, lab.Options{})
	require.NoError(t, c.Configure(t.Context(), map[string]string{"ovsdb-server-election-timer": "1", "enable-auto-restarts": "false"}))
	c.OfferUpgrade(units...)
	require.NoError(t, c.Configure(t.Context(), labtest.Archive(1)))
	for _, u := range units[1:] {
		c.Act(u, "restart-services", "deferred-only=true")
		c.Tick("three members that are up", c.AllActive)
		assert.NotContains(t, c.Schemas(units...), lab.NewerSchema)
		for _, each := range units {
			c.Says(each, "active")
			c.Finds(each, finding.SchemaOlder, "nb")
			c.Finds(each, finding.SchemaOlder, "sb")
		}
	}
	c.Hold(true)
	c.Act(units[0], "restart-services", "deferred-only=true")
	leader := c.Leaders()[lab.SB]
	if leader != units[0] {
		require.NoError(t, c.RunHook(t.Context(), units[0], "update-status")) // so that it says what it runs
	}

	hook := "update-status"
	if pending := c.Pending(leader); len(pending) > 0 { // it hears what the last unit runs
		hook, _, _ = strings.Cut(pending[0], " ")
	}
	c.KillHook(leader, hook, isConversion)
	require.Equal(t, 4*time.Second, c.Raft(leader, lab.SB).ElectionTimer, "raised")

	putsBack := func(call string) bool {
		return strings.Contains(call, "cluster/change-election-timer OVN_Southbound 1000")
	}
	c.KillHook(leader, hook, putsBack)
	require.Equal(t, 8*time.Second, c.Raft(leader, lab.SB).ElectionTimer, "not tried again at the same")

	c.Hold(false)
	require.NoError(t, c.Settle(t.Context()))
	c.Tick("both databases are of the newer schema", func() bool { return c.Converted(units...) && c.AllActive() })
	c.RequireConfigured(1, 60)
	c.Tick("no unit says that a schema is older", func() bool {
		return !slices.ContainsFunc(units, func(u *lab.Unit) bool { return labtest.Shows(u, "schema") })
	})
}
