package gateways

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node"
)

func (c *cloud) revisions(args ...string) answer.Status {
	c.t.Helper()
	return c.status(append([]string{"revisions"}, args...)...)
}

// status runs a command on gateways that returns an answer.
func (c *cloud) status(args ...string) answer.Status {
	c.t.Helper()
	code, stdout, stderr := c.operate(append(args, "--format", "json")...)
	var status answer.Status
	require.NoError(c.t, json.NewDecoder(strings.NewReader(stdout)).Decode(&status), stdout+stderr)
	want := map[int]int{200: 0, 400: 2}[status.Code]
	if status.Code != 200 && status.Code != 400 {
		want = 1
	}
	assert.Equal(c.t, want, code, stdout)
	return status
}

// tags describes the tagged operations and their tags, the newest first.
func (c *cloud) tags() (all []string) {
	c.t.Helper()
	for _, m := range c.revisions().Details.MessageList[1:] {
		all = append(all, m.Message)
	}
	return all
}

// succeeded and failed match the description of the newest operation.
func succeeded(operation string) string {
	return `^last-site-action, successful-site-action: site-action-success of ` + operation + ", "
}

func failed(operation string) string {
	return `^last-site-action: site-action-failure of ` + operation + ", "
}

// reviewID returns the review ID of a dry run.
func (c *cloud) reviewID(args ...string) string {
	c.t.Helper()
	var p schedule.Plan
	require.NoError(c.t, json.Unmarshal([]byte(c.operated(append(args, "--dry-run", "--format", "json")...)), &p))
	require.NotEmpty(c.t, p.ReviewID)
	return p.ReviewID
}

// 002-12: an operation that has passed its checks tags the resulting layout with its ID. Operations that are refused or
// only shown tag nothing, and nothing is written twice (R17).
func TestRevisions_operations_tag_them(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	c.addGateways(6, "c1", "c2", "c3")
	code, _, _ := c.operate("rebalance", "--wait", "0")
	assert.Equal(t, 1, code, "not confirmed")
	c.operated("rebalance", "--dry-run")
	assert.Equal(t, 404, c.answer("cordon", "nowhere").Code)
	assert.Empty(t, c.tags())

	// No ovn-controller binds the ports, so the rebalancing fails after its checks.
	code, _, _ = c.operate("rebalance", "--yes", "--wait", "1s")
	assert.Equal(t, 1, code)
	run := c.history().Plans[0].ID
	tags := c.tags()
	require.Len(t, tags, 1)
	assert.Regexp(t, failed("rebalance"), tags[0])
	assert.Equal(t, run, c.revisions().Details.MessageList[1].Name)

	// A cordon is tagged in its own transaction, once.
	c.succeeds("cordon", "c2")
	tags = c.tags()
	require.Len(t, tags, 2)
	assert.Regexp(t, succeeded("cordon c2"), tags[0])
	assert.Regexp(t, "^site-action-failure of rebalance,", tags[1])
	c.succeeds("cordon", "c2")
	assert.Len(t, c.tags(), 2)
	c.succeeds("uncordon", "c2")

	// A drain is tagged when it ends, and so is an undrain.
	c.succeeds("drain", "c3", "--timeout", "60s", "--grace-period", "1s")
	assert.Regexp(t, succeeded("drain c3"), c.tags()[0])
	before := c.tags()
	c.succeeds("drain", "c3", "--timeout", "60s", "--grace-period", "1s")
	assert.Equal(t, before, c.tags(), "nothing has changed")
	c.succeeds("undrain", "c3", "--wait", "0")
	assert.Regexp(t, "undrain c3", c.tags()[0])

	// Each tag names the layout that the operation left.
	all := c.revisions().Details.MessageList
	for _, other := range []string{all[1].Name, all[len(all)-1].Name} { // undrain, which has put all back, and the rebalancing
		same := c.revisions("--base", "committed", "--diff", other)
		assert.Equal(t, 200, same.Code, same.Message)
		assert.Empty(t, same.Details.MessageList, other)
	}
	assert.Empty(t, c.sbctl("list", "DNS"), "ovn-northd makes nothing of what is kept")
}

