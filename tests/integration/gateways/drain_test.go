package gateways

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// quick has the flags of a drain that does not wait for holds.
var quick = []string{"--timeout", "30s", "--grace-period", "0s"}

func (c *cloud) drain(name string, flags ...string) answer.Status {
	c.t.Helper()
	return c.answer(append(append([]string{"drain", name}, quick...), flags...)...)
}

// drained drains a node, and requires success.
func (c *cloud) drained(name string, flags ...string) answer.Status {
	c.t.Helper()
	return c.succeeds(append(append([]string{"drain", name}, quick...), flags...)...)
}

// typed formats a command so that tests can compare it. It panics if the command can't be typed as the charm prints it.
func typed(c command.Command) string {
	printed := c
	if printed.Action != "" {
		printed.Unit = cmp.Or(c.Unit, "ovn-central/0")
	}
	findingtest.MustType(printed)
	if len(c.Params) > 0 && c.Params[0].Key == "node" {
		return c.Action + " " + c.Params[0].Value
	}
	words := append([]string{}, c.Words...)
	if c.Action != "" {
		words = append(words, c.Action)
	}
	for _, p := range c.Params {
		words = append(words, p.Key+"="+p.Value)
	}
	return strings.Join(words, " ")
}

// nodeService returns the service that the program uses, without its texts.
func (c *cloud) nodeService() *node.Service {
	return &node.Service{Gateways: c.service(), Command: typed}
}

// patient returns a service that waits for ovn-northd.
func (c *cloud) patient() *node.Service {
	s := c.nodeService()
	s.Gateways.NorthdTimeout = patience
	return s
}

func draining(timeout time.Duration) node.Request {
	return node.Request{Node: "c1", Confirmed: true, Limits: maintenance.Limits{Timeout: timeout}}
}

// ranks returns the candidates of all ports.
func (c *cloud) ranks() string {
	c.t.Helper()
	rows := strings.Split(c.nbctl("--bare", "--no-headings", "--format=csv", "--columns=name,priority", "list", "Gateway_Chassis"), "\n")
	slices.Sort(rows)
	return strings.Join(rows, "\n")
}

// 002-3: every gateway goes to another chassis, evenly; no row is deleted; undrain restores everything.
func TestDrain_and_undrain(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	ports := c.addGateways(6, "c1", "c2", "c3")
	backups := c.addGateways(2, "c2", "c1", "c3")
	before := c.ranks()

	c.drained("c1", "--dry-run")
	assert.Equal(t, before, c.ranks())
	assert.Nil(t, c.node("c1").Cordon)
	asked := c.unconfirmed("drain", "c1")
	assert.Equal(t, 400, asked.Code, "it interrupts traffic")
	assert.Regexp(t, ` drain c1 .* --yes$`, detail(asked, maintenance.OperationDrain))
	assert.Equal(t, before, c.ranks())

	c.drained("c1.example", "--reason", "new disk")
	assert.Equal(t, map[string]int{"c2": 2, "c3": 4}, c.masters(ports...), "with the two that c2 had each has four")
	for _, port := range append(ports, backups...) {
		assert.Equal(t, "1 c1", c.candidates(port)[2], "it is ranked last, and not deleted")
	}
	n := c.node("c1")
	require.NotNil(t, n.Cordon)
	require.NotNil(t, n.Drain)
	assert.Equal(t, "new disk", n.Drain.Reason)
	assert.Contains(t, n.Next, " undrain c1.example")
	assert.Equal(t, answer.Success, c.drain("c1").Reason, "a second one joins")
	assert.Equal(t, finding.NodeDrained, codeOf(c.answer("uncordon", "c1")))
	cordoned := c.succeeds("cordon", "c1")
	assert.Contains(t, detail(cordoned, maintenance.OperationUndrain), " undrain c1.example ",
		"what is printed is not refused")

	c.succeeds("undrain", "c1", "--dry-run")
	drained := c.ranks()
	assert.Equal(t, 400, c.unconfirmed("undrain", "c1").Code, "it interrupts traffic")
	assert.Equal(t, drained, c.ranks())
	c.succeeds("undrain", "c1", "--wait", "0s")
	assert.Equal(t, before, c.ranks(), "priorities and all")
	n = c.node("c1")
	assert.Nil(t, n.Cordon)
	assert.Nil(t, n.Drain)
	assert.Equal(t, answer.Success, c.unconfirmed("undrain", "c1").Reason, "nothing is left to confirm")
}

