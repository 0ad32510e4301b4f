package deployment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// A drain that makes no progress for five minutes is said to have stalled, in the status of the unit that
// acts. The minutes are played: by so much the clock is fast by which its agent measures.
func TestDrainThatStallsIsInTheStatusOfTheUnitThatActs(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 1, lab.Options{Charm: labtest.CharmWithClock(t)})
	u := labtest.ActingUnit(t, units...)
	labtest.Tool(t, u, "ovn-sbctl", lab.SB, "chassis-add", "gw1", "geneve", "192.0.2.1")
	c.Act(u, "hold", "node=gw1", "name=bgp")
	assert.Contains(t, c.Refuse(u, "drain", "node=gw1", "timeout=5", "grace-period=0"), "gw1 is not drained")
	c.Tick("the drain is not in the status", func() bool { return labtest.Shows(u, "draining gw1: hold bgp") })

	fast := time.Duration(0)
	c.Tick("the drain does not stall", func() bool {
		fast += 5 * time.Minute
		require.NoError(t, u.SetBoottime(fast))
		labtest.ActingUnit(t, u) // it may act again once it has seen the database; one that looks before forgets what it saw
		labtest.Tool(t, u, "ovn-nbctl", lab.NB, "set", "NB_Global", ".", "external_ids:touched="+fast.String())
		return c.HasFinding(u, finding.DrainStalled, "")
	})
	assert.Contains(t, c.Act(u, "agent-status")["agent"], "STALLED")
}