// 002-12: the operations that take a node out for good are tagged too, even if they failed after their checks.
// Operations that were refused, or that changed nothing, are not tagged.
func TestRevisions_retiring_node_tags_them(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	c.addGateways(3, "c1", "c2", "c3")
	decommission := func(flags ...string) answer.Status {
		return c.answer(append([]string{"decommission", "c1", "--timeout", "60s", "--grace-period", "0s"}, flags...)...)
	}
	require.Equal(t, 400, decommission().Code, "not confirmed")
	require.Equal(t, 409, c.answer("remove", "c1", "--yes").Code)
	assert.Equal(t, 409, c.nodeService().ClearLabels(t.Context(), node.Request{Node: "c1", Clear: time.Minute}).Code)
	assert.Empty(t, c.tags())

	c.succeeds("hold", "c1", "bgp")
	require.Equal(t, answer.DisassociateFailure, decommission("--yes").Reason)
	require.Len(t, c.tags(), 1)
	assert.Regexp(t, failed("decommission c1"), c.tags()[0])

	c.succeeds("release", "c1", "bgp")
	cleared := c.nodeService().ClearLabels(t.Context(), node.Request{Node: "c1", Clear: time.Minute})
	require.Equal(t, 200, cleared.Code, document.Answer(cleared))
	assert.Regexp(t, succeeded("clear-labels c1"), c.tags()[0])
	before := c.tags()
	require.Equal(t, 200, decommission("--yes").Code)
	assert.Equal(t, before, c.tags(), "nothing has changed since")

	c.sbctl("chassis-del", "c1")
	c.succeeds("remove", "c1", "--yes")
	assert.Regexp(t, succeeded("remove-node c1"), c.tags()[0])
	c.succeeds("decommission", "c2", "--timeout", "60s", "--grace-period", "0s", "--yes")
	assert.Regexp(t, succeeded("decommission c2"), c.tags()[0])
}

// 002-14: each base against each diff, whether or not it exists.
func TestRevisions_every_combination(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	c.addGateways(3, "c1", "c2", "c3")
	bases := []string{"committed", "successful-site-action", "last-site-action"}
	diffs := append([]string{"plan"}, bases...)
	// compare compares every two versions, and returns the number of their differences.
	compare := func(missing ...string) (differ map[string]int) {
		differ = map[string]int{}
		for _, base := range bases {
			for _, diff := range diffs {
				name := base + " " + diff
				status := c.revisions("--base", base, "--diff", diff)
				gone := ""
				for _, m := range missing {
					if gone == "" && (m == base || m == diff) {
						gone = m
					}
				}
				switch {
				case base == diff:
					assert.Equal(t, 400, status.Code, name)
					assert.Equal(t, answer.BadRequest, status.Reason, name)
				case gone != "":
					assert.Equal(t, 412, status.Code, name)
					assert.Equal(t, answer.PreconditionFailed, status.Reason, name)
					assert.Equal(t, finding.RevisionMissing, codeOf(status), name)
				default:
					assert.Equal(t, 200, status.Code, "%s: %s", name, status.Message)
					differ[name] = len(status.Details.MessageList)
				}
			}
		}
		return differ
	}
	assert.Equal(t, map[string]int{"committed plan": 2}, compare("successful-site-action", "last-site-action"))

	// Only a failed operation is tagged.
	code, _, _ := c.operate("rebalance", "--yes", "--wait", "1s")
	assert.Equal(t, 1, code)
	assert.Equal(t, map[string]int{"committed plan": 0, "committed last-site-action": 0, "last-site-action plan": 0, "last-site-action committed": 0}, compare("successful-site-action"))
	c.succeeds("cordon", "c3") // tags both pointers
	assert.Len(t, compare(), 9)

	// These are the defaults, and the versions that are refused.
	assert.Equal(t, c.revisions("--base", "committed", "--diff", "last-site-action"), c.revisions("--diff", "last-site-action"))
	assert.Equal(t, c.revisions("--base", "last-site-action", "--diff", "plan"), c.revisions("--base", "last-site-action"))
	assert.Equal(t, 400, c.revisions("--base", "plan").Code)
	assert.Equal(t, 400, c.revisions("--diff", "buffer").Code)
	for _, of := range [][]string{{"--network", "physnet1"}, {"--plan", "reschedule"}} { // of a plan, without the plan to compare
		assert.Equal(t, 400, c.revisions(of...).Code)
		assert.Equal(t, 400, c.revisions(append(of, "--diff", "last-site-action")...).Code)
		assert.Equal(t, 200, c.revisions(append(of, "--base", "committed")...).Code)
	}

	// A layout that another client has damaged is missing.
	for _, uuid := range strings.Fields(c.nbctl("--bare", "--columns=_uuid", "find", "DNS", "external_ids:ovn-central-operator=gateways")) {
		c.nbctl("destroy", "DNS", uuid)
	}
	compare("successful-site-action", "last-site-action")
}