// R12, inside the transaction: if two drains begin at the same time, one is refused.
func TestR12_of_two_concurrent_drains_one_is_refused(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	ports := c.addGateways(4, "c1", "c2")
	for round := range 2 {
		var all sync.WaitGroup
		answers := make([]answer.Status, 2)
		for i, name := range []string{"c1", "c2"} {
			s := c.nodeService()
			all.Go(func() {
				answers[i] = s.Drain(t.Context(),
					node.Request{Node: name, Confirmed: true, Limits: maintenance.Limits{Timeout: 30 * time.Second}})
			})
		}
		all.Wait()
		codes := []int{answers[0].Code, answers[1].Code}
		slices.Sort(codes)
		require.Equal(t, []int{200, 409}, codes, "round %d: %s%s", round, document.Answer(answers[0]), document.Answer(answers[1]))
		drained := []string{"c1", "c2"}[slices.IndexFunc(answers, func(s answer.Status) bool { return s.Code == 200 })]
		for _, port := range ports {
			assert.Equal(t, "1 "+drained, c.candidates(port)[1])
		}
		c.succeeds("undrain", drained, "--wait", "0s")
	}
}

// A gateway that only this node can host is named, by the dry run and by the run alike, and nothing is begun.
func TestDrain_that_would_leave_gateway_is_refused(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	c.addNetwork("physnet9")
	c.sbctl("set", "Chassis", "c1", "other_config:ovn-bridge-mappings=\"physnet1:br-ex,physnet9:br-9\"")
	ports := c.addGateways(2, "c1", "c2")
	c.nbctl(c.gateway("physnet9", "lrp-lonely", "c1")...)
	said := c.drain("c1")
	assert.Equal(t, 409, said.Code, document.Answer(said))
	require.NotEmpty(t, said.Details.MessageList)
	lonely := said.Details.MessageList[0]
	assert.Contains(t, lonely.Message, "physnet9")
	lonely.Message = ""
	assert.Equal(t, answer.Message{Error: true, Kind: answer.MessageGateway, Name: "lrp-lonely", Code: string(finding.GatewayStays)}, lonely)
	assert.Equal(t, said, c.drain("c1", "--dry-run"))
	assert.Nil(t, c.node("c1").Drain)
	assert.Equal(t, map[string]int{"c1": 2}, c.masters(ports...))

	c.sbctl("set", "Chassis", "c2", "other_config:ovn-bridge-mappings=\"physnet1:br-ex,physnet9:br-9\"")
	c.drained("c1")
	assert.Equal(t, []string{"2 c2", "1 c1"}, c.candidates("lrp-lonely"))
}

// 001-4: a drain waits for holds, and names them with their count and age.
func TestDrain_waits_for_holds_and_names_them(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	c.addGateways(1, "c1", "c2")
	c.bind("c1", "vm-1", "vm-2")
	c.succeeds("hold", "c1", "ovn-bgp-agent", "--reason", "routes")
	shown := c.drain("c1", "--dry-run")
	assert.NotEmpty(t, detail(shown, "vm-1"))
	assert.NotEmpty(t, detail(shown, "vm-2"))
	assert.Contains(t, detail(shown, "ovn-bgp-agent"), "routes")
	said := c.answer("drain", "c1", "--timeout", "20s", "--grace-period", "1s")
	assert.Equal(t, 500, said.Code)
	assert.Equal(t, finding.DrainUnfinished, codeOf(said))
	assert.Contains(t, said.Message, finding.Reason{Code: finding.AfterGrace, Age: time.Second}.String())
	assert.Regexp(t, `^2 .*\(vm-1, vm-2\), .* \d+s$`, detail(said, "nova-compute"))
	assert.Regexp(t, `^routes, .*, \d+s `, detail(said, "ovn-bgp-agent"))

	s, lines := c.nodeService(), make(chan string, 100)
	s.Gateways.Progress = func(_ context.Context, line string) { lines <- line }
	joined := make(chan answer.Status)
	go func() {
		joined <- s.Drain(context.WithoutCancel(t.Context()),
			node.Request{Node: "c1", Confirmed: true, Limits: maintenance.Limits{Timeout: time.Minute, Grace: 50 * time.Second}})
	}()
	await := func(text string) {
		t.Helper()
		for over := time.After(patience); ; {
			select {
			case line := <-lines:
				if strings.Contains(line, text) {
					return
				}
			case <-over:
				require.Fail(t, "nothing said: "+text)
			}
		}
	}
	await("it was begun by")
	await("nova-compute 2, hold ovn-bgp-agent")
	c.sbctl("lsp-unbind", "vm-1", "--", "lsp-unbind", "vm-2")
	await("drain c1.example: hold ovn-bgp-agent")
	c.succeeds("release", "c1", "ovn-bgp-agent")
	assert.Equal(t, 200, (<-joined).Code)
}

