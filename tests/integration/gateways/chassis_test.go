package gateways

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// addRow adds a chassis whose ovn-controller never writes nb_cfg.
func (c *cloud) addRow(name, encapsulation, config string) {
	c.t.Helper()
	c.sbctl("chassis-add", name, encapsulation, "127.0.9.1", "--", "set", "Chassis", name, "other_config:"+config)
}

// R12, R13, R20: a chassis whose row is left over from an old host does not respond. Gateways that are bound to it
// count as not hosted, and no plan moves a gateway to it. The node can be removed.
func TestR20_row_that_is_left_over_does_not_respond(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1")
	c.addRow("old", "geneve", `ovn-cms-options=enable-chassis-as-gw`)
	c.sbctl("set", "Chassis", "old", "other_config:ovn-bridge-mappings=physnet1:br-ex")
	ports := c.addGateways(2, "old=2", "c1=1")
	c.nbctl("--wait=sb", "sync")
	c.sbctl("lsp-bind", "cr-"+ports[0], "old", "--", "lsp-bind", "cr-"+ports[1], "c1")

	assert.Equal(t, maintenance.Unresponsive, c.node("old").Life)
	assert.Equal(t, maintenance.Up, c.node("c1").Life)
	status := told[shownStatus](c, "status")
	assert.Equal(t, 1, status.Networks[0].Unhosted)
	assert.Contains(t, codes(status.Problems), "GATEWAY_HOST_SILENT "+ports[0])
	drained := c.answer("drain", "c1", "--timeout", "60s")
	assert.Equal(t, finding.DrainBlocked, codeOf(drained), document.Answer(drained))

	c.rank(ports[0], "c1")
	c.rank(ports[1], "c1")
	c.nbctl("--wait=sb", "sync")
	c.sbctl("lsp-unbind", "cr-"+ports[0])
	s, now, looked := c.nodeService(), time.Now(), false
	s.Gateways.Now = func() time.Time { // it counts as dead at the first look
		now = now.Add(time.Minute)
		return now
	}
	s.Charm = func(context.Context) (none maintenance.Charm) { // called when everything else was read
		if !looked {
			looked = true
			c.sbctl("set", "Chassis", "old", "nb_cfg="+c.sbctl("get", "SB_Global", ".", "nb_cfg")) // as one before OVN 20.09
		}
		return none
	}
	said := s.Remove(t.Context(), node.Request{Node: "old", Confirmed: true})
	s.Close()
	assert.Contains(t, found(said), "NODE_RESPONDS old", document.Answer(said))
	c.succeeds("remove", "old", "--yes")
	assert.Equal(t, "c1", c.sbctl("--bare", "--columns=name", "list", "Chassis"))
}

// ovn-controller-vtep owns the chassis of a physical switch, and ovn-ic those of another OVN: no ovn-controller follows
// nb_cfg for them. They neither respond nor fail to, and no gateway of a router goes there.
func TestR13_VTEP_gateway_is_kept_since_its_controller_owns_it(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1")
	c.addRow("tor", "vxlan", "is-vtep=true")
	c.addRow("az2", "geneve", "is-remote=true")
	c.nbctl("lsp-add", "physnet1", "v1", "--", "lsp-set-type", "v1", "vtep", "--",
		"lsp-set-options", "v1", "vtep-physical-switch=tor", "vtep-logical-switch=ls1")
	port := c.addGateways(1, "tor=3", "az2=2", "c1=1")[0]
	c.nbctl("--wait=sb", "sync")
	c.sbctl("lsp-bind", "cr-"+port, "c1", "--", "lsp-bind", "v1", "tor")

	assert.Equal(t, maintenance.VTEP, c.node("tor").Life)
	assert.ElementsMatch(t, []string{
		"CANDIDATE_INVALID " + port, "CANDIDATE_INVALID " + port, "SINGLE_CANDIDATE " + port,
	}, codes(told[shownStatus](c, "status").Problems))
	plan := told[schedule.Plan](c, "reschedule", "--dry-run")
	assert.Equal(t, []schedule.Candidate{{Chassis: "c1", Priority: 1}}, plan.Changes[0].After)
	c.rank(port, "c1")

	said := c.answer("remove", "tor", "--yes")
	assert.Equal(t, finding.NodeKept, codeOf(said))
	assert.Contains(t, found(said), "NODE_IS_VTEP tor", document.Answer(said))
	assert.NotContains(t, found(said), "NODE_RESPONDS tor")
	assert.Contains(t, detail(said, "by-hand"), "tor")
	assert.Equal(t, finding.NodeIsVTEP, codeOf(c.answer("decommission", "tor", "--yes")))
	c.answer("cordon", "tor")
	c.succeeds("uncordon", "tor")
	assert.Equal(t, 404, c.answer("remove", "az2", "--yes").Code)
}

