package gateways

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/shelltest"
)

// pinRouter adds a router that is pinned to a chassis, with a port in physnet1.
func (c *cloud) pinRouter(name, chassis string, more ...string) {
	c.t.Helper()
	args := append(c.hanging(name, "lrp-"+name, "physnet1", nil), "--", "set", "Logical_Router", name,
		"options:chassis="+chassis)
	c.nbctl(append(args, more...)...)
}

// printed runs the commands at the end of a text as they are printed, and returns the last one.
func (c *cloud) printed(text string) (command string) {
	c.t.Helper()
	for _, line := range strings.Split(text, "\n") {
		before, after, found := strings.Cut(line, "ovn-nbctl ")
		if found && (strings.TrimSpace(before) == "" || strings.HasSuffix(before, "run: ")) {
			command = "ovn-nbctl " + after
			c.nbctl(shelltest.Words(c.t, after)...)
		}
	}
	require.NotEmpty(c.t, command, "no command is printed: %s", text)
	c.nbctl("--wait=sb", "sync")
	return command
}

// C. Three kinds of gateways have no candidates: submariner_router (submariner PR 1028), a router of Neutron with an
// external network of type Geneve, and gateways of layer 2. The drain and its dry run name them with the command that
// moves them.
func TestPinned_drain_names_gateway_and_printed_command_moves_it(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		add           func(*cloud)
		port, command string
	}{
		"router": {
			func(c *cloud) { c.pinRouter("submariner_router", "c1") },
			"lrp-submariner_router", "ovn-nbctl set Logical_Router submariner_router options:chassis=c2",
		},
		"l2gateway": {
			func(c *cloud) {
				c.nbctl("ls-add", "in", "--", "lsp-add", "in", "l2", "--", "lsp-set-type", "l2", "l2gateway", "--", "lsp-set-options", "l2", "network_name=physnet1", "l2gateway-chassis=c1")
			},
			"l2", "ovn-nbctl set Logical_Switch_Port l2 options:l2gateway-chassis=c2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, "c1", "c2", "c3")
			c.sbctl("set", "Chassis", "c3", "other_config:ovn-bridge-mappings=physnet9:br-9")
			test.add(c)
			ports := c.addGateways(2, "c1", "c2")
			c.nbctl("--wait=sb", "sync")
			c.sbctl("lsp-bind", test.port, "c1")
			assert.Regexp(t, `(?m)^pinned: .*\n  \S+: (router|l2gateway) on c1$`, c.operated("status"))
			n := c.node("c1")
			require.Len(t, n.Pinned, 1)
			assert.Equal(t, n.Pinned, n.Lost, "what is pinned is lost with its chassis")

			dry := c.drain("c1", "--dry-run")
			assert.Equal(t, 409, dry.Code)
			assert.Equal(t, dry, c.drain("c1"), "the run agrees")
			assert.Nil(t, c.node("c1").Cordon, "nothing was done")
			retire := c.answer("decommission", "c1", "--dry-run")
			assert.Equal(t, 409, retire.Code)
			assert.Equal(t, dry.Details, retire.Details)
			assert.Equal(t, 409, c.answer("decommission", "c1", "--yes").Code)

			assert.Equal(t, test.command, c.printed(document.Answer(dry)))
			c.sbctl("lsp-unbind", test.port, "--", "lsp-bind", test.port, "c2")
			c.drained("c1")
			assert.Equal(t, map[string]int{"c2": 2}, c.masters(ports...))
			assert.Equal(t, 409, c.drain("c2", "--dry-run").Code, "it is the only one now")
			log, err := os.ReadFile(c.path("northd", "log"))
			require.NoError(t, err)
			assert.NotContains(t, string(log), "Bad configuration")
		})
	}
}

// A dead node is not removed while a gateway is pinned to it: no other chassis would host that gateway, and no row
// would name the node.
func TestR13_node_with_pinned_gateway_is_not_removed(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c2")
	c.pinRouter("gr", "gone")
	c.nbctl("lr-add", "unnamed", "--", "set", "Logical_Router", "unnamed", "options:chassis=gone", `name=""`)
	c.sbctl("create", "Chassis_Private", "name=gone")
	c.nbctl("--wait=sb", "sync")
	refused := c.answer("remove", "gone", "--yes")
	assert.Equal(t, 409, refused.Code)
	assert.Len(t, refused.Details.MessageList, 2)
	assert.Contains(t, codes(told[shownStatus](c, "status").Problems), "PINNED_UNHOSTED gr")
	c.printed(document.Answer(refused))
	assert.Equal(t, "chassis=c2\nchassis=c2", strings.Join(strings.Fields(c.nbctl("--bare", "--columns=options", "list", "Logical_Router")), "\n"))
	c.succeeds("remove", "gone", "--yes")
	assert.NotContains(t, c.operated("status"), "gone")
}

