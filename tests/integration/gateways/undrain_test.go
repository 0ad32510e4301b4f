package gateways

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/present"
)

// The ranks that could not be put back are named.
func TestUndrain_names_what_it_could_not_restore(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	ports := c.addGateways(3, "c1", "c2", "c3")
	c.drained("c1")
	c.rank(ports[0], "c3", "c2")
	c.nbctl("lrp-del", ports[1])
	back := c.succeeds("undrain", "c1", "--wait", "0s")
	for i := range back.Details.MessageList {
		back.Details.MessageList[i].Message = ""
	}
	assert.Equal(t, []answer.Message{
		{Kind: answer.MessageGateway, Name: ports[0], Code: string(finding.GatewayNotRestored)}, {Kind: answer.MessageGateway, Name: ports[1], Code: string(finding.GatewayGone)},
	}, back.Details.MessageList)
	assert.Equal(t, []string{"3 c1", "2 c2", "1 c3"}, c.candidates(ports[2]))
}

// The second of two drains begins from the candidates that the first has left. Undrains in any order give back the
// ranks from before the first.
func TestUndrain_after_two_drains_restores_ranks(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	c.addGateways(3, "c1", "c2", "c3")
	before := c.ranks()
	for _, first := range []string{"c1", "c2"} {
		c.drained("c1")
		c.drained("c2")
		second := map[string]string{"c1": "c2", "c2": "c1"}[first]
		c.succeeds("undrain", first, "--wait", "0s")
		c.succeeds("undrain", second, "--wait", "0s")
		assert.Equal(t, before, c.ranks(), "undrained %s first", first)
	}
}

// If ovn-northd takes longer for any change than the undrain waits for the node, as with 10,000 routers, the undrain
// still succeeds.
func TestUndrain_gives_northd_its_own_time(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	c.addGateways(1, "c1", "c2")
	before := c.ranks()
	c.drained("c1")
	require.NoError(t, c.northd.Signal(syscall.SIGSTOP))
	time.AfterFunc(12*time.Second, func() { assert.NoError(t, c.northd.Signal(syscall.SIGCONT)) })
	c.succeeds("undrain", "c1", "--wait", "0s")
	assert.Equal(t, before, c.ranks())
}

// If the ranks are back, but the gateways are not bound as expected or their bindings can't be read, the answer says
// that the node is undrained, and names what is not proved.
func TestUndrain_failed_proof_reports_restored_ranks(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	ports := c.addGateways(2, "c1", "c2")
	before := c.ranks()
	c.drained("c1")

	elsewhere := c.answer("undrain", "c1", "--wait", "4s") // no ovn-controller binds anything here
	assert.Equal(t, 500, elsewhere.Code)
	assert.Equal(t, finding.UndrainUnproved, codeOf(elsewhere))
	assert.Contains(t, elsewhere.Details.MessageList, answer.Message{
		Message: present.InLine(juju.Version{}, schedule.Unbound(ports[0], "c1")), Error: true, Kind: answer.MessageGateway, Name: ports[0], Code: string(finding.GatewayUnbound),
	})
	next := elsewhere.Details.MessageList[len(elsewhere.Details.MessageList)-1]
	assert.Equal(t, []string{answer.MessageNext, maintenance.OperationDrain}, []string{next.Kind, next.Name}, "%+v", next)
	assert.Equal(t, before, c.ranks())

	c.drained("c1")
	asked := make(chan answer.Status)
	go func() { asked <- c.answer("undrain", "c1", "--wait", "15s") }()
	require.Eventually(t, func() bool { return c.ranks() == before }, patience, 50*time.Millisecond)
	c.run("ovs-appctl", "-t", c.servers["sb"].Control(), "exit")
	unseen := <-asked
	assert.Equal(t, 500, unseen.Code)
	assert.Equal(t, finding.UndrainUnproved, codeOf(unseen))
	assert.Regexp(t, `unix:.*sb_db\.sock`, unseen.Message)
	assert.Equal(t, before, c.ranks())
}

// An interrupted undrain says so, whether it waits for the node or for the gateways: it does not claim that it has
// waited to the end.
func TestUndrain_interrupted_says_so(t *testing.T) {
	t.Parallel()
	cause := errors.New("interrupted by a test")
	for name, test := range map[string]struct {
		during string
		code   finding.Code
	}{
		"while it waits for the node":     {"its ovn-controller", finding.UndrainUnfinished},
		"while it waits for the gateways": {"the ranks are back", finding.UndrainUnproved},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, "c1", "c2")
			c.addGateways(1, "c1", "c2")
			c.drained("c1")
			ctx, interrupt := context.WithCancelCause(t.Context())
			s := c.patient()
			t.Cleanup(s.Close)
			s.Gateways.Progress = func(_ context.Context, line string) {
				if strings.Contains(line, test.during) {
					time.AfterFunc(500*time.Millisecond, func() { interrupt(cause) })
				}
			}
			cut := s.Undrain(ctx, node.Request{Node: "c1", Confirmed: true, Wait: time.Minute})
			assert.Equal(t, test.code, codeOf(cut))
			assert.Contains(t, cut.Message, "("+cause.Error()+")")
		})
	}
}

