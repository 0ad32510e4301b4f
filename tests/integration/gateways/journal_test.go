package gateways

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// history returns the journal as programs read it.
func (c *cloud) history(args ...string) gateway.History {
	c.t.Helper()
	var h gateway.History
	require.NoError(c.t, json.Unmarshal([]byte(c.operated(append([]string{"history", "--format", "json"}, args...)...)), &h))
	return h
}

// service returns the service that the program uses, without its texts.
func (c *cloud) service() *gateway.Service {
	s := &gateway.Service{Dialer: new(ovsdb.Dialer), NB: strings.Split(c.northbound(), ","), SB: []string{c.endpoint("sb")}, By: "a test", Now: time.Now}
	c.t.Cleanup(s.Close)
	return s
}

func TestJournal_change_is_recorded_and_reverted(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	ports := c.addGateways(6, "c1")
	assert.Empty(t, c.history().Plans)

	c.operated("reschedule", "--wait", "0")
	before := c.candidates(ports[0])
	out := c.operated("rebalance", "--wait", "0", "--yes")
	assert.Equal(t, map[string]int{"c1": 2, "c2": 2, "c3": 2}, c.masters(ports...))
	h := c.history()
	require.Len(t, h.Plans, 2)
	rebalanced, rescheduled := h.Plans[0], h.Plans[1]
	assert.Equal(t, "rebalance", rebalanced.Operation)
	assert.Equal(t, 4, rebalanced.Moves)
	assert.Contains(t, rebalanced.By, "@")
	assert.Zero(t, rebalanced.Left)
	assert.Equal(t, "reschedule", rescheduled.Operation)
	assert.Equal(t, 6, rescheduled.Gateways)
	assert.Regexp(t, "(?m)^"+rebalanced.ID+`  \S+Z  rebalance   \d         4                    \S+@\S+$`, c.operated("history"))

	// This is one complete plan; the printed command reverts it.
	text := c.operated("history", rebalanced.ID)
	assert.Regexp(t, `lrp-00\d: c1 \(3\), c\d \(2\), c\d \(1\) -> c[23] \(3\), c\d \(2\), c\d \(1\)\n`, text)
	printed := regexp.MustCompile(`ovn-central-operator gateways (rebalance --revert .*)`).FindStringSubmatch(out)
	require.NotEmpty(t, printed, out)
	assert.Contains(t, printed[1], rebalanced.ID)
	code, _, _ := c.operate("rebalance", "--revert", rebalanced.ID)
	assert.Equal(t, 1, code, "it interrupts traffic")
	c.operated(append(strings.Fields(printed[1]), "--wait", "0")...)
	assert.Equal(t, map[string]int{"c1": 6}, c.masters(ports...))
	assert.Equal(t, before, c.candidates(ports[0]))
	h = c.history()
	require.Len(t, h.Plans, 3)
	assert.Equal(t, "revert", h.Plans[0].Operation)
	c.changesNothing("rebalance", "--revert", rebalanced.ID, "--yes")

	// A reverted change can be made again, except where another client has changed something meanwhile.
	moved := h.Plans[0].ID
	c.nbctl("lrp-set-gateway-chassis", c.history(moved).Plans[0].Changes[0].Group, "c3", "7")
	again := told[shownPlan](c, "rebalance", "--revert", moved, "--yes", "--wait", "0")
	assert.Len(t, again.Changes, 3)
	assert.Contains(t, strings.Join(codes(again.Problems), "\n"), string(finding.CandidatesChanged))

	// Another plan has changed them: it is named, with the command that shows it.
	text = c.operated("rebalance", "--revert", rescheduled.ID, "--dry-run")
	printed = regexp.MustCompile(` (\w+) at \S+Z;.* ovn-central-operator gateways (.*)\)`).
		FindStringSubmatch(text)
	require.NotEmpty(t, printed, text)
	assert.Equal(t, c.history().Plans[0].ID, printed[1])
	assert.Contains(t, c.operated(strings.Fields(printed[2])...), printed[1])

	code, _, stderr := c.operate("rebalance", "--revert", "g0")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, rebalanced.ID, "the plans that there are")
	code, _, _ = c.operate("history", "nothing")
	assert.Equal(t, 1, code)
}

// Rows of other clients and the journal do not disturb each other: ovn-northd ignores the journal, and unreadable rows
// of it are named and block nothing.
func TestJournal_ignores_foreign_DNS_rows(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	c.addGateways(2, "c1")
	c.nbctl("create", "DNS", "external_ids:ls_name=neutron-7", "records:vm=10.0.0.1")
	c.nbctl("create", "DNS", "external_ids:ovn-central-operator=gateways", "external_ids:ovn-central-operator\\:plan=garbage")
	c.operated("reschedule", "--wait", "0")
	assert.Equal(t, 2, c.history().Plans[0].Gateways)
	var listed struct{ Problems []finding.Document }
	require.NoError(t, json.Unmarshal([]byte(c.operated("history", "--format", "json")), &listed))
	require.Len(t, listed.Problems, 1)
	assert.Equal(t, string(finding.JournalUnread), listed.Problems[0].Code)
	assert.Len(t, c.history().Plans, 1)
	c.nbctl("--wait=sb", "sync")
	assert.Empty(t, c.sbctl("list", "DNS"))
	assert.Contains(t, c.nbctl("find", "DNS", "external_ids:ls_name=neutron-7"), "10.0.0.1")
}

