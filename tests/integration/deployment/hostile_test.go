package deployment

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// R18, S1, S14: with the rights of ovn-controller a chassis deletes its own row and inserts it with another host name and
// with a unit's address. Actions show it clean, with all other nodes, and say what is only claimed.
func TestChassisThatIsCompromisedSpoilsNoAnswer(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 1, lab.Options{})
	good, evil := c.newClient(c.Chassis, "gw1", c.CA()), c.newClient(c.Chassis, "evil", c.CA())
	_, err := good.run("ovn-sbctl", "6642", "chassis-add", "gw1", "geneve", "192.0.2.1")
	require.NoError(t, err)
	_, err = evil.run("ovn-sbctl", "6642", "chassis-add", "evil", "geneve", "192.0.2.2")
	require.NoError(t, err)
	_, err = evil.run("ovn-sbctl", "6642", "set", "Chassis", "evil", "hostname=other")
	require.ErrorContains(t, err, "permission error", "the premise")
	for _, host := range []string{`\u001b[2J\u001b[1;31mPWNED\r\nfake-node  fake  up  in use`, strings.Repeat("h", 110_000)} {
		_, err = evil.run("ovn-sbctl", "6642", "chassis-del", "evil")
		require.NoError(t, err)
		_, err = evil.run("ovn-sbctl", "6642", "--id=@e", "create", "Encap", "type=geneve", "ip="+units[0].Address(), "chassis_name=evil", "--",
			"create", "Chassis", "name=evil", "encaps=@e", `hostname="`+host+`"`)
		require.NoError(t, err)
		text := c.Act(units[0], "node-status")["nodes"]
		assert.NotContains(t, text, "\x1b")
		assert.NotContains(t, text, "\nfake-node")
		assert.Contains(t, text, "gw1")
		assert.Less(t, len(text), 4096)
		var document struct {
			Nodes []struct{ Chassis, Hostname string }
		}
		require.NoError(t, json.Unmarshal([]byte(c.Act(units[0], "node-status", "format=json")["nodes"]), &document))
		require.Len(t, document.Nodes, 2)
		assert.LessOrEqual(t, len(document.Nodes[0].Hostname), 255)
		assert.Contains(t, c.Act(units[0], "node-status", "node=evil")["nodes"], "hold ovn-central: "+units[0].Name()+" by the tunnel address that the chassis claims\n")
		assert.Contains(t, c.Act(units[0], "hold", "node=evil", "name=bgp")["status"], "is held by bgp")
		assert.Contains(t, c.Act(units[0], "release", "node=evil", "name=bgp")["status"], "is released")
	}
}