// Changes by other clients during an undrain are not overridden, and no ranks are lost: the undrain does not end then,
// and can be run again.
func TestUndrain_concurrent_changes_keep_ranks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// at is the number of the transaction before which others write: 1 asks for a sign of life, 2 begins the undrain, 3
		// writes candidates, 4 ends it.
		at     int
		others func(*cloud)
		// raced reports whether the last transaction failed because of that, and not the check before it.
		raced bool
	}{
		"a cordon before the ranks are written":   {3, func(c *cloud) { c.answer("cordon", "c1") }, false},
		"a cordon before the end":                 {4, func(c *cloud) { c.answer("cordon", "c1") }, true},
		"its chassis goes":                        {2, func(c *cloud) { c.sbctl("chassis-del", "c1") }, false},
		"a drain before the ranks are written":    {3, (*cloud).drainOver, false},
		"a drain before the end":                  {4, (*cloud).drainOver, true},
		"an undrain and a drain before its start": {2, (*cloud).drainAnew, true},
		"an undrain and a drain before its end":   {4, (*cloud).drainAnew, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, "c1", "c2", "c3")
			c.addGateways(3, "c1", "c2", "c3")
			before := c.ranks()
			c.drained("c1")
			s := c.patient()
			c.relayTo(t, s.Gateways, &relay{before: func(number int) fate {
				if number == test.at {
					test.others(c)
				}
				return passes
			}})
			t.Cleanup(s.Close)
			cut := s.Undrain(t.Context(), node.Request{Node: "c1", Confirmed: true})
			assert.Equal(t, answer.DrainNodeError, cut.Reason, document.Answer(cut))
			assert.Equal(t, finding.UndrainUnfinished, codeOf(cut))
			assert.Equal(t, test.raced, strings.Contains(cut.Message, ovsdb.ErrChanged.Error()), cut.Message)
			assert.NotNil(t, c.node("c1").Drain, "the intent remains")
			if c.node("c1").Life == maintenance.Absent {
				c.addChassis("c1")
			}
			c.succeeds("undrain", "c1", "--wait", "0s")
			assert.Equal(t, before, c.ranks())
			n := c.node("c1")
			assert.Nil(t, n.Cordon)
			assert.Nil(t, n.Drain)
		})
	}
}

// drainAnew undrains c1 and drains it again, as another operator may.
func (c *cloud) drainAnew() {
	c.t.Helper()
	c.succeeds("undrain", "c1", "--wait", "0s")
	c.drained("c1", "--reason", "again")
}

// drainOver drains c1 during an undrain, as another operator may.
func (c *cloud) drainOver() {
	c.t.Helper()
	c.drained("c1", "--reason", "it fails again")
}

// 001-5: a node dies after its undrain has ended the cordon, but not the drain. It is drained again, with the ranks
// from before the first drain, and undrained once it is back.
func TestDrain_node_that_died_during_undrain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dies, returns func(*cloud)
		life          maintenance.Life
	}{
		"its ovn-controller is dead": {
			func(c *cloud) { c.sbctl("create", "Chassis_Private", "name=c1") },
			func(c *cloud) { c.sbctl("destroy", "Chassis_Private", "c1") }, maintenance.Unresponsive,
		},
		"its chassis is gone": {func(c *cloud) { c.sbctl("chassis-del", "c1") }, func(c *cloud) { c.addChassis("c1") }, maintenance.Absent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, "c1", "c2", "c3")
			ports := c.addGateways(101, "c1", "c2", "c3")
			before := c.ranks()
			c.drained("c1")
			ctx, cancel := context.WithCancel(t.Context())
			t.Cleanup(cancel)
			s := c.patient()
			c.relayTo(t, s.Gateways, &relay{ended: cancel, before: func(number int) fate {
				if number < 3 {
					return passes
				}
				test.dies(c)
				return killedAfter // it has written the first 100
			}})
			t.Cleanup(s.Close)
			cut := s.Undrain(ctx, node.Request{Node: "c1", Confirmed: true})
			require.Equal(t, answer.DrainNodeError, cut.Reason, document.Answer(cut))
			n := c.node("c1")
			require.Equal(t, test.life, n.Life)
			require.NotNil(t, n.Drain)
			require.True(t, n.Drain.Undrain && n.Cordon == nil)
			again := c.answer("undrain", "c1", "--wait", "0s")
			assert.Equal(t, 409, again.Code, document.Answer(again))
			assert.Equal(t, finding.NodeSilent, codeOf(again))
			assert.Contains(t, detail(again, maintenance.OperationDrain), " drain c1.example ")

			assert.Contains(t, strings.Join(codes(told[shownStatus](c, "status").Problems), "\n"), "PLAN_UNFINISHED ")
			c.drained("c1")
			for _, port := range ports[95:] {
				assert.Equal(t, "1 c1", c.candidates(port)[2])
			}
			assert.NotContains(t, strings.Join(codes(told[shownStatus](c, "status").Problems), "\n"), "PLAN_UNFINISHED ", "there is nothing to run again")
			test.returns(c)
			c.succeeds("undrain", "c1", "--wait", "0s")
			assert.Equal(t, before, c.ranks())
		})
	}
}

// A decommission works as a drain does.
func TestDecommission_node_that_died_during_undrain(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	ports := c.addGateways(3, "c1", "c2", "c3")
	c.drained("c1")
	c.sbctl("chassis-del", "c1")
	ids := maintenance.BeginUndrain("c1", maintenance.Drain{Note: maintenance.Note{Hostname: "c1.example"}}, maintenance.Note{})
	for key, value := range ids.Set {
		c.nbctl("remove", "NB_Global", ".", "external_ids", `"`+key+`"`, "--", "set", "NB_Global", ".", `external_ids:"`+key+`"=`+strconv.Quote(value))
	}
	require.Nil(t, c.node("c1").Cordon)
	c.succeeds(append([]string{"decommission", "c1", "--yes"}, quick...)...)
	for _, port := range ports {
		assert.Len(t, c.candidates(port), 2)
	}
	c.succeeds("remove", "c1", "--yes")
}