// A chassis with a part of its share is no longer new, but the journal shows that it was.
func TestRebalance_interrupted_share_is_finished_by_next_run(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3", "c4", "c5")
	ports := c.addGateways(150, "c1", "c2", "c3", "c4", "c5")
	c.addChassis("c6")
	entries := func(chassis string) int {
		return strings.Count(c.nbctl("--bare", "--columns=chassis_name", "list", "Gateway_Chassis"), chassis)
	}
	// A run ends after its first batch, as if it were killed.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := c.service()
	s.NorthdTimeout = patience
	s.Progress = func(context.Context, string) { cancel() }
	require.ErrorIs(t, reschedule(ctx, s), context.Canceled)
	part := entries("c6")
	assert.Positive(t, part)
	assert.Less(t, part, 120)
	h := c.history()
	require.Len(t, h.Plans, 1)
	assert.Positive(t, h.Plans[0].Left)
	assert.Equal(t, []string{"c6"}, h.Plans[0].Added)
	assert.Contains(t, codes(told[shownStatus](c, "status").Problems), "PLAN_UNFINISHED "+h.Plans[0].ID)

	c.operated("reschedule", "--wait", "0")
	assert.Equal(t, 120, entries("c6"), "as many as the other backups: 600 on 5 chassis")
	assert.Len(t, strings.Fields(c.nbctl("--bare", "--columns=name", "list", "Gateway_Chassis")), 5*len(ports))
	for _, e := range c.history().Plans {
		assert.Zero(t, e.Left, e.ID)
	}
	c.changesNothing("reschedule", "--wait", "0")
}

// A confirmation is valid for the plan that was shown, not for a plan that other clients have made larger.
func TestRebalance_never_exceeds_confirmed_moves(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	ports := c.addGateways(6, "c1", "c2", "c3")
	s := c.service()
	var told []string
	s.Progress = func(_ context.Context, line string) { told = append(told, line) }
	operation, err := s.Rebalance(t.Context(), gateway.Request{Confirmed: true})
	require.NoError(t, err)
	assert.Equal(t, 4, operation.Plan.Moves())
	ports = append(ports, c.addGateways(9, "c1", "c2", "c3")...)
	require.NoError(t, operation.Apply(t.Context()))
	moved := c.masters(ports...)
	assert.Equal(t, 4, moved["c2"]+moved["c3"], "of 10 that it would take now: %v", moved)
	assert.NotEmpty(t, told, "the run reports that it does less")
}

// A batch that was written counts although its answer was lost: for the confirmed moves, and for the proof.
func TestReschedule_batch_with_lost_answer_counts(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	ports := c.addGateways(12, "c1", "c2", "c3")
	rebalance := func(most int) error {
		s := c.service()
		c.relayTo(t, s, &relay{before: func(number int) fate {
			if number == 1 {
				return unanswered
			}
			return passes
		}})
		operation, err := s.Rebalance(t.Context(), gateway.Request{Options: schedule.Options{MaxMoves: most}, Confirmed: true, Wait: 2 * time.Second})
		require.NoError(t, err)
		return operation.Apply(t.Context())
	}
	var misplaced *gateway.UnprovedError
	assert.ErrorAs(t, rebalance(3), &misplaced, "no ovn-controller binds anything here")
	moved := c.masters(ports...)
	assert.Equal(t, 3, moved["c2"]+moved["c3"], "%v", moved)
	assert.ErrorAs(t, rebalance(0), &misplaced)
	assert.Equal(t, map[string]int{"c1": 4, "c2": 4, "c3": 4}, c.masters(ports...))
}

// A seed gives the plan that it gave in the dry run.
func TestReschedule_random_seed_gives_shown_plan(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3", "c4")
	c.addGateways(20, "c1")
	var p schedule.Plan
	require.NoError(t, json.Unmarshal([]byte(c.operated("reschedule", "--scheduler", "random", "--seed", "7", "--dry-run", "--format", "json")), &p))
	c.operated("reschedule", "--scheduler", "random", "--seed", "7", "--wait", "0")
	require.Len(t, p.Changes, 20)
	for _, change := range p.Changes {
		var want []string
		for _, candidate := range change.After {
			want = append(want, fmt.Sprintf("%d %s", candidate.Priority, candidate.Chassis))
		}
		assert.Equal(t, want, c.candidates(change.Group))
	}
}
