package gateways

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// zoned has the external IDs of a Neutron router or group for the zone az1; inZone has the options of a chassis in it.
var zoned = []string{"neutron:availability_zone_hints=az1"}

const inZone = marked + ",availability-zones=az1"

// router adds a router in the form of Neutron from 2026.2 on: a gateway in each network, and one group for all. It
// makes no group if there are no candidates.
func (c *cloud) router(id string, networks []string, candidates ...string) (ports []string) {
	c.t.Helper()
	for i, network := range networks {
		ports = append(ports, fmt.Sprintf("lrp-%s-%d", id, i))
		c.hang("neutron-"+id, ports[i], network, later)
	}
	c.nbctl(ids("Logical_Router", "neutron-"+id, zoned...)[1:]...)
	if len(candidates) > 0 {
		c.groupOf(id, ports, candidates...)
	}
	return ports
}

// groupOf makes the group of a router's ports as Neutron does.
func (c *cloud) groupOf(id string, ports []string, candidates ...string) {
	c.t.Helper()
	c.grouped("neutron-"+id, append([]string{"neutron:router_id=" + id}, zoned...), "Logical_Router_Port", ports,
		candidates...)
}

// members returns the candidates of a group, best first.
func (c *cloud) members(group string) (all []string) {
	uuids := c.nbctl("--bare", "--columns=ha_chassis", "find", "HA_Chassis_Group", "name="+group)
	for _, uuid := range strings.Fields(uuids) {
		all = append(all, strings.ReplaceAll(c.nbctl("--bare", "--no-headings", "--format=csv", "--columns=priority,chassis_name", "list", "HA_Chassis", uuid), ",", " "))
	}
	slices.Sort(all)
	slices.Reverse(all)
	return all
}

func TestForms_groups_are_operated_like_single_gateways(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	for _, name := range []string{"c1", "c2", "c3"} {
		c.configure(name, inZone, "physnet1")
	}
	for n := range 4 {
		c.router(fmt.Sprint("r", n), []string{"physnet1"}, "c1")
	}
	rows := c.nbctl("--columns=_uuid,name,external_ids", "find", "HA_Chassis_Group", "name=neutron-r0")
	c.operated("reschedule", "--wait", "0")
	for n := range 4 {
		members := c.members(fmt.Sprint("neutron-r", n))
		require.Len(t, members, 3)
		assert.Equal(t, "3 c1", members[0])
		assert.Len(t, strings.Fields(c.scheduled(fmt.Sprint("neutron-r", n))), 3, "SB has it too")
	}
	assert.Equal(t, rows, c.nbctl("--columns=_uuid,name,external_ids", "find", "HA_Chassis_Group", "name=neutron-r0"), "the group's own row stays as it is")
	c.operated("rebalance", "--yes", "--wait", "0")
	count := map[string]int{}
	for n := range 4 {
		count[c.members(fmt.Sprint("neutron-r", n))[0]]++
	}
	assert.Equal(t, 2, count["3 c1"])
	assert.Equal(t, 1, count["3 c2"])
	assert.Len(t, strings.Fields(c.nbctl("--bare", "--columns=_uuid", "list", "HA_Chassis")), 12, "nothing is left over")
	c.changesNothing("rebalance", "--yes", "--wait", "0")
	c.operated("rebalance", "--revert", c.history().Plans[0].ID, "--yes", "--wait", "0")
	assert.Equal(t, "3 c1", c.members("neutron-r3")[0])
}

// If the other routers have groups, an unhosted router gets one in Neutron's form.
func TestForms_unhosted_router_gets_group_like_others(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	c.addNetwork("physnet2")
	for _, name := range []string{"c1", "c2"} {
		c.configure(name, inZone, "physnet1", "physnet2")
	}
	c.router("old", []string{"physnet1"}, "c1", "c2")
	ports := c.router("new", []string{"physnet1", "physnet2"})
	late := c.router("late", []string{"physnet1"})
	s, plans := c.service(), 0
	_, err := s.Apply(t.Context(), func(state schedule.State, _ int) schedule.Plan {
		p := schedule.Reschedule(state, schedule.Options{})
		if plans++; plans == 1 { // Neutron makes the group of one of them first
			c.groupOf("late", late, "c1")
		}
		return p
	})
	require.NoError(t, err)
	assert.Equal(t, 2, plans)
	assert.Len(t, c.members("neutron-new"), 2)
	group := c.nbctl("--bare", "--columns=_uuid", "find", "HA_Chassis_Group", "name=neutron-new")
	for _, p := range ports {
		assert.Equal(t, group, c.nbctl("get", "Logical_Router_Port", p, "ha_chassis_group"))
	}
	assert.Equal(t, `{"neutron:availability_zone_hints"=az1, "neutron:router_id"=new}`, c.nbctl("get", "HA_Chassis_Group", "neutron-new", "external_ids"))
	assert.Equal(t, []string{"2 c1", "1 c2"}, c.members("neutron-late"), "Neutron's master stays")
	assert.Len(t, strings.Fields(c.nbctl("--bare", "--columns=_uuid", "list", "HA_Chassis_Group")), 3)
	c.changesNothing("reschedule", "--wait", "0")

	// A port that lacks the group of its router is reported, with the command that repairs it.
	c.nbctl("clear", "Logical_Router_Port", ports[0], "ha_chassis_group")
	_, shown, _ := strings.Cut(c.operated("status"), "\nproblems\n")
	c.printed(shown)
	assert.Equal(t, group, c.nbctl("get", "Logical_Router_Port", ports[0], "ha_chassis_group"))
}

