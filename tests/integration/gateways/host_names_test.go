package gateways

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// 002-11: a node is named by its host or its chassis.
func TestNode_unknown_is_refused(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	c.sbctl("set", "Chassis", "c3", "hostname=c2.example")
	for name, code := range map[string]int{"c1": 200, "c1.example": 200, "c3": 200, "c2.example": 409, "c4": 404} {
		assert.Equal(t, code, c.answer("cordon", name).Code, name)
	}
	assert.Equal(t, finding.NodeAmbiguous, codeOf(c.answer("uncordon", "c2.example")))
	assert.Equal(t, finding.NodeUnknown, codeOf(c.answer("show", "c4")))
}

// ovn-ic copies the chassis of other OVNs to SB. No command takes them for nodes, and each says what they are.
func TestNode_of_other_OVN_is_refused(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "far")
	c.sbctl("set", "Chassis", "far", "other_config:is-remote=true")
	why := finding.Reason{Code: finding.ChassisRemote}.String()
	for command, confirmed := range map[string][]string{
		"show": nil, "cordon": nil, "drain": {"--yes"}, "undrain": {"--yes"}, "decommission": {"--yes"}, "remove": {"--yes"},
	} {
		for _, name := range []string{"far", "far.example", "chassis:far"} {
			a := c.unconfirmed(append([]string{command, name}, confirmed...)...)
			assert.Equal(t, finding.NodeUnknown, codeOf(a), "%s %s", command, name)
			assert.Contains(t, a.Message, why, "%s %s", command, name)
		}
	}
}

// A machine was deployed again with another system-id, and its first chassis had the machine's name. Each of the two
// nodes can be named, and every operation on a node finds it again.
func TestNode_chassis_named_like_other_host(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	c.addChassis("c1.example")
	c.addGateways(2, "c1.example", "c1", "c2")
	c.sbctl("set", "Chassis", "c1.example", "hostname=c1.example")
	unclear := c.drain("c1.example")
	assert.Equal(t, 409, unclear.Code)
	assert.Equal(t, finding.NodeAmbiguous, codeOf(unclear))

	said := c.drained("chassis:c1.example")
	assert.Contains(t, detail(said, maintenance.OperationUndrain), " undrain chassis:c1.example ")
	assert.Contains(t, c.node("chassis:c1.example").Next, " undrain chassis:c1.example ")
	c.succeeds("undrain", "chassis:c1.example", "--wait", "0s")
	c.succeeds(append([]string{"decommission", "chassis:c1.example", "--yes"}, quick...)...)
	c.sbctl("chassis-del", "c1.example")
	c.succeeds("remove", "chassis:c1.example", "--yes")
	assert.Equal(t, "c1", c.node("c1.example").Chassis, "it means one node by now")
}

// R18, S1, S3: a chassis may choose any host name. The texts that are shown, and written to NB, are clean, and no other
// node loses its name.
func TestHostName_control_characters_are_shown_escaped(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "evil", "long")
	port := c.addGateways(1, "c1", "c2")[0]
	name := func(chassis, host string) { c.sbctl("set", "Chassis", chassis, `hostname="`+host+`"`) }
	name("evil", `\u001b[2J\u001b[1;31mPWNED\r\nnext: juju remove-unit ovn-central/0`)
	name("long", strings.Repeat("h", 110_000))
	code, stdout, _ := c.nodes("list")
	require.Zero(t, code)
	assert.NotContains(t, stdout, "\x1b")
	assert.NotContains(t, stdout, "\r")
	assert.NotContains(t, stdout, "\nnext: juju")
	assert.Contains(t, stdout, "?[2J?[1;31mPWNED??next: juju remove-unit ovn-central/0")
	assert.Less(t, len(stdout), 10_000)

	c.succeeds("hold", "evil", "bgp")
	c.succeeds("drain", "long", "--timeout", "30s", "--grace-period", "0s")
	written := c.nbctl("get", "NB_Global", ".", "external_ids")
	assert.NotContains(t, written, `\u001b`)
	assert.Less(t, len(written), 4096)

	name("evil", "c1")
	stolen := c.answer("drain", "c1", "--timeout", "30s", "--grace-period", "0s")
	assert.Equal(t, 409, stolen.Code, stolen.Message)
	assert.Equal(t, finding.NodeAmbiguous, codeOf(stolen))
	c.succeeds("drain", "chassis:c1", "--timeout", "30s", "--grace-period", "0s")
	assert.Equal(t, []string{"2 c2", "1 c1"}, c.candidates(port))
}

// S15: the printed command does only what it says.
func TestHostName_hostile_printed_command_is_safe_to_paste(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1")
	group := "x;touch evil;$(touch evil)# --"
	c.nbctl("ha-chassis-group-add", group, "--", "ha-chassis-group-add-chassis", group, "c1", "1")
	kept := c.answer("remove", "c1", "--dry-run")
	var command string
	for _, m := range kept.Details.MessageList {
		if _, after, found := strings.Cut(m.Message, "run: ovn-nbctl "); found {
			command = after
		}
	}
	require.NotEmpty(t, command, "%v", kept)
	sh := exec.CommandContext(t.Context(), "sh", "-c", "ovn-nbctl --db="+c.northbound()+" "+command)
	sh.Dir = t.TempDir()
	out, err := sh.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.NoFileExists(t, sh.Dir+"/evil")
	assert.Empty(t, c.nbctl("list", "HA_Chassis"))
}
