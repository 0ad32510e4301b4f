package gateways

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
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

// R13, 002-9: a node is removed only if it is dead, not held and not a candidate. Then nothing is left of it, and
// ovn-nbctl no longer waits for it.
func TestR13_node_is_removed_only_if_unused(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	port := c.addGateways(1, "c2", "c1")[0]
	c.bind("c1", "vm-1")
	c.answer("hold", "c1", "bgp")
	said := c.answer("remove", "c1", "--yes")
	assert.Equal(t, 409, said.Code)
	var names []string
	for _, m := range said.Details.MessageList {
		if m.Error {
			names = append(names, m.Name)
		}
	}
	assert.Equal(t, []string{"c1", "nova-compute", "bgp", port}, names, document.Answer(said))
	assert.Regexp(t, ` decommission c1\.example .* --yes$`, detail(said, maintenance.OperationDecommission),
		"as printed it is not refused")

	c.sbctl("lsp-unbind", "vm-1")
	c.answer("release", "c1", "bgp")
	retired := c.answer("decommission", "c1", "--timeout", "30s", "--grace-period", "0s")
	assert.Equal(t, finding.NodeUnconfirmed, codeOf(retired))
	retired = c.succeeds("decommission", "c1", "--timeout", "30s", "--grace-period", "0s", "--yes")
	assert.Equal(t, []string{"1 c2"}, c.candidates(port))
	assert.Contains(t, detail(retired, "by-hand"), "c1.example", "its ovn-controller still responds")
	assert.Equal(t, map[string]bool{"drain": false, "clear-labels": false, "remove-member": true, "cluster-ready": true, "shutdown": true},
		skippedSteps(retired), "only the charm knows its units and members")
	assert.True(t, c.node("c1").Drain.Retired)
	c.succeeds("decommission", "c1", "--timeout", "30s", "--grace-period", "0s", "--yes")

	assert.Equal(t, 409, c.answer("remove", "c1", "--yes").Code, "it lives")
	c.sbctl("create", "Chassis_Private", "name=c1")
	c.nbctl("--wait=sb", "sync")
	c.succeeds("remove", "c1", "--dry-run")
	asked := c.answer("remove", "c1")
	assert.Equal(t, finding.NodeUnconfirmed, codeOf(asked))
	assert.Regexp(t, `(?m) remove c1\.example .* --dry-run$`, detail(asked, maintenance.OperationRemove))
	assert.Regexp(t, `(?m) remove c1\.example .* --yes$`, detail(asked, maintenance.OperationRemove))
	c.succeeds("remove", "c1", "--yes")
	assert.NotContains(t, c.sbctl("--bare", "--columns=name", "list", "Chassis"), "c1")
	assert.NotContains(t, c.sbctl("--bare", "--columns=name", "list", "Chassis_Private"), "c1")
	assert.NotContains(t, c.nbctl("get", "NB_Global", ".", "external_ids"), "c1")
	assert.Equal(t, 404, c.answer("remove", "c1", "--yes").Code)
}

// R13, inside the transaction: a dead node that is needed again after it was judged is not removed. The other client
// writes between the last read and the deletion.
func TestR13_node_used_after_judgement_is_not_removed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		write func(c *cloud, port string)
		names string
		gone  bool
	}{
		"a virtual machine's port": {func(c *cloud, _ string) { c.sbctl("lsp-bind", "vm-1", "c1") }, "nova-compute", false},
		"a gateway's port":         {func(c *cloud, port string) { c.sbctl("lsp-bind", "cr-"+port, "c1") }, "gateway", false},
		"a candidate": {func(c *cloud, port string) {
			c.nbctl("--wait=sb", "lrp-set-gateway-chassis", port, "c1", "1")
		}, "lrp-001", false},
		"a candidate that ovn-northd has not seen": {func(c *cloud, port string) {
			assert.NoError(c.t, c.northd.Signal(syscall.SIGSTOP))
			c.nbctl("lrp-set-gateway-chassis", port, "c1", "1")
		}, "lrp-001", true}, // its records stay
		"its ovn-controller": {func(c *cloud, _ string) { c.follows("c1") }, "c1", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, "c1", "c2")
			port := c.addGateways(1, "c2")[0]
			c.nbctl("ls-add", "inside", "--", "lsp-add", "inside", "vm-1")
			c.answer("cordon", "c1")
			c.sbctl("create", "Chassis_Private", "name=c1")
			c.nbctl("--wait=sb", "sync")
			s, now := c.nodeService(), time.Now()
			s.Gateways.Now = func() time.Time { // it counts as dead at the first look
				now = now.Add(time.Minute)
				return now
			}
			looks := 0
			s.Charm = func(context.Context) (none maintenance.Charm) { // called when everything else was read
				if looks++; looks == 1 {
					test.write(c, port)
				}
				return none
			}
			said := s.Remove(t.Context(), node.Request{Node: "c1", Confirmed: true})
			assert.Equal(t, 409, said.Code, document.Answer(said))
			assert.Equal(t, 2, looks, "it was judged again")
			require.NotEmpty(t, said.Details.MessageList)
			assert.Equal(t, test.names, said.Details.MessageList[0].Name, document.Answer(said))
			assert.Equal(t, !test.gone, strings.Contains(c.sbctl("--bare", "--columns=name", "list", "Chassis"), "c1"))
			assert.Contains(t, c.nbctl("get", "NB_Global", ".", "external_ids"), "maintenance/c1", "its records stay")
			s.Close()
		})
	}
}

