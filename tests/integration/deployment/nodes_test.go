package deployment

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// Any unit shows and changes nodes; a node on whose machine a unit is, is held by that.
func TestNodesAreShownDrainedAndPutBackByAnyUnit(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{})
	address := units[2].Address()
	for name, at := range map[string]string{"gw1": "192.0.2.1", "gw2": "192.0.2.2", "gw3": address} {
		labtest.Tool(t, units[0], "ovn-sbctl", lab.SB, "chassis-add", name, "geneve", at, "--", "set", "Chassis", name, "hostname="+name+".example",
			"other_config:ovn-cms-options=enable-chassis-as-gw", "other_config:ovn-bridge-mappings=physnet1:br-ex")
	}
	labtest.Tool(t, units[0], "ovn-nbctl", lab.NB, "ls-add", "public", "--", "lsp-add", "public", "ln", "--", "lsp-set-type", "ln", "localnet", "--", "lsp-set-options", "ln", "network_name=physnet1", "--",
		"lr-add", "r1", "--", "lrp-add", "r1", "lrp-1", "00:00:00:00:00:01", "10.0.1.1/24", "--",
		"lsp-add", "public", "p1", "--", "lsp-set-type", "p1", "router", "--", "lsp-set-options", "p1", "router-port=lrp-1", "--",
		"lrp-set-gateway-chassis", "lrp-1", "gw1", "2", "--", "lrp-set-gateway-chassis", "lrp-1", "gw2", "1")

	assert.Contains(t, c.Act(units[1], "node-status", "node=gw3")["nodes"], "hold ovn-central: "+units[2].Name())
	// Units of the lab have the name of one machine. It is all that a unit is found by where tunnels have a
	// network of their own.
	host, err := os.Hostname()
	require.NoError(t, err)
	labtest.Tool(t, units[0], "ovn-sbctl", lab.SB, "chassis-add", "hv4", "geneve", "192.0.2.4", "--", "set", "Chassis", "hv4", "hostname="+host)
	assert.Contains(t, c.Act(units[1], "node-status", "node=hv4")["nodes"], "hold ovn-central: "+units[0].Name()+", "+units[1].Name()+", "+units[2].Name())
	assert.Contains(t, c.Refuse(units[0], "decommission", "node=hv4", "i-really-mean-it=true"), units[0].Name()+" is on the machine of "+host+" itself")
	assert.Contains(t, c.Act(units[1], "drain", "node=gw1.example", "timeout=30", "grace-period=0")["status"], "Success (200 Success): gw1.example is drained")
	assert.Contains(t, c.Act(units[0], "node-status")["nodes"], "next: juju run "+units[0].Name()+" undrain node=gw1.example\n")
	assert.Contains(t, labtest.Tool(t, units[0], "ovn-nbctl", lab.NB, "lrp-get-gateway-chassis", "lrp-1"), "lrp-1-gw2     2")
	assert.Contains(t, c.Refuse(units[2], "drain", "node=gw2", "timeout=30", "grace-period=30"), "is not smaller than timeout")
	again, err := c.RunAction(t.Context(), units[2], "drain", "node=gw1", "timeout=30", "grace-period=0")
	require.NoError(t, err)
	log := strings.Join(again.Log, "\n") // what a person sees while it runs
	assert.Contains(t, log, "drain gw1.example: it was begun by "+units[1].Name()+", action ")
	assert.Contains(t, log, "drain gw1.example: nothing is left")
	assert.Contains(t, c.Act(units[2], "undrain", "node=gw1", "wait=0")["status"], "gw1.example is in use again")
	assert.Contains(t, c.Refuse(units[0], "remove-node", "node=gw3", "i-really-mean-it=true"), "gw3.example can't be removed; reasons: 2")
	assert.Contains(t, c.Act(units[0], "cluster-health", "format=json")["status"], `"message": "databases healthy: 2 of 2"`)

	// Cordons and holds, and the revisions that they and plans of gateways leave.
	assert.Contains(t, c.Act(units[1], "cordon", "node=gw1", "reason=new disk")["status"], "gw1.example is cordoned: nothing new is scheduled on it; what it hosts stays\nnext: juju run "+units[1].Name()+" uncordon node=gw1.example\n")
	assert.Contains(t, c.Act(units[2], "node-status", "node=gw1")["nodes"], "gw1.example: cordoned by "+units[1].Name()+", action ")
	assert.Contains(t, c.Act(units[0], "uncordon", "node=gw1", "format=json")["status"], `"reason": "Success"`)
	assert.Contains(t, c.Act(units[0], "hold", "node=gw1", "name=bgp", "reason=routes")["status"], "gw1.example is held by bgp\nnext: juju run "+units[0].Name()+" release node=gw1.example name=bgp\n")
	assert.Contains(t, c.Refuse(units[1], "remove-node", "node=gw1", "i-really-mean-it=true"), "gw1.example can't be removed; ")
	assert.Contains(t, c.Act(units[1], "release", "node=gw1", "name=bgp")["status"], "hold bgp of gw1.example is released")
	assert.Contains(t, c.Refuse(units[1], "release", "node=gw1", "name=bgp"), `gw1.example has no hold "bgp"`)
	revisions := c.Act(units[2], "revisions")["status"]
	assert.Contains(t, revisions, "last-site-action, successful-site-action: site-action-success of ")
	assert.Contains(t, revisions, ", uncordon gw1, by "+units[0].Name()+", action ")
	assert.Contains(t, c.Refuse(units[0], "revisions", "base=committed", "diff=committed"), "there is nothing to compare")

	plan := c.Act(units[0], "reschedule-gateways", "dry-run=true")["plan"]
	found := regexp.MustCompile(`review-id (\S+): `).FindStringSubmatch(plan)
	require.NotEmpty(t, found, plan)
	c.Act(units[0], "cordon", "node=gw2")
	assert.Contains(t, c.Refuse(units[0], "reschedule-gateways", "review-id="+found[1], "wait=0"), "1 operation has changed the layout since the plan was reviewed")
	skipped, err := c.RunAction(t.Context(), units[0], "reschedule-gateways", "review-id="+found[1], "allow-intermediate-commits=true", "wait=0")
	require.NoError(t, err)
	assert.Contains(t, strings.Join(skipped.Log, "\n"), "skipping the check for intermediate commits")
	assert.Contains(t, c.Act(units[1], "rebalance-gateways", "target-revision=committed", "i-really-mean-it=true")["plan"], "restore: nothing to do")
	assert.Contains(t, c.Refuse(units[1], "rebalance-gateways", "target-revision=r000000000000", "i-really-mean-it=true"), "there is no r000000000000")
}
