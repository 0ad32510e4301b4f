package gateways

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/cli"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// nodes runs the program, as a person would.
func (c *cloud) nodes(args ...string) (code int, stdout, stderr string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	all := append([]string{"ovn-central-operator", "nodes"}, args...)
	code = cli.Main(ctx, append(all, "--nb", c.northbound(), "--sb", c.endpoint("sb")), os.Getenv, &out, &errs)
	return code, out.String(), errs.String()
}

// answer runs an operation on nodes, confirmed if it interrupts traffic, and returns its answer.
func (c *cloud) answer(args ...string) answer.Status {
	c.t.Helper()
	if args[0] == "drain" || args[0] == "undrain" {
		args = append(args, "--yes")
	}
	return c.unconfirmed(args...)
}

// succeeds is answer for an operation that has to succeed.
func (c *cloud) succeeds(args ...string) answer.Status {
	c.t.Helper()
	status := c.answer(args...)
	assert.Equal(c.t, 200, status.Code, "%v: %s", args, document.Answer(status))
	return status
}

// unconfirmed runs an operation on nodes as given, and returns its answer. The program has the commands that the answer
// prints.
func (c *cloud) unconfirmed(args ...string) answer.Status {
	c.t.Helper()
	code, stdout, stderr := c.nodes(append(args, "--format", "json")...)
	var status answer.Status
	require.NoError(c.t, json.Unmarshal([]byte(stdout), &status), "%v: %s%s", args, stdout, stderr)
	switch {
	case status.Code == 200:
		assert.Zero(c.t, code, "%v: %s", args, stdout)
	case status.Code == 400 && !strings.HasSuffix(status.Metadata["finding"], string(finding.Unconfirmed)):
		assert.Equal(c.t, 2, code, "%v: %s", args, stdout)
	default:
		assert.Equal(c.t, 1, code, "%v: %s", args, stdout)
	}
	c.parses(next(status)...)
	return status
}

func codeOf(s answer.Status) finding.Code { return finding.Code(s.Metadata["finding"]) }

// found returns the codes and names of the findings in an answer's details.
func found(s answer.Status) (all []string) {
	for _, m := range s.Details.MessageList {
		if m.Code != "" {
			all = append(all, m.Code+" "+m.Name)
		}
	}
	return all
}

// detail returns the texts of the details with a name; empty if there are none.
func detail(s answer.Status, name string) string {
	var texts []string
	for _, m := range s.Details.MessageList {
		if m.Name == name {
			texts = append(texts, m.Message)
		}
	}
	return strings.Join(texts, "\n")
}

func (c *cloud) node(name string) maintenance.Node {
	c.t.Helper()
	code, stdout, stderr := c.nodes("show", name, "--format", "json")
	require.Zero(c.t, code, stdout+stderr)
	var r maintenance.Report
	require.NoError(c.t, json.Unmarshal([]byte(stdout), &r))
	require.Len(c.t, r.Nodes, 1)
	return r.Nodes[0]
}

// bind puts ports of a switch on a chassis, as ovn-controller does.
func (c *cloud) bind(chassis string, ports ...string) {
	c.t.Helper()
	for _, port := range ports {
		if !strings.HasPrefix(port, "cr-") {
			c.nbctl("--may-exist", "ls-add", "inside", "--", "lsp-add", "inside", port)
		}
	}
	c.nbctl("--wait=sb", "sync")
	for _, port := range ports {
		c.sbctl("lsp-bind", port, chassis)
	}
}

// 001-1, 001-2, 001-5: a cordoned node gets nothing new, and keeps what it has. The cordon outlives the chassis, and
// only uncordon ends it.
func TestCordon_node_gets_nothing_new(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	ports := c.addGateways(6, "c1")
	c.succeeds("cordon", "c2.example", "--reason", "new\n disk")
	c.operated("reschedule", "--wait", "0")
	for _, port := range ports {
		assert.Equal(t, []string{"2 c1", "1 c3"}, c.candidates(port))
	}
	n := c.node("c2")
	require.NotNil(t, n.Cordon)
	assert.Equal(t, "new disk", n.Cordon.Reason)
	assert.WithinDuration(t, time.Now(), n.Cordon.At, time.Minute)

	before := c.nbctl("get", "NB_Global", ".", "external_ids")
	assert.Contains(t, before, `"ovn-central:maintenance-hosts/c2"="[]"`, "all that comes has come since")
	c.succeeds("cordon", "c2")
	assert.Equal(t, before, c.nbctl("get", "NB_Global", ".", "external_ids"), "nothing is written twice")

	c.sbctl("chassis-del", "c2")
	n = c.node("c2.example")
	assert.Equal(t, maintenance.Absent, n.Life)
	assert.NotNil(t, n.Cordon, "it outlives the chassis")
	c.addChassis("c2")
	c.changesNothing("reschedule", "--wait", "0")

	c.succeeds("uncordon", "c2")
	assert.Contains(t, c.nbctl("get", "NB_Global", ".", "external_ids"), `"ovn-central:maintenance/c2"="false"`)
	assert.NotContains(t, c.nbctl("get", "NB_Global", ".", "external_ids"), "maintenance-hosts/c2")
	before = c.nbctl("get", "NB_Global", ".", "external_ids")
	c.succeeds("uncordon", "c2")
	assert.Equal(t, before, c.nbctl("get", "NB_Global", ".", "external_ids"), "nothing is written twice")
	c.operated("reschedule", "--wait", "0")
	assert.Len(t, c.candidates(ports[0]), 3)
}

