package gateways

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// rebind binds the gateway to another chassis, as ovn-controller does.
func (c *cloud) rebind(chassis string) {
	c.sbctl("lsp-unbind", "cr-lrp-001")
	c.bind(chassis, "cr-lrp-001")
}

// A chassis that has claimed a gateway may not carry it. A real ovn-controller dies between the claim and its flows
// only by chance (tests/dataplane), so the test plays that: c2 no longer follows nb_cfg once it has the gateway.
func TestDrain_proves_that_new_chassis_responds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		chassis []string
		code    int
		host    string
	}{
		"another one takes over": {[]string{"c1", "c2", "c3"}, 200, "c3"},
		"no other one can do so": {[]string{"c1", "c2"}, 500, "c2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, test.chassis...)
			ports := c.addGateways(1, test.chassis...)
			c.bind("c1", "cr-lrp-001")
			before := c.ranks()
			s := c.patient()
			s.Gateways.Progress = func(_ context.Context, line string) {
				if !strings.HasSuffix(line, " written") {
					return
				}
				chassis := hosts(c.candidates("lrp-001"))[0]
				c.rebind(chassis)
				if chassis == "c2" {
					c.sbctl("--if-exists", "destroy", "Chassis_Private", "c2", "--", "create", "Chassis_Private", "name=c2",
						"nb_cfg="+c.nbctl("get", "NB_Global", ".", "nb_cfg"))
				}
			}
			r := draining(patience)
			r.Limits.Grace = time.Second
			said := s.Drain(t.Context(), r)
			assert.Equal(t, test.code, said.Code, document.Answer(said))
			assert.Equal(t, map[string]int{test.host: 1}, c.masters(ports...))
			if test.code != 200 {
				assert.Equal(t, finding.DrainUnfinished, codeOf(said))
				assert.Equal(t, string(finding.GatewayStays), said.Details.MessageList[0].Code)
				return
			}
			c.sbctl("destroy", "Chassis_Private", "c2")
			c.succeeds("undrain", "c1", "--wait", "0s")
			assert.Equal(t, before, c.ranks())
		})
	}
}

// If a gateway moves during the proof, its new chassis is asked again: it may have been asked before its claim.
func TestDrain_gateway_moves_during_proof_is_proved_again(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	c.addGateways(1, "c1", "c2", "c3")
	c.bind("c1", "cr-lrp-001")
	s, asked := c.patient(), 0
	s.Gateways.Progress = func(_ context.Context, line string) {
		switch {
		case strings.HasSuffix(line, " written"):
			c.rebind("c2")
		case strings.Contains(line, "checking that"):
			if asked++; asked == 1 {
				c.rebind("c3")
			}
		}
	}
	r := draining(patience)
	r.Limits.Grace = time.Second
	said := s.Drain(t.Context(), r)
	assert.Equal(t, 200, said.Code, document.Answer(said))
	assert.Equal(t, 2, asked)
}

// follows makes chassis follow nb_cfg up to now.
func (c *cloud) follows(chassis ...string) {
	c.t.Helper()
	for _, name := range chassis {
		c.sbctl("set", "Chassis_Private", name, "nb_cfg="+c.sbctl("get", "SB_Global", ".", "nb_cfg"))
	}
}

// followsOnce makes a chassis follow the next nb_cfg, and none after that.
func (c *cloud) followsOnce(chassis string) {
	c.t.Helper()
	asked, err := strconv.Atoi(c.nbctl("get", "NB_Global", ".", "nb_cfg"))
	require.NoError(c.t, err)
	c.sbctl("set", "Chassis_Private", chassis, fmt.Sprintf("nb_cfg=%d", asked+1))
}

// A move fails if the new chassis follows until the plan is made, but not once it has claimed the gateway. The named
// command moves the gateway back.
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

// An undrain fails if the node takes its gateways back and then no longer responds.
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
	assert.Contains(t, detail(said, maintenance.OperationDrain), " drain c1.example ")
	assert.Equal(t, map[string]int{"c1": 1}, c.masters(ports...))
}

// An nb_cfg that an ovn-controller followed before an older Northbound database was restored is no sign of life
// afterwards.
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