// 001-6: ports are taken off a node only if the node is proved unreachable; then the node can be removed.
func TestEvict_requires_proof_that_node_is_unreachable(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	for _, name := range []string{"c1", "c2"} {
		c.sbctl("create", "Chassis_Private", "name="+name)
	}
	c.nbctl("--wait=sb", "sync")
	s, ahead, late := c.nodeService(), time.Duration(0), false
	s.Gateways.Now = func() time.Time { return time.Now().Add(ahead) }
	s.Gateways.Progress = func(_ context.Context, line string) {
		if strings.Contains(line, "waiting 180 s") { // these pass at once
			ahead += 180 * time.Second
		}
		late = strings.Contains(line, ": evict")
	}
	t.Cleanup(s.Close)
	r := node.Request{Node: "c1", Limits: maintenance.Limits{Timeout: time.Hour}, Clear: time.Minute, Confirmed: true, Force: true, DropFiles: true}
	decommission := func() answer.Status { return s.Decommission(t.Context(), r) }
	assert.Equal(t, finding.NothingForced, codeOf(decommission()))
	c.bind("c1", "vm-1", "vm-2")
	assert.Equal(t, finding.SilenceUnproved, codeOf(decommission()), "c2 does not follow either")
	ports := c.addGateways(2, "c1", "c2")
	c.bind("c1", "cr-"+ports[0])
	c.bind("c2", "cr-"+ports[1])
	c.follows("c1", "c2")
	said := decommission()
	assert.Equal(t, 409, said.Code)
	assert.Equal(t, finding.NodeResponds, codeOf(said))
	assert.Equal(t, 2, c.node("c1").Held("nova-compute").Count, "nothing was done")
	assert.Nil(t, c.node("c1").Cordon)

	c.sbctl("set", "Chassis_Private", "c1", "nb_cfg=0")
	s.Charm = func(context.Context) (none maintenance.Charm) { // called when everything else was read
		if late {
			c.sbctl("set", "Chassis_Private", "c1", "nb_cfg=1")
		}
		return none
	}
	said = decommission()
	assert.Contains(t, document.Answer(said), "error  evict: DrainNodeError (500): ", "it came back meanwhile: %s", document.Answer(said))
	assert.Equal(t, 2, c.node("c1").Held("nova-compute").Count)

	s.Charm = nil
	said = decommission()
	require.Equal(t, 200, said.Code, document.Answer(said))
	assert.Contains(t, document.Answer(said), "rm /var/lib/ovn/*.left-*")
	assert.Empty(t, c.node("c1").Holds)
	assert.Equal(t, 200, s.Remove(t.Context(), node.Request{Node: "c1", Confirmed: true}).Code)
}

