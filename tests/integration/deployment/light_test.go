package deployment

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// notHookTools are the other programs that an observation may start: they show the state of services and firewall.
var notHookTools = []string{"ovs-appctl", "ovsdb-client", "ovsdb-tool", "dpkg-query", "systemctl", "ufw", "snap"}

// An observation of one healthy unit out of three may start at most these numbers of hook tools and of other programs
// (the budget is 9 and 4, 10 and 6). On a controller each hook tool is a large program.
func TestClusterStatus_healthy_unit_starts_few_programs(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 3, lab.Options{})
	require.NoError(t, c.UpdateStatus(t.Context()))
	for name, most := range map[string]struct{ tools, others int }{
		"cluster-status": {7, 1},
		"update-status":  {8, 2},
	} {
		for _, u := range units {
			calls := callsOf(c, u, name)
			others := 0
			for _, call := range calls {
				if program, _, _ := strings.Cut(call, " "); slices.Contains(notHookTools, program) {
					others++
				}
			}
			t.Logf("%s of %s: %d hook tools, %d other programs", name, u.Name(), len(calls)-others, others)
			assert.Positive(t, len(calls)-others, "the premise: the calls are seen")
			assert.LessOrEqual(t, len(calls)-others, most.tools, "%s of %s: hook tools:\n%s", name, u.Name(), strings.Join(calls, "\n"))
			assert.LessOrEqual(t, others, most.others, "%s of %s: other programs:\n%s", name, u.Name(), strings.Join(calls, "\n"))
			slices.Sort(calls)
			assert.Equal(t, slices.Compact(slices.Clone(calls)), calls, "nothing is asked twice")
			c.Says(u, "active")
		}
	}
}

// callsOf returns the programs that a hook or an action starts.
func callsOf(c *labtest.Model, u *lab.Unit, name string) (calls []string) {
	c.T.Helper()
	u.OnCall(func(call string) { calls = append(calls, call) })
	defer u.OnCall(nil)
	if name == "cluster-status" {
		c.Act(u, name)
	} else {
		require.NoError(c.T, c.RunHook(c.T.Context(), u, name))
	}
	return calls
}
