package gateways

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/document"
)

// G. A problem of a list of candidates is repaired by the command that status prints or, if it prints none, by a
// reschedule.
func TestCandidates_problems_are_repaired(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		add     func(*cloud)
		problem string
		// byReschedule reports whether a reschedule repairs it.
		byReschedule bool
		host         string
		after        []string
	}{
		// migrate_lrp_gateway_chassis_to_ha_chassis_group in maintenance.py of Neutron 2026.2, interrupted.
		"in both forms": {
			func(c *cloud) { c.grouped("neutron-r1", nil, "Logical_Router_Port", []string{"lrp1"}, "c1", "c2") },
			"GATEWAY_STORED_TWICE lrp1", false, "c1", nil,
		},
		// LP#2143751: ovn-nbctl names rows with a hyphen.
		"with a name that Neutron can't read": {
			func(c *cloud) {
				c.nbctl("clear", "Logical_Router_Port", "lrp1", "gateway_chassis", "--", "lrp-set-gateway-chassis", "lrp1", "c1", "2", "--", "lrp-set-gateway-chassis", "lrp1", "c2", "1")
			},
			"CANDIDATE_MISNAMED lrp1", false, "c1",
			[]string{"2 c1", "1 c2"},
		},
		// LXD draws priorities at random (addChassisGroupEntry), and ovn-nbctl takes 0 if none is given.
		"with the same priority": {
			func(c *cloud) {
				for _, row := range strings.Fields(c.nbctl("--bare", "--columns=_uuid", "list", "Gateway_Chassis")) {
					c.nbctl("set", "Gateway_Chassis", row, "priority=0")
				}
			},
			"CANDIDATES_TIED lrp1", true,
			"c2",
			[]string{"2 c2", "1 c1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, "c1", "c2")
			c.hang("neutron-r1", "lrp1", "physnet1", later, "c1=2", "c2=1")
			test.add(c)
			c.nbctl("--wait=sb", "sync")
			c.sbctl("lsp-bind", "cr-lrp1", test.host)
			assert.Contains(t, codes(told[shownStatus](c, "status").Problems), test.problem)
			if test.byReschedule {
				c.operated("reschedule", "--wait", "0")
			} else {
				c.printed(c.operated("status"))
			}
			assert.Empty(t, told[shownStatus](c, "status").Problems)
			assert.Equal(t, test.after, c.candidates("lrp1"))
			c.changesNothing("reschedule", "--wait", "0")
		})
	}
}

// R13, R7: the rows of Gateway_Chassis of a port with a group name a node too. A removal names them with the command
// that deletes them, before it deletes anything.
func TestR13_node_in_ignored_candidates_is_not_removed(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1")
	c.hang("neutron-r1", "lrp1", "physnet1", later, "gone=2", "c1=1")
	c.grouped("neutron-r1", nil, "Logical_Router_Port", []string{"lrp1"}, "c1")
	c.sbctl("create", "Chassis_Private", "name=gone")
	c.nbctl("--wait=sb", "sync")
	for _, run := range []string{"--dry-run", "--yes"} {
		assert.Equal(t, 409, c.answer("remove", "gone", run).Code)
	}
	c.printed(document.Answer(c.answer("remove", "gone", "--yes")))
	c.succeeds("remove", "gone", "--yes")
	assert.NotContains(t, c.operated("status"), "gone")
}
