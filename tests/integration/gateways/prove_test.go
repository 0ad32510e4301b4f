package gateways

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// drainWhere drains c1. What its candidates say then is claimed at once, as ovn-controller does it, by
// chassis of which the named ones do so last of all: they follow nb_cfg no more. That an ovn-controller
// dies between the claim and its flows is a matter of luck on real ones (tests/dataplane), so they are played.
func (c *cloud) drainWhere(dying ...string) (answer.Status, []string) {
	c.t.Helper()
	s := c.nodeService()
	s.Gateways.NorthdTimeout = patience
	var lines []string
	s.Gateways.Progress = func(_ context.Context, line string) {
		lines = append(lines, line)
		if !strings.HasSuffix(line, " written") {
			return
		}
		_, chassis, _ := strings.Cut(c.candidates("lrp-001")[0], " ")
		c.sbctl("lsp-unbind", "cr-lrp-001")
		c.bind(chassis, "cr-lrp-001")
		if slices.Contains(dying, chassis) {
			c.sbctl("--if-exists", "destroy", "Chassis_Private", chassis, "--", "create", "Chassis_Private", "name="+chassis, "nb_cfg="+c.nbctl("get", "NB_Global", ".", "nb_cfg"))
		}
	}
	return s.Drain(c.t.Context(),
		node.Request{Node: "c1", Confirmed: true, Limits: maintenance.Limits{Timeout: patience, Grace: time.Second}}), lines
}

// That a chassis has claimed a gateway does not prove that it carries it.
func TestDrain_waits_until_new_chassis_responds(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	ports := c.addGateways(1, "c1", "c2", "c3")
	c.bind("c1", "cr-lrp-001")
	before := c.ranks()
	said, lines := c.drainWhere("c2")
	assert.Equal(t, 200, said.Code, "%s\n%s", document.Answer(said), strings.Join(lines, "\n"))
	assert.Equal(t, map[string]int{"c3": 1}, c.masters(ports...))
	c.sbctl("destroy", "Chassis_Private", "c2")
	c.succeeds("undrain", "c1", "--wait", "0s")
	assert.Equal(t, before, c.ranks())
}

// If no other can take it, the drain does not report that it is done.
func TestDrain_fails_if_only_new_chassis_does_not_respond(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	ports := c.addGateways(1, "c1", "c2")
	c.bind("c1", "cr-lrp-001")
	said, lines := c.drainWhere("c2")
	assert.Equal(t, 500, said.Code, "%s\n%s", document.Answer(said), strings.Join(lines, "\n"))
	assert.Equal(t, finding.DrainUnfinished, codeOf(said))
	assert.Equal(t, string(finding.GatewayStays), said.Details.MessageList[0].Code)
	assert.Equal(t, map[string]int{"c2": 1}, c.masters(ports...))
}

// What has gone from the chassis that was asked to another one, which may have been asked before its claim, is
// asked for again.
func TestDrain_gateway_moves_during_proof_is_proved_again(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	c.addGateways(1, "c1", "c2", "c3")
	c.bind("c1", "cr-lrp-001")
	s := c.nodeService()
	s.Gateways.NorthdTimeout = patience
	asked := 0
	s.Gateways.Progress = func(_ context.Context, line string) {
		switch {
		case strings.HasSuffix(line, " written"):
			c.sbctl("lsp-unbind", "cr-lrp-001")
			c.bind("c2", "cr-lrp-001")
		case strings.Contains(line, "checking that"):
			if asked++; asked == 1 {
				c.sbctl("lsp-unbind", "cr-lrp-001")
				c.bind("c3", "cr-lrp-001")
			}
		}
	}
	said := s.Drain(t.Context(),
		node.Request{Node: "c1", Confirmed: true, Limits: maintenance.Limits{Timeout: patience, Grace: time.Second}})
	assert.Equal(t, 200, said.Code, document.Answer(said))
	assert.Equal(t, 2, asked)
}

// follows has chassis have followed nb_cfg up to now.
func (c *cloud) follows(chassis ...string) {
	c.t.Helper()
	for _, name := range chassis {
		c.sbctl("set", "Chassis_Private", name, "nb_cfg="+c.sbctl("get", "SB_Global", ".", "nb_cfg"))
	}
}

// followsOnce has a chassis follow the next nb_cfg, and none after that.
func (c *cloud) followsOnce(chassis string) {
	c.t.Helper()
	asked, err := strconv.Atoi(c.nbctl("get", "NB_Global", ".", "nb_cfg"))
	require.NoError(c.t, err)
	c.sbctl("set", "Chassis_Private", chassis, fmt.Sprintf("nb_cfg=%d", asked+1))
}

// What is moved to a chassis that follows until it was planned, and not once it has claimed the gateway, is
// not said to be done. The command that is named moves it back.
func TestVerify_chassis_silent_after_claim_fails_move(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	ports := c.addGateways(2, "c1", "c2")
	c.sbctl("create", "Chassis_Private", "name=c2")
	c.bind("c2", "cr-"+ports[0], "cr-"+ports[1]) // whichever of them moves
	c.followsOnce("c2")
	code, out, stderr := c.operate("rebalance", "--yes")
	assert.Equal(t, 1, code, out)
	assert.Equal(t, map[string]int{"c1": 1, "c2": 1}, c.masters(ports...))
	_, command, found := strings.Cut(stderr, "run: ovn-central-operator gateways ")
	require.True(t, found, stderr)
	c.operated(append(strings.Fields(command), "--wait", "0")...)
	assert.Equal(t, map[string]int{"c1": 2}, c.masters(ports...))

	c.sbctl("destroy", "Chassis_Private", "c2")
	c.operated("rebalance", "--yes")
}

// Nor is a node that takes its gateways back, and does not respond any more.
func TestUndrain_node_silent_after_claim_fails(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	ports := c.addGateways(1, "c1", "c2")
	c.drained("c1")
	c.sbctl("create", "Chassis_Private", "name=c1")
	c.bind("c1", "cr-"+ports[0])
	c.followsOnce("c1")
	said := c.answer("undrain", "c1")
	assert.Equal(t, answer.DrainNodeError, said.Reason)
	assert.Equal(t, finding.UndrainUnproved, codeOf(said))
	assert.Contains(t, document.Answer(said), "next: ovn-central-operator nodes drain c1.example ")
	assert.Equal(t, map[string]int{"c1": 1}, c.masters(ports...))
}

// What an ovn-controller followed before an older Northbound database was restored is no sign of life after that.
func TestDrain_moves_nothing_to_chassis_dead_before_restore(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	port := c.addGateways(1, "c1", "c2", "c3")[0]
	c.addGateways(2, "c3", "c1", "c2")
	c.nbctl("set", "NB_Global", ".", "nb_cfg=8700")
	c.nbctl("--wait=sb", "sync")
	c.sbctl("create", "Chassis_Private", "name=c2", "nb_cfg=8700")
	c.nbctl("set", "NB_Global", ".", "nb_cfg=5000")
	c.drained("c1")
	assert.Equal(t, map[string]int{"c3": 1}, c.masters(port), "c2 has one less, and is dead")
}