// R12: force takes ports off a node, but leaves no gateway without a chassis. The refusal comes at once, not after a
// wait for a sign of life or for the grace period.
func TestR12_force_leaves_no_gateway_without_chassis(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	c.addNetwork("physnet9")
	c.sbctl("set", "Chassis", "c1", "other_config:ovn-bridge-mappings=\"physnet1:br-ex,physnet9:br-9\"")
	ports := c.addGateways(1, "c1", "c2")
	c.nbctl(c.gateway("physnet9", "lrp-lonely", "c1")...)
	c.sbctl("create", "Chassis_Private", "name=c1")
	c.bind("c1", "vm-1", "cr-lrp-lonely")
	s := c.patient()
	s.Gateways.Progress = func(_ context.Context, line string) { assert.NotContains(t, line, "waiting 180 s") }
	r := node.Request{Node: "c1", Limits: maintenance.Limits{Timeout: time.Hour, Grace: 30 * time.Minute}, Clear: time.Minute, Confirmed: true, Force: true}
	said := s.Decommission(t.Context(), r)
	assert.Equal(t, answer.Conflict, said.Reason, document.Answer(said))
	assert.Equal(t, finding.DrainBlocked, codeOf(said))
	assert.Contains(t, document.Answer(said), "error  lrp-lonely: ")
	n := c.node("c1")
	assert.Nil(t, n.Cordon, "nothing was done")
	assert.Equal(t, 1, n.Held("nova-compute").Count)
	assert.Equal(t, []string{"2 c1", "1 c2"}, c.candidates(ports[0]))
}

// A group that no port uses refers to the node too.
func TestRemove_unused_group_keeps_node(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1")
	c.nbctl("ha-chassis-group-add", "spare", "--", "ha-chassis-group-add-chassis", "spare", "c9", "1")
	c.sbctl("create", "Chassis_Private", "name=c9")
	said := c.answer("remove", "c9", "--yes")
	assert.Equal(t, finding.NodeKept, codeOf(said))
	assert.Equal(t, string(finding.NodeInUnusedGroup), said.Details.MessageList[0].Code)
	retired := c.succeeds("decommission", "c9", "--timeout", "30s", "--grace-period", "0s", "--yes")
	command := c.printed(said.Details.MessageList[0].Message)
	assert.Equal(t, command, detail(retired, "spare"), "the remove that follows would be refused")
	c.succeeds("remove", "c9", "--yes")
}

// If an ovn-controller comes back while the node is judged, the node keeps its rows.
func TestRemove_node_that_returns_is_kept(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1")
	c.sbctl("create", "Chassis_Private", "name=c1")
	c.nbctl("--wait=sb", "sync")
	s, ended := c.nodeService(), make(chan answer.Status)
	go func() {
		ended <- s.Remove(t.Context(), node.Request{Node: "c1", Confirmed: true})
	}()
	time.AfterFunc(3*time.Second, func() { c.follows("c1") })
	said := <-ended
	assert.Equal(t, 409, said.Code, document.Answer(said))
	assert.Contains(t, found(said), "NODE_RESPONDS c1", document.Answer(said))
}

// With a row in Chassis_Private but no chassis, `ovn-nbctl --wait=hv` waits for ever. The wait ends once the node is
// removed.
func TestRemove_orphan_of_chassis(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1")
	c.sbctl("create", "Chassis_Private", "name=c9")
	sync := func(timeout string) error {
		return exec.CommandContext(t.Context(), "ovn-nbctl", "--db="+c.northbound(), "--timeout="+timeout, "--wait=hv", "sync").Run()
	}
	require.Error(t, sync("3"), "nothing follows for c9")
	assert.True(t, c.node("c9").Orphan)
	assert.Contains(t, c.node("c9").Next, " remove c9 ")
	c.succeeds("remove", "c9", "--yes")
	assert.Empty(t, c.sbctl("--bare", "--columns=name", "list", "Chassis_Private"))
	require.NoError(t, sync("60"))
}

// 002-1: if a step of a decommission fails, the answer has the whole answer of the step.
func TestDecommission_fails_with_answer_of_drain(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	c.addGateways(1, "c1", "c2")
	c.bind("c1", "vm-1")
	said := c.answer("decommission", "c1", "--timeout", "10s", "--grace-period", "0s", "--yes")
	assert.Equal(t, answer.DisassociateFailure, said.Reason)
	assert.Equal(t, finding.DecommissionFailed, codeOf(said))
	assert.Contains(t, document.Answer(said), "error  drain: DrainNodeError (500): ")
	assert.Contains(t, document.Answer(said), "error  nova-compute: 1 port (vm-1), ")
	forced := func(s answer.Status) bool { return strings.Contains(document.Answer(s), " --force ") }
	assert.False(t, forced(said), "c1 responds")

	c.sbctl("create", "Chassis_Private", "name=c1", "nb_cfg=1")
	c.nbctl("--wait=sb", "sync")
	said = c.answer("decommission", "c1", "--timeout", "10s", "--grace-period", "0s", "--yes")
	assert.True(t, forced(said), document.Answer(said))
}