// A candidate that is no chassis is reported for every form: Gateway_Chassis, HA_Chassis_Group, external ports, and a
// gateway without a provider network, for which the printed command drops it.
func TestStatus_missing_candidate_is_found_in_every_form(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	single := c.addGateways(1, "gone=3", "c1=2", "c2=1")[0]
	c.hang("r-grouped", "lrp-grouped", "physnet1", nil)
	c.grouped("hosts", nil, "Logical_Router_Port", []string{"lrp-grouped"}, "gone=3", "c1=2", "c2=1")
	c.nbctl("lsp-add", "physnet1", "metal", "--", "lsp-set-type", "metal", "external")
	c.grouped("served", nil, "Logical_Switch_Port", []string{"metal"}, "gone=3", "c1=2", "c2=1")
	c.nbctl("ls-add", "tunnel")
	c.hang("r-tunnel", "lrp-tunnel", "tunnel", nil, "gone=3", "c1=2", "c2=1")
	c.nbctl("--wait=sb", "sync")
	c.sbctl("lsp-bind", "cr-"+single, "c1", "--", "lsp-bind", "cr-lrp-grouped", "c1", "--", "lsp-bind", "metal", "c1",
		"--", "lsp-bind", "cr-lrp-tunnel", "c1")
	status := told[shownStatus](c, "status")
	assert.ElementsMatch(t, []string{
		"CANDIDATE_INVALID " + single, "CANDIDATE_INVALID hosts", "CANDIDATE_INVALID served", "CANDIDATE_INVALID lrp-tunnel",
	}, codes(status.Problems))
	for _, f := range status.Problems {
		if f.Subject == "lrp-tunnel" {
			c.printed(f.Remedies[0].Commands[0])
		}
	}
	assert.Equal(t, []string{"2 c1", "1 c2"}, c.candidates("lrp-tunnel"))
}

// A rebalancing leaves the gateways that backups of a dead master host. It names them, and the drain that puts them in
// order without an interruption.
func TestRebalance_names_gateways_of_dead_master_and_its_drain(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	c.addRow("dead", "geneve", "ovn-cms-options=enable-chassis-as-gw")
	c.sbctl("set", "Chassis", "dead", "other_config:ovn-bridge-mappings=physnet1:br-ex")
	ports := c.addGateways(2, "dead=3", "c1=2", "c2=1")
	c.nbctl("--wait=sb", "sync")
	c.sbctl("lsp-bind", "cr-"+ports[0], "c1", "--", "lsp-bind", "cr-"+ports[1], "c1")

	plan := told[shownPlan](c, "rebalance", "--dry-run")
	assert.Empty(t, plan.Changes)
	assert.Equal(t, []string{"GATEWAYS_ON_BACKUPS dead"}, codes(plan.Problems))
	assert.Contains(t, plan.Problems[0].Message, strings.Join(ports, ", "))
	require.Len(t, plan.Next, 1)
	assert.Regexp(t, "^ovn-central-operator nodes drain chassis:dead ", plan.Next[0])
	drained := c.retyped(plan.Next[0])
	assert.Equal(t, 200, drained.Code, document.Answer(drained))
	for _, port := range ports {
		assert.Equal(t, "1 dead", c.candidates(port)[2])
		assert.Contains(t, c.candidates(port)[0], "c1", "nothing moves")
	}
	next := told[shownPlan](c, "rebalance", "--dry-run").Next
	require.Len(t, next, 1, "the drain is over")
	assert.Contains(t, next[0], "gateways rebalance ")
}

// A gateway is bound even if no chassis reaches its provider network: the status names the localnet port that is the
// reason.
func TestStatus_names_localnet_port_that_connects_nothing(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	port := c.addGateways(1, "c1", "c2")[0]
	c.provider("far", "physnet9")
	c.hang("r-far", "lrp-far", "far", nil, "c1=2", "c2=1")
	c.nbctl("--wait=sb", "sync")
	c.sbctl("lsp-bind", "cr-"+port, "c1", "--", "lsp-bind", "cr-lrp-far", "c1")
	assert.Contains(t, codes(told[shownStatus](c, "status").Problems), "LOCALNET_UNMAPPED ln0-far")

	c.nbctl("remove", "Logical_Switch_Port", "ln0-far", "options", "network_name")
	assert.Equal(t, []string{"LOCALNET_UNMAPPED ln0-far"}, codes(told[shownStatus](c, "status").Problems))
	c.nbctl("set", "Logical_Switch_Port", "ln0-far", "options:network_name=physnet1")
	assert.Empty(t, told[shownStatus](c, "status").Problems)

	c.nbctl("lsp-del", "ln0-far")
	assert.Empty(t, told[shownStatus](c, "status").Problems, "OVN may tunnel the network")
	c.nbctl("set", "Logical_Switch", "far", `external_ids:"neutron:provnet-network-type"=vlan`)
	assert.Equal(t, []string{"LOCALNET_MISSING far"}, codes(told[shownStatus](c, "status").Problems))
	c.nbctl("clear", "Logical_Switch", "far", "ports")
	assert.Equal(t, []string{"GATEWAY_UNPLUGGED lrp-far"}, codes(told[shownStatus](c, "status").Problems))
}
