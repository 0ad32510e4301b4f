package deployment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// stride is how many calls further each run of a hook is killed, where no more is explored. The
// call at which the first one is killed differs from one time that the test is run to another, so
// that in time each was it.
const stride = 3

// The hooks in which a unit becomes what it is, each killed at one of its first calls of
// another program, run again and killed at one further on, and so on until it ends.
func TestHookThatIsKilledAtAnyCallEndsWhenItRunsAgain(t *testing.T) {
	t.Parallel()
	c := newCloud(t, lab.Options{})
	c.Hold(true)
	var units []*lab.Unit
	for range 2 {
		u := c.AddEmpty()
		units = append(units, u)
		c.killEverywhere(u)
		c.deliverAll(u)
	}
	c.VaultAnswers()
	var err error
	c.Certificates, err = c.Relate(t.Context(), "certificates", "vault", 1)
	require.NoError(t, err)
	leader, joiner := units[0], units[1]
	hooks := []string{"certificates-relation-joined", "certificates-relation-changed"}
	c.deliverKillingEverywhere(leader, hooks...)
	assert.Equal(t, "active", leader.Workload().Status, leader.Workload().Message)
	c.deliverKillingEverywhere(joiner, append(hooks, "ovsdb-peer-relation-changed ovn-central/0")...)
	// The last run may have found a server that was still joining; no event of another
	// unit is needed for it to end.
	c.Tick("the joiner is a member", func() bool { return joiner.Workload().Status == "active" })
	c.Hold(false)
	c.Tick("both are active", c.AllActive)
	c.RequireOneCluster(units...)
	for _, u := range units {
		assert.Empty(t, c.PutAway(u), "nothing was done twice")
		c.runTwice(u, "update-status")
	}
}

// deliverKillingEverywhere runs what is pending of a unit, the named hooks by
// killEverywhere.
func (c *cloud) deliverKillingEverywhere(u *lab.Unit, hooks ...string) {
	c.T.Helper()
	for next := c.next(u); len(next) > 0; next = c.next(u) {
		name, _, _ := strings.Cut(next[0], " ")
		if slices.Contains(hooks, name) || slices.Contains(hooks, next[0]) {
			c.killEverywhere(u)
			continue
		}
		_, err := c.Deliver(c.T.Context(), u)
		require.NoError(c.T, err)
	}
}

// killEverywhere runs a unit's next hook, some calls longer each time, until it ends.
func (c *cloud) killEverywhere(u *lab.Unit) {
	c.T.Helper()
	hook, _, _ := strings.Cut(c.Pending(u)[0], " ")
	step := max(1, stride/exploretest.Factor(c.T))
	for first, runs := 1+rand.IntN(step), 0; ; runs++ {
		require.Less(c.T, runs, 1000, "%s of %s never ends", hook, u.Name())
		k, err := c.RunHookKilledAt(c.T.Context(), u, hook, first+runs*step)
		require.NoError(c.T, err, "%s of %s, after it was killed %d times, first at call %d", hook, u.Name(), runs, first)
		if !k.Killed {
			c.T.Logf("%s %s: killed %d times, first at call %d", u.Name(), hook, runs, first)
			return
		}
	}
}

// deliverAll runs what is pending of a unit.
func (c *cloud) deliverAll(u *lab.Unit) {
	c.T.Helper()
	for len(c.next(u)) > 0 {
		_, err := c.Deliver(c.T.Context(), u)
		require.NoError(c.T, err)
	}
}

// next is what is pending of a unit once its agent has heard of what is on its way: in the
// ways of Juju 4 it hears late of what others wrote.
func (c *cloud) next(u *lab.Unit) []string {
	c.T.Helper()
	for {
		pending, at := c.Pending(u), c.Coming(u)
		if len(pending) > 0 || at.IsZero() {
			return pending
		}
		select {
		case <-time.After(time.Until(at)):
		case <-c.T.Context().Done():
			c.T.Fatal(context.Cause(c.T.Context()))
		}
	}
}

// Any hook, of any unit, killed at any moment, and not only at a call.
func TestUnitsWhoseHooksAreKilledAtRandomComeToTheSameEnd(t *testing.T) {
	t.Parallel()
	base := rand.Uint64()
	for n := range uint64(2 * exploretest.Factor(t)) {
		t.Run(fmt.Sprintf("seed %d", base+n), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(base+n, 0))
			c := newCloud(t, lab.Options{})
			c.Hold(true)
			c.RelateVault()
			c.RelateClients()
			var units []*lab.Unit
			for range 3 {
				units = append(units, c.AddEmpty())
			}
			c.deliverKilling(random, units...)
			c.Hold(false)
			c.Tick("all units are active", c.AllActive)
			c.RequireOneCluster(units...)
			c.requireConfigured(4, 60)
			for _, u := range units {
				assert.Equal(t, []string{"6641/tcp", "6642/tcp"}, slices.Sorted(slices.Values(u.OpenedPorts())), u.Name())
			}
			c.Hold(true)
			leaves := units[random.IntN(3)]
			require.NoError(t, c.Destroy(leaves))
			c.deliverKilling(random, units...)
			require.True(t, leaves.Removed())
			c.Hold(false)
			rest := slices.DeleteFunc(slices.Clone(units), func(u *lab.Unit) bool { return u == leaves })
			c.Tick("the others are active", c.AllActive)
			c.RequireOneCluster(rest...)
			c.RequireVacated(leaves)
		})
	}
}

// deliverKilling runs what is pending, in any order of units. Half of the hooks
// are killed within the time that they take.
func (c *cloud) deliverKilling(random *rand.Rand, units ...*lab.Unit) {
	c.T.Helper()
	for step := 0; ; step++ {
		require.Less(c.T, step, 2*maxDeliveries, "the units don't come to rest\n%s", c.Statuses())
		busy := slices.DeleteFunc(slices.Clone(units), func(u *lab.Unit) bool {
			return u.Removed() || len(c.Pending(u)) == 0
		})
		if len(busy) == 0 {
			return
		}
		u := busy[random.IntN(len(busy))]
		ctx, cancel := context.WithCancel(c.T.Context())
		if random.IntN(2) == 0 {
			ctx, cancel = context.WithTimeout(c.T.Context(), time.Duration(random.IntN(600))*time.Millisecond)
		}
		_, err := c.Deliver(ctx, u)
		cancel()
		if !errors.Is(err, lab.ErrKilled) && !errors.Is(err, context.DeadlineExceeded) { // or its time was over before it began
			require.NoError(c.T, err)
		}
	}
}
