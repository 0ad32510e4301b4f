package gateways

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/cli"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/shelltest"
)

// next returns the commands of an answer that a person types next, in their order.
func next(said answer.Status) (lines []string) {
	for _, m := range said.Details.MessageList {
		if at := strings.Index(m.Message, "ovn-central-operator "); m.Kind == answer.MessageNext && at >= 0 {
			lines = append(lines, m.Message[at:])
		}
	}
	return lines
}

// parses requires that the program has the printed commands with their flags. With --help it reads all flags, and
// shows its help.
func (c *cloud) parses(lines ...string) {
	c.t.Helper()
	for _, line := range lines {
		var out, errs bytes.Buffer
		words := shelltest.Words(c.t, line)
		code := cli.Main(c.t.Context(), slices.Insert(slices.Clone(words), 3, "--help"), os.Getenv, &out, &errs)
		assert.Zero(c.t, code, "%s: %s", line, &errs)
		assert.Contains(c.t, out.String(), strings.Join(words[:3], " "), line)
	}
}

// retyped types a printed command as it is, and returns its answer.
func (c *cloud) retyped(line string) (status answer.Status) {
	c.t.Helper()
	var out, errs bytes.Buffer
	words := append(shelltest.Words(c.t, line), "--format", "json")
	cli.Main(c.t.Context(), words, os.Getenv, &out, &errs)
	require.NoError(c.t, json.Unmarshal(out.Bytes(), &status), "%s: %s%s", line, &out, &errs)
	return status
}

// R4: refused operations on nodes, one after the other on one cloud. The first command that each prints is accepted as
// typed, and then the operation is, too.
func TestRemedies_of_nodes_are_typed(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	ports := c.addGateways(2, "c1", "c2")
	c.nbctl("--wait=sb", "sync")
	refused := func(code finding.Code, args ...string) []string {
		said := c.unconfirmed(args...)
		require.Equal(t, code, codeOf(said), document.Answer(said))
		lines := next(said)
		require.NotEmpty(t, lines, document.Answer(said))
		return lines
	}
	accepted := func(line string) {
		said := c.retyped(line)
		assert.Equal(t, 200, said.Code, "%s: %s", line, document.Answer(said))
	}
	drain := []string{"drain", "c1", "--timeout", "5s", "--grace-period", "0s", "--yes"}

	// The only other chassis is cordoned.
	c.succeeds("cordon", "c2")
	accepted(refused(finding.DrainBlocked, drain...)[0])
	assert.Nil(t, c.node("c2").Cordon)

	// An operator has set a hold.
	c.succeeds("hold", "c1", "bgp")
	ways := refused(finding.DrainUnfinished, drain...)
	accepted(ways[0])
	assert.Zero(t, c.node("c1").Held("bgp").Count)
	accepted(ways[1])
	require.NotNil(t, c.node("c1").Drain)

	// A drained node is not uncordoned, but undrained.
	c.bind("c1", "cr-"+ports[0], "cr-"+ports[1]) // as its ovn-controller does after the undrain
	accepted(refused(finding.NodeDrained, "uncordon", "c1")[0])
	assert.Nil(t, c.node("c1").Drain)
	assert.Nil(t, c.node("c1").Cordon)

	c.sbctl("lsp-unbind", "cr-"+ports[0], "--", "lsp-unbind", "cr-"+ports[1])
	c.bind("c2", "cr-"+ports[0], "cr-"+ports[1]) // as after a drain

	// A node is still a candidate. Its decommission needs a confirmation, and fails while an operator holds the node.
	kept := refused(finding.NodeKept, "remove", "c1", "--yes")
	ways = refused(finding.NodeUnconfirmed, "decommission", "c1")
	accepted(ways[0])
	c.succeeds("hold", "c1", "bgp")
	failed := refused(finding.DecommissionFailed, append([]string{"decommission"}, drain[1:]...)...)
	c.succeeds("release", "c1", "bgp")
	assert.Equal(t, kept[0], ways[1])
	assert.Equal(t, kept[0], failed[0])
	accepted(failed[0])
	assert.Equal(t, []string{"1 c2"}, c.candidates(ports[0]))
	assert.True(t, c.node("c1").Drain.Retired)

	// A physical switch is taken out of the VTEP database first, which deletes its chassis.
	c.addRow("tor", "vxlan", "is-vtep=true")
	c.succeeds("cordon", "tor")
	ways = refused(finding.NodeIsVTEP, "decommission", "tor", "--yes")
	c.sbctl("chassis-del", "tor")
	accepted(ways[0])
	assert.Equal(t, 404, c.answer("cordon", "tor").Code)
}