// 002-13: a reviewed plan is carried out as it was reviewed, or not at all.
func TestReview_plan_after_other_operations_is_refused(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	ports := c.addGateways(6, "c1", "c2", "c3")
	apply := func(id string, more ...string) []string {
		return append([]string{"rebalance", "--yes", "--wait", "0", "--review-id", id}, more...)
	}
	refused := func(id string) answer.Status {
		_, stdout, _ := c.operate(append(apply(id), "--format", "json")...)
		var status answer.Status
		require.NoError(t, json.Unmarshal([]byte(stdout), &status), stdout)
		assert.Equal(t, map[string]int{"c1": 6}, c.masters(ports...), "nothing is changed")
		return status
	}
	first := c.reviewID("rebalance")
	assert.Equal(t, first, c.reviewID("rebalance"))
	assert.Equal(t, 400, refused("r1").Code)
	_, stdout, _ := c.operate(append(apply("r1", "--allow-intermediate-commits"), "--format", "json")...)
	assert.Contains(t, stdout, "REVIEW_INVALID", "only a conflict can be allowed")
	assert.Equal(t, map[string]int{"c1": 6}, c.masters(ports...))

	// Another operation has run, and then was undone.
	c.succeeds("cordon", "c2")
	said := refused(first)
	assert.Equal(t, 409, said.Code)
	assert.Equal(t, answer.Conflict, said.Reason)
	require.Len(t, said.Details.MessageList, 1)
	assert.Regexp(t, "^cordon c2 ", said.Details.MessageList[0].Message)
	c.succeeds("uncordon", "c2")
	said = refused(first)
	require.Len(t, said.Details.MessageList, 2)
	assert.Equal(t, "OPERATIONS_SINCE_REVIEW", said.Metadata["finding"])
	code, stdout, _ := c.operate(apply(first)...)
	assert.Equal(t, 1, code)
	assert.Empty(t, stdout)

	// Another client has changed gateways.
	third := c.reviewID("rebalance")
	c.rank(ports[5], "c1", "c3", "c2")
	c.rank(ports[4], "c1", "c3", "c2")
	said = refused(third)
	assert.Equal(t, 409, said.Code)
	assert.Equal(t, "PLAN_CHANGED", said.Metadata["finding"])

	// The layout is the same, but other chassis may host gateways.
	fourth := c.reviewID("rebalance")
	c.sbctl("set", "Chassis", "c3", "other_config:ovn-bridge-mappings=physnet2:br-ex")
	said = refused(fourth)
	assert.Equal(t, 409, said.Code)
	assert.Equal(t, "PLAN_CHANGED", said.Metadata["finding"])
	c.sbctl("set", "Chassis", "c3", "other_config:ovn-bridge-mappings=physnet1:br-ex")

	// If the check is skipped, the command says what the check would have refused.
	c.succeeds("cordon", "c3")
	assert.Regexp(t, "g[0-9a-f]{8} cordon c3 ", c.operated(apply(fourth, "--allow-intermediate-commits")...))
	assert.Equal(t, map[string]int{"c1": 3, "c2": 3}, c.masters(ports...))
	c.succeeds("uncordon", "c3")

	// The plan is carried out as it was reviewed.
	last := c.reviewID("rebalance")
	c.operated(apply(last)...)
	assert.Equal(t, map[string]int{"c1": 2, "c2": 2, "c3": 2}, c.masters(ports...))
}