// Neutron from 2024.1 to 2026.1 gives each gateway of a router its own candidates. One chassis that fails should not
// take both along. A reschedule moves nothing for that, a rebalance does.
func TestForms_gateways_of_one_router_are_separated(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	for n, order := range [][]string{{"c1", "c2"}, {"c2", "c1"}} {
		for port := range 2 {
			c.hang(fmt.Sprint("neutron-r", n), fmt.Sprintf("lrp-r%d-%d", n, port), "physnet1", later, order...)
		}
	}
	c.changesNothing("reschedule", "--wait", "0")
	plan := told[shownPlan](c, "rebalance", "--dry-run")
	assert.Equal(t, 2, plan.Bounds[0].Separating)
	c.operated("rebalance", "--yes", "--wait", "0")
	for n := range 2 {
		ports := []string{fmt.Sprintf("lrp-r%d-0", n), fmt.Sprintf("lrp-r%d-1", n)}
		assert.Equal(t, map[string]int{"c1": 1, "c2": 1}, c.masters(ports...))
	}
	c.changesNothing("rebalance", "--yes", "--wait", "0")
}

// External ports work only on the chassis that hosts their router's gateway.
func TestForms_external_ports_follow_router(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	for _, name := range []string{"c1", "c2", "c3"} {
		c.configure(name, inZone, "physnet1")
	}
	for n := range 3 {
		id := fmt.Sprint("r", n)
		c.router(id, []string{"physnet1"}, "c1", "c2", "c3")
		inside := "inside-" + id
		c.nbctl("ls-add", inside, "--", "lrp-add", "neutron-"+id, "lrp-in-"+id, fmt.Sprintf("00:00:00:02:00:%02x", n), fmt.Sprintf("192.168.%d.1/24", n), "--",
			"lsp-add", inside, "in-"+id, "--", "lsp-set-type", "in-"+id, "router", "--", "lsp-set-options", "in-"+id, "router-port=lrp-in-"+id, "--",
			"lsp-add", inside, "baremetal-"+id, "--", "lsp-set-type", "baremetal-"+id, "external", "--",
			"--id=@m", "create", "HA_Chassis", "chassis_name=c1", "priority=1", "--", "--id=@g", "create", "HA_Chassis_Group", "name=neutron-ext-"+id, "ha_chassis=@m", "--",
			"set", "Logical_Switch_Port", "baremetal-"+id, "ha_chassis_group=@g")
	}
	c.operated("rebalance", "--yes", "--wait", "0")
	moved := 0
	for n := range 3 {
		master := strings.Fields(c.members(fmt.Sprint("neutron-r", n))[0])[1]
		if master != "c1" {
			moved++
		}
		assert.Equal(t, master, strings.Fields(c.members(fmt.Sprint("neutron-ext-r", n))[0])[1])
	}
	assert.Equal(t, 2, moved)
}

// F. A row of Gateway_Chassis has the name that a new one should get, for instance since a script has put another
// chassis into it (LP#2143751). OVSDB refuses a second row of that name, and with it the whole batch. The dry run keeps
// its promise: the new row gets a name that is free, and Neutron still finds its port in it.
func TestForms_name_of_new_row_is_taken(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	for port, rows := range map[string][]string{
		"lrp-a": {"lrp-a_c2 c1", "lrp-a_c3 gone"}, "lrp-b": {"lrp-b_c1 c1", "lrp-c_c2 c2"}, "lrp-c": nil,
	} {
		c.hang("neutron-"+port, port, "physnet1", later)
		for i, row := range rows {
			name, chassis, _ := strings.Cut(row, " ")
			c.nbctl("--id=@g", "create", "Gateway_Chassis", "name="+name, "chassis_name="+chassis, fmt.Sprint("priority=", 2-i), "--",
				"add", "Logical_Router_Port", port, "gateway_chassis", "@g")
		}
	}
	c.nbctl("--wait=sb", "sync")
	dry := told[shownPlan](c, "reschedule", "--dry-run")
	assert.Len(t, dry.Changes, 3)
	c.operated("reschedule", "--wait", "0")
	c.changesNothing("reschedule", "--wait", "0")
	names := strings.Fields(c.nbctl("--bare", "--columns=name", "list", "Gateway_Chassis"))
	slices.Sort(names)
	assert.Equal(t, []string{
		"lrp-a_c2", "lrp-a_c2.2", "lrp-a_c3", "lrp-b_c1", "lrp-b_c3", "lrp-c_c1", "lrp-c_c2", "lrp-c_c2.2", "lrp-c_c3",
	}, names)
	assert.Equal(t, []string{"NO_GATEWAY_BOUND ", "CANDIDATE_MISNAMED lrp-b"},
		codes(told[shownStatus](c, "status").Problems))
}

// Irregular rows are named, and the others are read as usual.
func TestForms_rows_of_unknown_origin_are_named(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	ports := c.addGateways(2, "c1")
	c.nbctl("lrp-set-gateway-chassis", ports[0], "c2", "7") // this row's name has a hyphen
	c.nbctl("ha-chassis-group-add", "by-hand", "--", "ha-chassis-group-add-chassis", "by-hand", "c1", "1")
	c.sbctl("set", "Chassis", "c2", `other_config:ovn-bridge-mappings="physnet1:br-ex,physnet1,:x"`)
	out := c.operated("reschedule", "--wait", "0")
	assert.Contains(t, out, "reschedule: 1 gateway")
	found := codes(told[shownStatus](c, "status").Problems)
	for _, code := range []string{"CANDIDATE_MISNAMED " + ports[0], "GROUP_UNUSED by-hand", "BRIDGE_MAPPINGS_INVALID c2"} {
		assert.Contains(t, found, code)
	}
	assert.Len(t, c.candidates(ports[1]), 2)
}