// 001-5: a cordon, a hold and a drain by a removed unit stay valid, and any other unit can end them.
func TestHold_of_removed_unit_is_honoured_and_released(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	port := c.addGateways(1, "c1", "c2")[0]
	by := maintenance.Note{By: "ovn-central/9, action 12", At: time.Now().Add(-240 * time.Hour), Reason: "new disk", Hostname: "c3.example"}
	for _, change := range []maintenance.Change{
		maintenance.Cordon("c3", by), maintenance.AddHold("c3", "bgp", by), maintenance.Begin("c1", by, maintenance.Limits{Timeout: time.Hour}),
	} {
		for key, value := range change.Set {
			c.nbctl("set", "NB_Global", ".", fmt.Sprintf("external_ids:%q=%q", key, value))
		}
	}
	c.operated("reschedule", "--wait", "0")
	assert.NotContains(t, strings.Join(c.candidates(port), " "), "c3", "it is cordoned")
	n := c.node("c3")
	assert.Equal(t, "ovn-central/9, action 12", n.Cordon.By)
	age, known := n.Held("bgp").Age(time.Now())
	assert.True(t, known)
	assert.Greater(t, age, 239*time.Hour)
	c.succeeds("release", "c3", "bgp")
	c.succeeds("uncordon", "c3")

	c.drained("c1")
	assert.Equal(t, []string{"2 c2", "1 c1"}, c.candidates(port))
	assert.Equal(t, "ovn-central/9, action 12", c.node("c1").Drain.By)
	c.succeeds("undrain", "c1", "--wait", "0s")
	assert.Equal(t, []string{"2 c1", "1 c2"}, c.candidates(port))
	assert.NotContains(t, c.nbctl("get", "NB_Global", ".", "external_ids"), "ovn-central/9")
}

// If an operator cordons a chassis of a plan before it is written, a new plan is made.
func TestCordon_applies_to_running_plan(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	ports := c.addGateways(4, "c1", "c2")
	s := c.service()
	require.NoError(t, reschedule(t.Context(), s, func() { c.answer("cordon", "c3") }))
	for _, port := range ports {
		assert.Equal(t, []string{"2 c1", "1 c2"}, c.candidates(port))
	}
}

// A cordon is changed only if it is still as it was read. Otherwise the change is judged again.
func TestCordon_changed_after_read_is_judged_again(t *testing.T) {
	t.Parallel()
	uncordon := func(s *node.Service) answer.Status { return s.Uncordon(context.Background(), node.Request{Node: "c1"}) }
	cordon := func(s *node.Service) answer.Status {
		return s.Cordon(context.Background(), node.Request{Node: "c1", Reason: "disk"})
	}
	for name, test := range map[string]struct {
		before, between []string
		do              func(*node.Service) answer.Status
		code            int
		next            []string // the commands that the answer names
		cordoned        bool
	}{
		"an uncordon and a drain":    {[]string{"cordon c1 --reason disk"}, []string{"drain c1"}, uncordon, 409, []string{"undrain"}, true},
		"an uncordon and an undrain": {[]string{"cordon c1 --reason disk"}, []string{"drain c1", "undrain c1 --wait 0s"}, uncordon, 200, nil, false},
		"a cordon and a drain":       {nil, []string{"drain c1"}, cordon, 200, []string{"undrain"}, true},
		"a cordon and a cordon":      {nil, []string{"cordon c1"}, cordon, 200, []string{"uncordon"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, "c1", "c2")
			c.addGateways(1, "c1", "c2")
			run := func(operations []string) {
				for _, operation := range operations {
					assert.Equal(t, 200, c.answer(strings.Fields(operation)...).Code, operation)
				}
			}
			run(test.before)
			s, looks := c.nodeService(), 0
			t.Cleanup(s.Close)
			s.Charm = func(context.Context) (none maintenance.Charm) { // called when everything else was read
				if looks++; looks == 1 {
					run(test.between)
				}
				return none
			}
			said := test.do(s)
			assert.Equal(t, test.code, said.Code, document.Answer(said))
			var next []string
			for _, m := range said.Details.MessageList {
				next = append(next, m.Name)
			}
			assert.Equal(t, test.next, next, document.Answer(said))
			assert.Equal(t, 2, looks)
			assert.Equal(t, test.cordoned, c.node("c1").Cordon != nil)
			if strings.HasPrefix(name, "a cordon") {
				assert.Equal(t, "disk", c.node("c1").Cordon.Reason, "the new reason is stored")
			}
		})
	}
}

