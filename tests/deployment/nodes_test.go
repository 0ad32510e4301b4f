package deployment

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// Any unit shows and changes nodes; a node on whose machine a unit is, is held by that.
func TestNodesAreShownDrainedAndPutBackByAnyUnit(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{})
	address := units[2].Address()
	for name, at := range map[string]string{"gw1": "192.0.2.1", "gw2": "192.0.2.2", "gw3": address} {
		tool(t, units[0], "ovn-sbctl", lab.SB, "chassis-add", name, "geneve", at, "--", "set", "Chassis", name, "hostname="+name+".example",
			"other_config:ovn-cms-options=enable-chassis-as-gw", "other_config:ovn-bridge-mappings=physnet1:br-ex")
	}
	tool(t, units[0], "ovn-nbctl", lab.NB, "ls-add", "public", "--", "lsp-add", "public", "ln", "--", "lsp-set-type", "ln", "localnet", "--", "lsp-set-options", "ln", "network_name=physnet1", "--",
		"lr-add", "r1", "--", "lrp-add", "r1", "lrp-1", "00:00:00:00:00:01", "10.0.1.1/24", "--",
		"lsp-add", "public", "p1", "--", "lsp-set-type", "p1", "router", "--", "lsp-set-options", "p1", "router-port=lrp-1", "--",
		"lrp-set-gateway-chassis", "lrp-1", "gw1", "2", "--", "lrp-set-gateway-chassis", "lrp-1", "gw2", "1")

	assert.Contains(t, c.act(t, units[1], "node-status", "node=gw3")["nodes"], "hold ovn-central: "+units[2].Name())
	// Units of the lab have the name of one machine. It is all that a unit is found by where tunnels have a
	// network of their own.
	host, err := os.Hostname()
	require.NoError(t, err)
	tool(t, units[0], "ovn-sbctl", lab.SB, "chassis-add", "hv4", "geneve", "192.0.2.4", "--", "set", "Chassis", "hv4", "hostname="+host)
	assert.Contains(t, c.act(t, units[1], "node-status", "node=hv4")["nodes"], "hold ovn-central: "+units[0].Name()+", "+units[1].Name()+", "+units[2].Name())
	assert.Contains(t, c.refused(t, units[0], "decommission", "node=hv4", "i-really-mean-it=true"), units[0].Name()+" is on the machine of "+host+" itself")
	assert.Contains(t, c.act(t, units[1], "drain", "node=gw1.example", "timeout=30", "grace-period=0")["status"], "Success (200 Success): gw1.example is drained")
	assert.Contains(t, c.act(t, units[0], "node-status")["nodes"], "next: juju run "+units[0].Name()+" undrain node=gw1.example\n")
	assert.Contains(t, tool(t, units[0], "ovn-nbctl", lab.NB, "lrp-get-gateway-chassis", "lrp-1"), "lrp-1-gw2     2")
	assert.Contains(t, c.refused(t, units[2], "drain", "node=gw2", "timeout=30", "grace-period=30"), "is not smaller than timeout")
	assert.Contains(t, c.act(t, units[2], "undrain", "node=gw1", "wait=0")["status"], "gw1.example is in use again")
	assert.Contains(t, c.refused(t, units[0], "remove-node", "node=gw3", "i-really-mean-it=true"), "gw3.example cannot be removed: 2 reasons")
	assert.Contains(t, c.act(t, units[0], "cluster-health", "format=json")["status"], `"message": "2 of 2 databases are healthy"`)
}
