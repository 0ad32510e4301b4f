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
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// The hooks in which a unit becomes what it is, each killed at one of its first calls of
// another program, run again and killed at one further on, and so on until it ends.
func TestHookThatIsKilledAtAnyCallEndsWhenItRunsAgain(t *testing.T) {
	t.Parallel()
	c := newCloud(t, lab.Options{JujuVersion: lab.Juju4})
	c.Hold(true)
	var units []*lab.Unit
	for range 2 {
		u := c.AddEmpty()
		units = append(units, u)
		c.KillHookEverywhere(u)
		c.DeliverAll(u)
	}
	c.VaultAnswers()
	c.RelateSealedVault()
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
// [labtest.Model.KillHookEverywhere].
func (c *cloud) deliverKillingEverywhere(u *lab.Unit, hooks ...string) {
	c.T.Helper()
	for next := c.Next(u); len(next) > 0; next = c.Next(u) {
		name, _, _ := strings.Cut(next[0], " ")
		if slices.Contains(hooks, name) || slices.Contains(hooks, next[0]) {
			c.KillHookEverywhere(u)
			continue
		}
		_, err := c.Deliver(c.T.Context(), u)
		require.NoError(c.T, err)
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
			c.deliverKilling(random)
			c.Hold(false)
			c.Tick("all units are active", c.AllActive)
			c.RequireOneCluster(units...)
			c.RequireConfigured(4, 60)
			for _, u := range units {
				assert.Equal(t, []string{"6641/tcp", "6642/tcp"}, slices.Sorted(slices.Values(u.OpenedPorts())), u.Name())
			}
			c.Hold(true)
			leaves := units[random.IntN(3)]
			require.NoError(t, c.Destroy(leaves))
			c.deliverKilling(random)
			require.True(t, leaves.Removed())
			c.Hold(false)
			rest := slices.DeleteFunc(slices.Clone(units), func(u *lab.Unit) bool { return u == leaves })
			c.Tick("the others are active", c.AllActive)
			c.RequireOneCluster(rest...)
			c.RequireVacated(leaves)
		})
	}
}

// deliverKilling runs what is pending, in any order of units. Half of the hooks are killed within the
// time that they take.
func (c *cloud) deliverKilling(random *rand.Rand) {
	c.T.Helper()
	c.PlayOrder(random, nil, func(u *lab.Unit) {
		limit := labtest.Patience
		if random.IntN(2) == 0 {
			limit = time.Duration(random.IntN(600)) * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(c.T.Context(), limit)
		defer cancel()
		_, err := c.Deliver(ctx, u)
		if !errors.Is(err, lab.ErrKilled) && !errors.Is(err, context.DeadlineExceeded) { // or its time was over before it began
			require.NoError(c.T, err)
		}
	}, func() {})
}