// C. A client has a router for each node, and deletes it with the node (gateway.go of ovn-kubernetes; neutron/services/
// bgp/commands.py, 28.0.0). A move would leave the node without it, so no command that moves it is printed.
func TestPinned_router_of_node_is_not_moved(t *testing.T) {
	t.Parallel()
	for name, router := range map[string]string{
		"ovn-kubernetes": "GR_c1", "network of a user": "GR_cluster_udn_blue_c1", "BGP of Neutron": "bgp-lr-c1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, "c1", "c2")
			c.pinRouter(router, "c1")
			c.hang("cluster", "rtos-c1", "physnet1", nil, "c1=1")
			c.bind("c1", "cr-rtos-c1")
			c.sbctl("lsp-bind", "lrp-"+router, "c1")
			assert.NotContains(t, codes(told[shownStatus](c, "status").Problems), "PINNED_UNHOSTED "+router)
			assert.Contains(t, c.node("c1").Lost, router)

			refused := c.drain("c1", "--dry-run")
			assert.Equal(t, 409, refused.Code)
			assert.Equal(t, []string{"GATEWAY_PINNED " + router}, found(refused))
			assert.NotContains(t, document.Answer(refused), "ovn-nbctl")

			c.sbctl("create", "Chassis_Private", "name=c1")
			c.nbctl("--wait=sb", "sync")
			for _, f := range told[shownStatus](c, "status").Problems {
				if f.Subject == router {
					assert.Equal(t, string(finding.PinnedUnhosted), f.Code)
					assert.Empty(t, f.Remedies[0].Commands)
					assert.NotEmpty(t, f.Remedies[0].Deed)
				}
			}
			kept := c.answer("remove", "c1", "--yes")
			assert.Equal(t, 409, kept.Code)
			assert.Contains(t, found(kept), "GATEWAY_PINNED "+router)
			assert.NotContains(t, document.Answer(kept), "decommission", "it would be refused")
		})
	}
}

// OVN binds a disabled router nowhere, so a drain leaves it. A decommission and a removal don't: it would be pinned to
// nothing when it is enabled again.
func TestPinned_disabled_router_holds_no_drain(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1")
	c.pinRouter("gr", "c1", "--", "set", "Logical_Router", "gr", "enabled=false")
	c.nbctl("--wait=sb", "sync")
	c.drained("c1")
	for _, operation := range []string{"decommission", "remove"} {
		refused := c.answer(operation, "c1", "--yes")
		assert.Equal(t, 409, refused.Code, operation)
		assert.Contains(t, found(refused), "GATEWAY_PINNED gr", operation)
	}
}

// A pinned router with candidates, a router pinned to a host name (submariner issue 1074), and a router pinned to
// nothing are problems, each with a command that repairs it. No plan gives a pinned router candidates.
func TestPinned_problems_are_found_and_repaired(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		chassis string
		more    []string
		problem string
	}{
		"with candidates": {"c1", []string{
			"--", "lrp-set-gateway-chassis", "lrp-gr", "c2", "1",
		}, "CANDIDATES_IGNORED lrp-gr"},
		"host name": {"c1.example", nil, "PINNED_UNHOSTED gr"},
		"nothing":   {`""`, nil, "PINNED_UNHOSTED gr"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, "c1", "c2")
			c.pinRouter("gr", test.chassis, test.more...)
			c.nbctl("--wait=sb", "sync")
			if strings.HasPrefix(test.chassis, "c1") && test.more != nil {
				c.sbctl("lsp-bind", "lrp-gr", "c1")
			}
			status := c.operated("status")
			assert.Contains(t, codes(told[shownStatus](c, "status").Problems), test.problem)
			c.changesNothing("reschedule", "--wait", "0")
			_, list, _ := c.nodes("list")
			assert.NotContains(t, list, "absent", "no node is made up")
			c.printed(status)
			c.sbctl("--may-exist", "lsp-bind", "lrp-gr", "c1")
			assert.NotContains(t, c.operated("status"), "problems")
			assert.Empty(t, c.nbctl("--bare", "--columns=_uuid", "list", "Gateway_Chassis"))
		})
	}
}

