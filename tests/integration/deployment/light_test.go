package deployment

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// The most that update-status may call on a healthy unit.
const (
	maxHookTools = 12
	maxAppctls   = 2 // for each database
)

func TestUpdateStatusOfAHealthyUnitIsLight(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 5, lab.Options{}) // each costs one more hook tool
	require.NoError(t, c.UpdateStatus(t.Context()))
	for _, u := range units {
		hookTools, appctls, others := 0, map[string]int{}, 0
		k, err := c.RunHookKilledAt(t.Context(), u, "update-status", 0)
		require.NoError(t, err)
		for _, call := range k.Calls {
			program, _, _ := strings.Cut(call, " ")
			switch {
			case program == "ovs-appctl" && strings.Contains(call, "nb_db.ctl"):
				appctls["nb"]++
			case program == "ovs-appctl" && strings.Contains(call, "sb_db.ctl"):
				appctls["sb"]++
			case program == "ovs-appctl" || program == "dpkg-query" || program == "systemctl" || program == "ufw":
				others++
			default:
				hookTools++
			}
		}
		t.Logf("%s: %d hook tools, ovs-appctl %v, %d others", u.Name(), hookTools, appctls, others)
		assert.LessOrEqual(t, hookTools, maxHookTools, "%s:\n%s", u.Name(), strings.Join(k.Calls, "\n"))
		for _, db := range lab.Databases {
			assert.Positive(t, appctls[string(db)], "%s was looked at", db)
			assert.LessOrEqual(t, appctls[string(db)], maxAppctls, "%s:\n%s", u.Name(), strings.Join(k.Calls, "\n"))
		}
		assert.LessOrEqual(t, others, 6, "ovn-northd (two connections and its part), packages, services, the firewall:\n%s", strings.Join(k.Calls, "\n"))
		c.Says(u, "active")
	}
}