// 002-15: a layout is restored as far as it still can be, by the rules of every plan.
func TestRestoreLayout_as_far_as_possible(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3", "c4")
	ports := c.addGateways(5, "c1", "c2", "c3")
	status := c.status("rebalance", "--target-revision", "successful-site-action", "--yes", "--wait", "0")
	assert.Equal(t, 412, status.Code)
	assert.Equal(t, "REVISION_MISSING", status.Metadata["finding"])
	assert.Equal(t, 412, c.status("rebalance", "--target-revision", "g00000000", "--yes").Code)
	assert.Equal(t, 400, c.status("rebalance", "--target-revision", "committed", "--revert", "g1", "--yes").Code)

	c.operated("rebalance", "--yes", "--wait", "0")
	was := map[string][]string{}
	for _, p := range ports {
		was[p] = c.candidates(p)
	}
	tagged := c.revisions().Details.MessageList[1].Name

	// Another client changes all of them.
	for _, p := range ports {
		c.rank(p, "c3", "c1", "c2")
	}
	code, _, _ := c.operate("rebalance", "--target-revision", "successful-site-action")
	assert.Equal(t, 1, code, "it interrupts traffic")
	restored := told[shownPlan](c, "rebalance", "--target-revision", "successful-site-action", "--yes", "--wait", "0")
	assert.Equal(t, "restore", restored.Operation)
	for _, p := range ports {
		assert.Equal(t, hosts(was[p]), hosts(c.candidates(p)), p)
	}
	assert.Empty(t, c.revisions("--base", tagged, "--diff", "committed").Details.MessageList, "it is the same revision")
	c.changesNothing("rebalance", "--target-revision", tagged, "--yes")

	// By now a chassis is gone and another one cordoned, and a gateway is gone and another one new.
	c.succeeds("cordon", "c2")
	for _, p := range ports {
		c.rank(p, "c4", "c1", "c2", "c3")
	}
	c.sbctl("chassis-del", "c3")
	c.nbctl("lrp-del", ports[0])
	c.addGateways(1, "c4", "c1")
	var p shownPlan
	require.NoError(t, json.Unmarshal([]byte(c.operated("rebalance", "--target-revision", tagged, "--dry-run", "--format", "json")), &p))
	found := codes(p.Problems)
	assert.Contains(t, found, "GATEWAY_GONE "+ports[0])
	assert.Contains(t, found, "GATEWAY_NOT_RESTORED "+ports[1])
	assert.Contains(t, found, "CORDON_KEPT c2")
	for _, change := range p.Changes {
		assert.NotEqual(t, "c3", change.To(), fmt.Sprint(change))
		assert.NotEqual(t, "c2", change.To(), "nothing is moved to a chassis that is cordoned: %v", change)
	}
	c.operated("rebalance", "--target-revision", tagged, "--yes", "--wait", "0")
	assert.NotContains(t, c.masters(ports[1:]...), "c3")
	assert.NotContains(t, c.masters(ports[1:]...), "c2")
}

// setCandidates returns the arguments that give a port other candidates, best first, as Neutron does: with new rows.
func setCandidates(row, port string, chassis ...string) []string {
	args := []string{"clear", "Logical_Router_Port", row, "gateway_chassis"}
	return append(args, newCandidates(row, port, chassis...)...)
}

// rank gives a port other candidates, best first, as another client does.
func (c *cloud) rank(port string, chassis ...string) {
	c.t.Helper()
	c.nbctl(setCandidates(port, port, chassis...)...)
}

// hosts returns the chassis of candidates, without priorities.
func hosts(candidates []string) (all []string) {
	for _, c := range candidates {
		_, chassis, _ := strings.Cut(c, " ")
		all = append(all, chassis)
	}
	return all
}