// C. Neutron pins a router whose external network is a tunnel to the best member of the router's group, again after
// each change of the group (HAChassisGroupRouterEvent in ovsdb_monitor.py; LP#2052821). The printed command changes
// both.
func TestPinned_by_Neutron_moves_with_its_group(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	for _, chassis := range []string{"c1", "c2"} {
		c.configure(chassis, inZone, "physnet1")
	}
	c.nbctl("ls-add", "tunnel")
	c.hang("neutron-r1", "lrp-gw", "tunnel", later)
	c.nbctl(append([]string{"set", "Logical_Router", "neutron-r1", "options:chassis=c1"}, ids("Logical_Router", "neutron-r1", zoned...)...)...)
	c.groupOf("r1", nil, "c1=32767", "c3=32766", "c2=32765")
	c.nbctl("--wait=sb", "sync")
	c.sbctl("lsp-bind", "lrp-gw", "c1")
	assert.NotContains(t, c.operated("status"), "problems")

	dry := c.drain("c1", "--dry-run")
	assert.Equal(t, 409, dry.Code)
	c.printed(document.Answer(dry))
	assert.Equal(t, "c2", c.nbctl("get", "Logical_Router", "neutron-r1", "options:chassis"), "the only other one in the zone")
	assert.Equal(t, []string{"32767 c2", "32766 c3", "32765 c1"}, c.members("neutron-r1"))
	c.sbctl("lsp-unbind", "lrp-gw", "--", "lsp-bind", "lrp-gw", "c2")
	c.drained("c1")

	c.nbctl("set", "Logical_Router", "neutron-r1", "options:chassis=c1") // as without the group
	c.succeeds("undrain", "c1")
	c.sbctl("lsp-unbind", "lrp-gw", "--", "lsp-bind", "lrp-gw", "c1")
	status := c.operated("status")
	assert.Equal(t, []string{"PINNED_AGAINST_GROUP neutron-r1"}, codes(told[shownStatus](c, "status").Problems))
	c.printed(status)
	assert.Equal(t, []string{"32767 c1", "32766 c2", "32765 c3"}, c.members("neutron-r1"))
	assert.NotContains(t, c.operated("status"), "problems")
}

// C. A change of a group made Neutron pin the router, although its gateways have candidates (LP#2158987, LP#2161232).
// OVN then ignores the candidates. The printed command removes the pin, not the candidates: they are the router's other
// chassis.
func TestPinned_by_mistake_is_unpinned(t *testing.T) {
	t.Parallel()
	for name, grouped := range map[string]bool{"Gateway_Chassis": false, "HA_Chassis_Group": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, "c1", "c2")
			has := func() []string { return c.candidates("lrp-gw") }
			if grouped {
				c.hang("neutron-r1", "lrp-gw", "physnet1", later)
				c.groupOf("r1", []string{"lrp-gw"}, "c1", "c2")
				has = func() []string { return c.members("neutron-r1") }
			} else {
				c.hang("neutron-r1", "lrp-gw", "physnet1", later, "c1", "c2")
			}
			c.nbctl("--wait=sb", "set", "Logical_Router", "neutron-r1", "options:chassis=c1")
			status := c.operated("status")
			assert.Contains(t, codes(told[shownStatus](c, "status").Problems), "CANDIDATES_IGNORED lrp-gw")
			dry := c.drain("c1", "--dry-run")
			assert.Equal(t, 409, dry.Code)
			const command = "ovn-nbctl remove Logical_Router neutron-r1 options chassis"
			assert.Contains(t, document.Answer(dry), command)
			assert.Equal(t, command, c.printed(status))
			assert.Equal(t, []string{"2 c1", "1 c2"}, has())
			c.bind("c1", "cr-lrp-gw")
			assert.NotContains(t, c.operated("status"), "problems")
			assert.Equal(t, 200, c.drain("c1", "--dry-run").Code)
		})
	}
}

// G. Rows that two workers wrote at once are repaired: reschedule repairs a chassis that is listed twice, the command
// that status prints repairs more than five candidates.
func TestCandidates_too_many_are_shortened(t *testing.T) {
	t.Parallel()
	all := []string{"c1", "c2", "c3", "c4", "c5", "c6", "c7"}
	c := newCloud(t, all...)
	for _, chassis := range all {
		c.configure(chassis, inZone, "physnet1")
	}
	c.router("twice", []string{"physnet1"}, "c1", "c2", "c1")
	c.router("many", []string{"physnet1"}, all...)
	many := c.addGateways(1, all...)[0]
	c.bind("c1", "cr-lrp-twice-0", "cr-lrp-many-0")
	c.bind("c7", "cr-"+many)
	status := c.operated("status")
	found := codes(told[shownStatus](c, "status").Problems)
	assert.Contains(t, found, "CANDIDATE_REPEATED neutron-twice")
	assert.Contains(t, found, "CANDIDATES_TOO_MANY neutron-many")
	c.operated("reschedule", "--wait", "0")
	chassis := func(rows []string) (names []string) {
		for _, row := range rows {
			names = append(names, strings.Fields(row)[1])
		}
		return names
	}
	twice := chassis(c.members("neutron-twice"))
	assert.Equal(t, "c1", twice[0])
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(twice))), len(c.members("neutron-twice")))
	c.printed(status)
	assert.ElementsMatch(t, []string{"c1", "c2", "c3", "c4", "c5"}, chassis(c.members("neutron-many")))
	assert.ElementsMatch(t, []string{"c1", "c2", "c3", "c4", "c7"}, chassis(c.candidates(many)), "the one that hosts it stays")
	assert.NotContains(t, c.operated("status"), "ovn-nbctl", "nothing is left to drop")
}
