package deployment

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// Any unit shows and changes gateways, even if it leads no database, or its own server is down.
func TestGateways_are_shown_and_moved_by_any_unit(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 3, lab.Options{JujuVersion: lab.Juju4})
	// J9: data that Juju 4 provides late is not an error: the log of a fresh deployment has no ERROR for an operator to
	// find.
	c.Run("a deployment on Juju 4 logs no error", func(c *labtest.Model) {
		c.RunUpdateStatus(units...)
		for _, u := range units {
			log := labtest.HookLogFrom(c.T, u, 0)
			require.Contains(c.T, log, "ovn-northd", "the premise: it is the log")
			assert.NotRegexp(c.T, `(?m)^ERROR .*$`, log, u.Name())
		}
	})
	ovsdbtest.Follow(t, "unix:"+units[0].Socket(lab.SB))
	for i, name := range []string{"gw1", "gw2"} {
		labtest.Tool(t, units[0], "ovn-sbctl", lab.SB, "chassis-add", name, "geneve", "192.0.2."+string(rune('1'+i)), "--", "set", "Chassis", name,
			"hostname="+name, "other_config:ovn-cms-options=enable-chassis-as-gw", "other_config:ovn-bridge-mappings=physnet1:br-ex")
	}
	args := []string{"ls-add", "public", "--", "lsp-add", "public", "ln", "--", "lsp-set-type", "ln", "localnet", "--", "lsp-set-options", "ln", "network_name=physnet1"}
	for _, n := range []string{"1", "2", "3", "4"} {
		args = append(args, "--", "lr-add", "r"+n, "--", "lrp-add", "r"+n, "lrp-"+n, "00:00:00:00:00:0"+n, "10.0."+n+".1/24", "--",
			"lsp-add", "public", "p"+n, "--", "lsp-set-type", "p"+n, "router", "--", "lsp-set-options", "p"+n, "router-port=lrp-"+n, "--",
			"lrp-set-gateway-chassis", "lrp-"+n, "gw1", "1")
	}
	labtest.Tool(t, units[0], "ovn-nbctl", lab.NB, args...)

	var status schedule.Status
	require.NoError(t, json.Unmarshal([]byte(c.Act(units[1], "gateway-status", "format=json")["gateways"]), &status))
	require.Len(t, status.Networks, 1)
	assert.Equal(t, "physnet1", status.Networks[0].Name)
	assert.Equal(t, 4, status.Networks[0].Ports)
	assert.Equal(t, 4, status.Networks[0].Unhosted, "no chassis has claimed one")
	var planned schedule.Plan
	dry := c.Act(units[1], "reschedule-gateways", "dry-run=true", "format=json")
	require.NoError(t, json.Unmarshal([]byte(dry["plan"]), &planned))
	assert.Equal(t, []int{4, 8}, []int{planned.Cost.Gateways, planned.Cost.Rows})
	// No ovn-controller claims a port here, so nothing is active anywhere, and the result says so.
	r, err := c.RunAction(t.Context(), units[0], "reschedule-gateways", "wait=1")
	require.NoError(t, err)
	assert.Equal(t, "failed", r.Status)
	assert.Contains(t, r.Message, "juju run "+units[0].Name()+" gateway-status\n")
	assert.Contains(t, r.Message, "gw1: ovn-appctl -t ovn-controller inc-engine/recompute")
	assert.Equal(t, 4, strings.Count(r.Results["misplaced"], " gw1\n"),
		"a line for each gateway, with the expected chassis")
	var done gateway.History
	require.NoError(t, json.Unmarshal([]byte(c.Act(units[2], "gateway-history", "format=json")["history"]), &done))
	require.Len(t, done.Plans, 1)
	assert.Equal(t, 4, done.Plans[0].Gateways)
	for _, u := range units { // the first has done it
		c.Act(u, "reschedule-gateways", "wait=0")
	}
	var left schedule.Plan
	again := c.Act(units[2], "reschedule-gateways", "wait=0", "format=json")
	require.NoError(t, json.Unmarshal([]byte(again["plan"]), &left))
	assert.True(t, left.Empty())

	message := c.Refuse(units[1], "rebalance-gateways")
	assert.Contains(t, message, "\nnext: juju run "+units[1].Name()+" rebalance-gateways i-really-mean-it=true")
	require.NoError(t, units[1].Stop(t.Context(), lab.NB))
	result := c.Act(units[1], "rebalance-gateways", "i-really-mean-it=true", "wait=0")["result"]
	assert.Regexp(t, `juju run `+units[1].Name()+` rebalance-gateways revert=g\w+ i-really-mean-it=true$`, result)
	priorities := labtest.Tool(t, units[0], "ovn-nbctl", lab.NB, "--bare", "--columns=chassis_name", "find", "Gateway_Chassis", "priority=2")
	assert.Equal(t, 2, strings.Count(priorities, "gw1"))
	assert.Equal(t, 2, strings.Count(priorities, "gw2"))

	// Any other unit knows what was done, and can revert it.
	history := c.Act(units[0], "gateway-history")["history"]
	assert.Regexp(t, `(?m)^g\w+  \S+  rebalance +2 +2 +`+units[1].Name()+`, action \w+$`, history)
	_, plan, _ := strings.Cut(result, "revert=")
	plan, _, _ = strings.Cut(plan, " ")
	assert.Contains(t, c.Act(units[0], "gateway-history", "plan="+plan)["history"], ": gw1 (2), gw2 (1) -> gw2 (2), gw1 (1)\n")
	assert.Contains(t, c.Refuse(units[0], "rebalance-gateways", "revert="+plan), "rebalance-gateways revert="+plan+" i-really-mean-it=true")
	c.Act(units[0], "rebalance-gateways", "revert="+plan, "i-really-mean-it=true", "wait=0")
	priorities = labtest.Tool(t, units[0], "ovn-nbctl", lab.NB, "--bare", "--columns=chassis_name", "find", "Gateway_Chassis", "priority=2")
	assert.Equal(t, 4, strings.Count(priorities, "gw1"))
	assert.Contains(t, c.Refuse(units[0], "rebalance-gateways", "revert=g0"), plan, "it names the plans that exist")
}
