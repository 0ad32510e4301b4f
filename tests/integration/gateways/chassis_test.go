package gateways

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// addRow adds a chassis whose ovn-controller never writes nb_cfg.
func (c *cloud) addRow(name, encapsulation, config string) {
	c.t.Helper()
	c.sbctl("chassis-add", name, encapsulation, "127.0.9.1", "--", "set", "Chassis", name, "other_config:"+config)
}

// R12, R13, R20: a row of Chassis alone, left over from an old host, is no responding chassis: what is bound to it is
// not hosted, and nothing moves to it. It can be removed.
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
