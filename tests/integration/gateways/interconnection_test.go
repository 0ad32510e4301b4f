package gateways

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// A transit switch of OVN's interconnection has no localnet port, but its gateways have candidates
// (ovn-architecture(7), OVN Deployments Interconnection). They are listed, no plan changes them, and a drain moves
// them. A candidate whose chassis is gone takes nothing over.
func TestInterconnection_gateways_are_listed_and_drained(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	for _, name := range []string{"c1", "c2"} {
		c.host(name, "")
		c.sbctl("set", "Chassis", name, "other_config:is-interconn=true")
	}
	c.nbctl("ls-add", "ts1", "--", "set", "Logical_Switch", "ts1", "other_config:interconn-ts=ts1")
	c.hang("r1", "lrp-ts1", "ts1", nil, "gone=3", "c1=2", "c2=1")
	c.hang("r2", "lrp-ts2", "ts1", nil, "c1=2", "c2=1")
	c.nbctl("--wait=sb", "sync")
	c.sbctl("lsp-bind", "cr-lrp-ts1", "c1")

	status := told[shownStatus](c, "status")
	assert.Empty(t, status.Networks)
	assert.Equal(t, []schedule.Networkless{{Name: "lrp-ts1", Active: "c1"}, {Name: "lrp-ts2"}}, status.Networkless)
	assert.ElementsMatch(t, []string{
		"CANDIDATE_INVALID lrp-ts1", "GATEWAY_NETWORK_UNKNOWN lrp-ts2", "GATEWAY_UNBOUND lrp-ts2",
	}, codes(status.Problems))
	for _, operation := range []string{"reschedule", "rebalance"} {
		assert.Empty(t, told[schedule.Plan](c, operation, "--dry-run").Changes)
	}

	var steps []string
	for _, m := range c.drain("c1", "--dry-run").Details.MessageList {
		steps = append(steps, m.Name)
	}
	assert.Equal(t, []string{"to c2", "lrp-ts2"}, steps, "c2 takes over one; the other is bound to no chassis")
	assert.Equal(t, finding.DrainUnfinished, codeOf(c.drain("c1", "--timeout", "2s")), "no ovn-controller claims it here")
	assert.Equal(t, []string{"3 gone", "2 c2", "1 c1"}, c.candidates("lrp-ts1"))
}

// A reschedule moves a gateway off a chassis that may not host it. As all that interrupts traffic it asks for --yes.
func TestReschedule_plan_that_interrupts_needs_confirmation(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	c.provider("ext", "physnet1")
	c.host("c1", marked, "physnet1")
	c.host("c2", "", "physnet1")
	c.hang("neutron-r1", "lrp-gw1", "ext", later, "c2=2", "c1=1")
	c.nbctl("--wait=sb", "sync")
	c.sbctl("lsp-bind", "cr-lrp-gw1", "c2")
	code, _, stderr := c.operate("reschedule", "--wait", "0")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "--yes")
	assert.Equal(t, []string{"2 c2", "1 c1"}, c.candidates("lrp-gw1"))
	c.operated("reschedule", "--wait", "0", "--yes")
	assert.Equal(t, map[string]int{"c1": 1}, c.masters("lrp-gw1"))
}