// The database keeps the intent: an interrupted command doesn't end the drain, and another client's changes that undo
// the drain end the wait.
func TestDrain_interrupted_continues_when_run_again(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	ports := c.addGateways(150, "c1", "c2", "c3")
	before := c.ranks()
	s, begun := c.patient(), time.Now()
	s.Gateways.Now = func() time.Time { return begun } // ovn-northd takes no time, so that the first batch has 100 gateways
	ctx, cancel := context.WithCancelCause(t.Context())
	s.Gateways.Progress = func(context.Context, string) {
		if c.masters(ports...)["c1"] == 50 {
			cancel(errors.New("the action was cancelled"))
		}
	}
	cut := s.Drain(ctx, draining(time.Minute))
	assert.Equal(t, answer.DrainNodeError, cut.Reason, document.Answer(cut))
	assert.Equal(t, finding.DrainUnfinished, codeOf(cut))
	assert.Equal(t, 50, c.masters(ports...)["c1"])
	assert.Contains(t, c.listed("c1"), " draining ")

	c.drained("c1")
	assert.Zero(t, c.masters(ports...)["c1"])
	c.succeeds("undrain", "c1", "--wait", "0s")
	assert.Equal(t, before, c.ranks())
	for _, e := range c.history().Plans {
		assert.Zero(t, e.Left, e.Operation)
	}
}

// The agent may continue a drain whose command is alive but slow: each gateway moves once, and undrain restores
// everything.
func TestDrain_continued_by_two_does_no_harm(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	ports := c.addGateways(150, "c1", "c2", "c3")
	before := c.ranks()
	var all sync.WaitGroup
	for range 2 {
		s := c.patient()
		all.Go(func() {
			said := s.Drain(t.Context(), draining(2*patience))
			assert.Equal(t, 200, said.Code, document.Answer(said))
		})
	}
	all.Wait()
	assert.Zero(t, c.masters(ports...)["c1"])
	written := 0
	for _, plan := range c.history().Plans {
		assert.Zero(t, plan.Left)
		written += plan.Gateways
	}
	assert.Equal(t, len(ports), written)
	c.succeeds("undrain", "c1", "--wait", "0s")
	assert.Equal(t, before, c.ranks())
}

// listed returns a node's line in the list.
func (c *cloud) listed(chassis string) string {
	c.t.Helper()
	_, list, _ := c.nodes("list")
	for _, line := range strings.Split(list, "\n") {
		if strings.Contains(line, " "+chassis+" ") {
			return line
		}
	}
	return list
}

// ovn-northd leaves a disabled router out of SB, so a drain can't wait for its gateway. Neutron sets enabled=false if
// an operator disables a router.
func TestDrain_disabled_router_is_moved_and_not_awaited(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	ports := c.addGateways(2, "c1", "c2", "c3")
	ports = append(ports, c.addGateways(1, "c1")...)
	for _, port := range ports[1:] {
		c.nbctl("set", "Logical_Router", "r-"+port, "enabled=false")
	}
	c.bind("c2", "cr-"+ports[0]) // the result of the drain
	require.Empty(t, c.sbctl("--bare", "--columns=logical_port", "find", "Port_Binding", "logical_port=cr-"+ports[1]))
	code, out, stderr := c.operate("reschedule", "--wait", "10s")
	assert.Zero(t, code, out+stderr)
	assert.Len(t, c.candidates(ports[2]), 3)

	c.drained("c1")
	for _, port := range ports {
		assert.Equal(t, "1 c1", c.candidates(port)[2], "it is ranked last, for when its router is enabled again")
	}
	c.nbctl("--wait=sb", "set", "Logical_Router", "r-"+ports[1], "enabled=true")
	again := c.drain("c1", "--timeout", "3s")
	assert.Equal(t, 500, again.Code, document.Answer(again))
	assert.Equal(t, finding.DrainUnfinished, codeOf(again))
}
