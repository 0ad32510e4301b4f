package deployment

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// stopAtOnce has Juju run what is left of the units that are being removed; a `stop`
// that is refused waits for its next try.
func (c *cloud) stopAtOnce(units []*lab.Unit) {
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

// calls reports whether a call is one of a program with this argument.
func calls(program, argument string) func(call string) bool {
	return func(call string) bool {
		return strings.HasPrefix(call, program+" ") && strings.Contains(call, argument)
	}
}

// All units are replaced by as many new ones, in every way in which an operator may
// type it: the data end on the new units, and no unit asks to deploy again. Juju
// hides a unit that is being removed from the others' relation-list, and runs no hook
// on it but the last ones.
func TestAllUnitsAreReplacedAndTheDataStay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		n int
		// oldFirst: the old ones are being removed before the new ones are there.
		oldFirst bool
		juju     string
		// gone: so many of the old ones have left before that.
		gone int
		// killed: a hook of a new one is killed as it joins, and the `stop` of an old one as
		// it leaves.
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
			c, old := deployed(t, test.n, lab.Options{JujuVersion: test.juju})
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
				c.stopAtOnce(old)
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
