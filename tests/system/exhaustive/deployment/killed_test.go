package deployment

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
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