// A drain whose cordon was removed is not done: run again, it cordons the node again.
func TestDrain_without_cordon_is_not_done(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	ports := c.addGateways(2, "c1", "c2")
	before := c.ranks()
	c.drained("c1")
	c.nbctl("set", "NB_Global", ".", `external_ids:"ovn-central:maintenance/c1"="false"`)
	c.rank(ports[0], "c1", "c2") // as Neutron may do then
	s := c.nodeService()
	t.Cleanup(s.Close)
	p, _, err := s.Effects("c1", nil).Move(t.Context())
	require.NoError(t, err, "nothing is tried that would fail")
	assert.False(t, p.Done())
	assert.True(t, p.Open)
	assert.Equal(t, 1, p.Left)
	c.drained("c1")
	assert.NotNil(t, c.node("c1").Cordon)
	assert.Equal(t, map[string]int{"c2": 2}, c.masters(ports...))
	c.succeeds("undrain", "c1", "--wait", "0s")
	assert.Equal(t, before, c.ranks())
}

// 001-3, 001-4: holds follow from the ports and members on a node, or are set.
func TestHold_each_kind(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	ports := c.addGateways(2, "c1", "c2")
	c.bind("c1", "vm-1", "vm-2", "cr-"+ports[0])
	c.bind("c2", "bm-1")
	c.nbctl("--wait=sb", "lsp-set-type", "bm-1", "external")
	c.succeeds("hold", "c1", "ovn-bgp-agent", "--reason", "routes")

	n := c.node("c1")
	assert.Equal(t, 2, n.Held("nova-compute").Count)
	assert.Equal(t, []string{"vm-1", "vm-2"}, n.Held("nova-compute").Examples)
	assert.Equal(t, 1, n.Held("gateway").Count)
	assert.Equal(t, "routes", n.Held("ovn-bgp-agent").Reason)
	assert.Equal(t, 1, c.node("c2").Held("external").Count)

	// These are routers that are pinned to a chassis, gateways of layer 2, and addresses that move between virtual
	// machines.
	c.addChassis("c3")
	c.nbctl("lr-add", "gr", "--", "set", "Logical_Router", "gr", "options:chassis=c3", "--", "lrp-add", "gr", "lrp-gr", "00:00:00:00:01:01", "10.1.0.1/24", "--",
		"ls-add", "join", "--", "lsp-add", "join", "join-gr", "--", "lsp-set-type", "join-gr", "router", "--", "lsp-set-options", "join-gr", "router-port=lrp-gr", "--",
		"lsp-add", "inside", "l2gw", "--", "lsp-set-type", "l2gw", "l2gateway", "--", "lsp-set-options", "l2gw", "network_name=physnet1", "l2gateway-chassis=c3", "--",
		"lsp-add", "inside", "vip", "--", "lsp-set-type", "vip", "virtual", "--", "set", "Logical_Switch_Port", "vip", "options:virtual-ip=10.2.0.9", "options:virtual-parents=vm-1")
	c.nbctl("--wait=sb", "sync")
	c.sbctl("set", "Port_Binding", "vip", "virtual_parent=vm-1", "--", "lsp-bind", "vip", "c3", "--", "lsp-bind", "lrp-gr", "c3", "--", "lsp-bind", "l2gw", "c3")
	third := c.node("c3")
	assert.Equal(t, []string{"gr", "l2gw"}, third.Held("gateway").Examples)
	assert.Equal(t, []string{"vip"}, third.Held("nova-compute").Examples)
	assert.Equal(t, 409, c.answer("remove", "c3", "--yes").Code)
	_, list, _ := c.nodes("list")
	assert.Regexp(t, `c1\.example +c1 .* 1 +2 +0 +0 .*nova-compute 2, gateway 1, ovn-bgp-agent\n`, list)

	c.succeeds("hold", "c1", "ovn-bgp-agent")
	assert.Equal(t, "routes", c.node("c1").Held("ovn-bgp-agent").Reason, "the first hold stays")
	assert.Equal(t, 400, c.answer("hold", "c1", "gateway").Code)
	released := c.answer("release", "c1", "nova-compute")
	assert.Equal(t, finding.HoldDerived, codeOf(released))
	assert.Contains(t, released.Details.MessageList[0].Message, "vm-1, vm-2")
	assert.Equal(t, finding.HoldUnknown, codeOf(c.answer("release", "c1", "nothing")))
	c.succeeds("release", "c1", "ovn-bgp-agent")
	assert.Zero(t, c.node("c1").Held("ovn-bgp-agent").Count)
	assert.NotContains(t, c.nbctl("get", "NB_Global", ".", "external_ids"), "hold/")
}

// If the databases don't answer, the command still has an answer.
func TestNode_databases_down_are_reported(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1")
	c.nb = "unix:" + c.path("nowhere", "sock")
	status := c.answer("cordon", "c1")
	assert.Equal(t, answer.ClusterNotAccessible, status.Reason)
	assert.Equal(t, finding.NodesUnread, codeOf(status))
	assert.Equal(t, 500, status.Code)
}