// skippedSteps returns for each step of a decommission whether it was skipped.
func skippedSteps(said answer.Status) map[string]bool {
	steps := map[string]bool{}
	for _, m := range said.Details.MessageList {
		if m.Kind == answer.MessageStep {
			steps[m.Name] = m.Skipped
		}
	}
	return steps
}

// 002-4: a drained node stays a candidate if a gateway would otherwise have no live candidate, because the other
// chassis has died since. It also stays one if it is the first candidate again.
func TestClearLabels_error_names_gateway(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	port := c.addGateways(1, "c1", "c2")[0]
	s := c.nodeService()
	assert.Equal(t, finding.NodeNotDrained, codeOf(s.ClearLabels(t.Context(), node.Request{Node: "c1", Clear: time.Minute})))
	s.Gateways.Progress = func(_ context.Context, line string) {
		if strings.HasPrefix(line, "decommission c1.example: clear-labels") {
			c.sbctl("chassis-del", "c2")
		}
	}
	said := s.Decommission(t.Context(), node.Request{Node: "c1", Limits: maintenance.Limits{Timeout: time.Minute}, Clear: time.Minute, Confirmed: true})
	assert.Equal(t, answer.DisassociateFailure, said.Reason)
	failed := slices.DeleteFunc(said.Details.MessageList, func(m answer.Message) bool { return !m.Error })
	assert.Equal(t, []string{"clear-labels", port}, []string{failed[0].Name, failed[1].Name}, document.Answer(said))
	assert.Equal(t, []string{"2 c2", "1 c1"}, c.candidates(port), "nothing was taken out")

	c.addChassis("c2")
	c.rank(port, "c1", "c2") // as Neutron does
	said = s.ClearLabels(t.Context(), node.Request{Node: "c1", Clear: time.Minute})
	assert.Equal(t, answer.ClearLabelsError, said.Reason)
	assert.Equal(t, finding.StillCandidate, codeOf(said))
	assert.Equal(t, 500, said.Code)
	assert.Contains(t, document.Answer(said), "error  "+port+": ")
	assert.Len(t, c.candidates(port), 2)

	c.drained("c1")
	said = s.ClearLabels(t.Context(), node.Request{Node: "c1", Clear: time.Minute})
	assert.Equal(t, 200, said.Code, document.Answer(said))
	assert.Equal(t, []string{"1 c2"}, c.candidates(port))
}

// 002-9: if a deletion is prevented, that is an error, and nothing is deleted in part.
func TestRemove_error_deletes_nothing(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1")
	c.sbctl("create", "Chassis_Private", "name=c1")
	c.succeeds("cordon", "c1")
	c.nbctl("set", "NB_Global", ".", "nb_cfg=1000")
	c.nbctl("--wait=sb", "sync")
	s, now, looks := c.nodeService(), time.Now(), 0
	s.Gateways.Now = func() time.Time { // it counts as dead at the first look
		now = now.Add(time.Minute)
		return now
	}
	s.Charm = func(context.Context) (none maintenance.Charm) { // called when everything else was read
		looks++
		c.sbctl("set", "Chassis_Private", "c1", fmt.Sprintf("nb_cfg=%d", looks))
		return none
	}
	said := s.Remove(t.Context(), node.Request{Node: "c1", Confirmed: true})
	assert.Equal(t, answer.DeleteNodeError, said.Reason, document.Answer(said))
	assert.Equal(t, 500, said.Code)
	assert.Equal(t, finding.NodeNotRemoved, codeOf(said))
	assert.Equal(t, 20, looks, "each time it was judged again")

	s.Charm, s.Gateways.NorthdTimeout = nil, time.Second
	require.NoError(t, c.northd.Signal(syscall.SIGSTOP))
	said = s.Remove(t.Context(), node.Request{Node: "c1", Confirmed: true})
	assert.Equal(t, answer.DeleteNodeError, said.Reason, document.Answer(said))
	assert.Equal(t, finding.NodeNotRemoved, codeOf(said))
	for _, table := range []string{"Chassis", "Chassis_Private"} {
		assert.Equal(t, "c1", c.sbctl("--bare", "--columns=name", "list", table))
	}
	assert.NotNil(t, c.node("c1").Cordon, "its records stay")

	require.NoError(t, c.northd.Signal(syscall.SIGCONT))
	s.Gateways.NorthdTimeout = patience
	assert.Equal(t, 200, s.Remove(t.Context(), node.Request{Node: "c1", Confirmed: true}).Code)
}
