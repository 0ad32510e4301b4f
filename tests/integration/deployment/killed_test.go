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
	c := newCloud(t, lab.Options{JujuVersion: lab.Juju4})
	c.Hold(true)
	var units []*lab.Unit
	for range 2 {
		u, err := c.AddUnitWith(t.Context(), lab.AddOptions{Fresh: true, NoHooks: true})
		require.NoError(t, err)
		units = append(units, u)
		c.killEverywhere(t, u)
		c.deliverAll(t, u)
	}
	c.vaultAnswers(t)
	var err error
	c.certificates, err = c.Relate(t.Context(), "certificates", "vault", 1)
	require.NoError(t, err)
	leader, joiner := units[0], units[1]
	hooks := []string{"certificates-relation-joined", "certificates-relation-changed"}
	c.deliverKillingEverywhere(t, leader, hooks...)
	assert.Equal(t, "active", leader.Workload().Status, leader.Workload().Message)
	c.deliverKillingEverywhere(t, joiner, append(hooks, "ovsdb-peer-relation-changed ovn-central/0")...)
	// The last run may have found a server that was still joining; no event of another
	// unit is needed for it to end.
	c.tick(t, "the joiner is a member", func() bool { return joiner.Workload().Status == "active" })
	c.Hold(false)
	c.tick(t, "both are active", c.allActive)
	c.requireOneCluster(t, units...)
	for _, u := range units {
		assert.Empty(t, putAway(t, u), "nothing was done twice")
		c.runTwice(t, u, "update-status")
	}
}

// deliverKillingEverywhere runs what is pending of a unit, the named hooks by
// killEverywhere.
func (c *cloud) deliverKillingEverywhere(t *testing.T, u *lab.Unit, hooks ...string) {
	t.Helper()
	for next := c.next(t, u); len(next) > 0; next = c.next(t, u) {
		name, _, _ := strings.Cut(next[0], " ")
		if slices.Contains(hooks, name) || slices.Contains(hooks, next[0]) {
			c.killEverywhere(t, u)
			continue
		}
		_, err := c.Deliver(t.Context(), u)
		require.NoError(t, err)
	}
}

// killEverywhere runs a unit's next hook, some calls longer each time, until it ends.
func (c *cloud) killEverywhere(t *testing.T, u *lab.Unit) {
	t.Helper()
	hook, _, _ := strings.Cut(c.Pending(u)[0], " ")
	step := max(1, stride/exploretest.Factor(t))
	for first, runs := 1+rand.IntN(step), 0; ; runs++ {
		require.Less(t, runs, 1000, "%s of %s never ends", hook, u.Name())
		k, err := c.RunHookKilledAt(t.Context(), u, hook, first+runs*step)
		require.NoError(t, err, "%s of %s, after it was killed %d times, first at call %d", hook, u.Name(), runs, first)
		if !k.Killed {
			t.Logf("%s %s: killed %d times, first at call %d", u.Name(), hook, runs, first)
			return
		}
	}
}

// deliverAll runs what is pending of a unit.
func (c *cloud) deliverAll(t *testing.T, u *lab.Unit) {
	t.Helper()
	for len(c.next(t, u)) > 0 {
		_, err := c.Deliver(t.Context(), u)
		require.NoError(t, err)
	}
}

// next is what is pending of a unit once its agent has heard of what is on its way: in the
// ways of Juju 4 it hears late of what others wrote.
func (c *cloud) next(t *testing.T, u *lab.Unit) []string {
	t.Helper()
	for {
		pending, at := c.Pending(u), c.Coming(u)
		if len(pending) > 0 || at.IsZero() {
			return pending
		}
		select {
		case <-time.After(time.Until(at)):
		case <-t.Context().Done():
			t.Fatal(context.Cause(t.Context()))
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
			c.relateVault(t)
			c.relateClients(t)
			var units []*lab.Unit
			for range 3 {
				u, err := c.AddUnitWith(t.Context(), lab.AddOptions{Fresh: true, NoHooks: true})
				require.NoError(t, err)
				units = append(units, u)
			}
			c.deliverKilling(t, random, units...)
			c.Hold(false)
			c.tick(t, "all units are active", c.allActive)
			c.requireOneCluster(t, units...)
			c.requireConfigured(t, 4, 60)
			for _, u := range units {
				assert.Equal(t, []string{"6641/tcp", "6642/tcp"}, slices.Sorted(slices.Values(u.OpenedPorts())), u.Name())
			}
			c.Hold(true)
			leaves := units[random.IntN(3)]
			require.NoError(t, c.Destroy(leaves))
			c.deliverKilling(t, random, units...)
			require.True(t, leaves.Removed())
			c.Hold(false)
			rest := slices.DeleteFunc(slices.Clone(units), func(u *lab.Unit) bool { return u == leaves })
			c.tick(t, "the others are active", c.allActive)
			c.requireOneCluster(t, rest...)
			requireVacated(t, leaves)
		})
	}
}

// deliverKilling runs what is pending, in any order of units. Half of the hooks
// are killed within the time that they take.
func (c *cloud) deliverKilling(t *testing.T, random *rand.Rand, units ...*lab.Unit) {
	t.Helper()
	for step := 0; ; step++ {
		require.Less(t, step, 2*maxDeliveries, "the units don't come to rest\n%s", c.statuses())
		busy := slices.DeleteFunc(slices.Clone(units), func(u *lab.Unit) bool {
			return u.Removed() || len(c.Pending(u)) == 0
		})
		if len(busy) == 0 {
			return
		}
		u := busy[random.IntN(len(busy))]
		ctx, cancel := context.WithCancel(t.Context())
		if random.IntN(2) == 0 {
			ctx, cancel = context.WithTimeout(t.Context(), time.Duration(random.IntN(600))*time.Millisecond)
		}
		_, err := c.Deliver(ctx, u)
		cancel()
		if !errors.Is(err, lab.ErrKilled) && !errors.Is(err, context.DeadlineExceeded) { // or its time was over before it began
			require.NoError(t, err)
		}
	}
}
