package gateways

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// host adds a chassis with CMS options and the provider networks that it is connected to. Its ovn-controller has
// followed nb_cfg up to then.
func (c *cloud) host(name, options string, networks ...string) {
	c.t.Helper()
	c.addChassis(name)
	c.configure(name, options, networks...)
	c.sbctl("set", "Chassis", name, "hostname="+name+".maas")
}

// provider adds a switch with a port of type localnet for each network; NETWORK:TAG has a VLAN.
func (c *cloud) provider(name string, networks ...string) {
	c.t.Helper()
	args := []string{"ls-add", name}
	for i, n := range networks {
		port := fmt.Sprintf("ln%d-%s", i, name)
		n, tag, tagged := strings.Cut(n, ":")
		args = append(args, "--", "lsp-add", name, port, "--", "lsp-set-type", port, "localnet", "--", "lsp-set-options", port, "network_name="+n)
		if tagged {
			args = append(args, "--", "set", "Logical_Switch_Port", port, "tag="+tag)
		}
	}
	c.nbctl(args...)
}

// ids returns the arguments that set external IDs of a row.
func ids(table, row string, pairs ...string) (args []string) {
	for _, p := range pairs {
		args = append(args, "--", "set", table, row, "external_ids:"+strings.ReplaceAll(p, "neutron:", `neutron\:`))
	}
	return args
}

// hang makes the router of [cloud.hanging].
func (c *cloud) hang(router, port, network string, own []string, candidates ...string) {
	c.t.Helper()
	c.nbctl(c.hanging(router, port, network, own, candidates...)...)
}

// grouped makes a group with these members and external IDs, and sets it in rows of a table.
func (c *cloud) grouped(name string, own []string, table string, rows []string, members ...string) {
	c.t.Helper()
	var args, all []string
	for i := range members {
		chassis, priority := ranked(members, i)
		all = append(all, fmt.Sprintf("@m%d", i))
		args = append(args, fmt.Sprintf("--id=@m%d", i), "create", "HA_Chassis", "chassis_name="+chassis, "priority="+priority, "--")
	}
	args = append(args, "--id=@g", "create", "HA_Chassis_Group", "name="+name)
	if len(all) > 0 {
		args = append(args, "ha_chassis="+strings.Join(all, ","))
	}
	for _, p := range own {
		args = append(args, "external_ids:"+strings.ReplaceAll(p, "neutron:", `neutron\:`))
	}
	for _, r := range rows {
		args = append(args, "--", "set", table, r, "ha_chassis_group=@g")
	}
	c.nbctl(args...)
}

// external adds external ports to a switch.
func (c *cloud) external(network string, ports ...string) {
	for _, p := range ports {
		c.nbctl("lsp-add", network, p, "--", "lsp-set-type", p, "external")
	}
}

// told runs the program and reads its document.
func told[T any](c *cloud, args ...string) (v T) {
	c.t.Helper()
	require.NoError(c.t, json.Unmarshal([]byte(c.operated(append(args, "--format", "json")...)), &v))
	return v
}

// shownStatus is a status with its findings, as programs read it; shownPlan is a plan with its findings.
type (
	shownStatus struct {
		schedule.Status
		Problems []finding.Document `json:"problems"`
	}
	shownPlan struct {
		schedule.Plan
		Problems []finding.Document `json:"problems"`
	}
)

// changesNothing runs the program and requires that its plan is empty.
func (c *cloud) changesNothing(args ...string) {
	c.t.Helper()
	assert.True(c.t, told[shownPlan](c, args...).Empty(), args)
}

// codes returns the codes and subjects of findings. It panics if a printed command can't be typed.
func codes(all []finding.Document) (found []string) {
	for _, f := range all {
		for _, r := range f.Remedies {
			for _, line := range r.Commands {
				if err := findingtest.Typed(line); err != nil {
					panic(err)
				}
			}
		}
		found = append(found, f.Code+" "+f.Subject)
	}
	return found
}

// later has the external IDs of a gateway in Neutron from 2024.1 on, earlier those before 2024.1, hints those of a
// group.
var (
	later   = []string{"neutron:is_ext_gw=True", "neutron:revision_number=1"}
	earlier = []string{"neutron:revision_number=1"}
	hints   = []string{`neutron:availability_zone_hints=""`}
)

const (
	marked    = "enable-chassis-as-gw"
	markedFor = "enable-chassis-as-extport-host"
)

// realCloud is a cloud from a bug tracker, or in the form that a client's source makes, with the correct results.
type realCloud struct {
	build func(*cloud)
	// bound has the chassis of ports; nowhere is the number of gateways without a chassis.
	bound   map[string]string
	nowhere int
	// problems are the expected problems; marks reports whether one of them is the missing mark.
	problems []string
	marks    bool
	// after has the candidates that a reschedule gives groups; moves is the number of moves of a rebalancing.
	after map[string]string
	moves int
}

func (x realCloud) try(t *testing.T) {
	t.Helper()
	t.Parallel()
	c := newCloud(t)
	x.build(c)
	c.nbctl("--wait=sb", "sync")
	for port, chassis := range x.bound {
		c.sbctl("lsp-bind", port, chassis)
	}
	status := told[shownStatus](c, "status")
	nowhere, marks := 0, 0
	for _, n := range status.Networks {
		nowhere += n.Unhosted
		for _, h := range n.Hosts {
			assert.Equal(t, h.Hosts, bound(x.bound, h.Chassis, status.Networks), h.Chassis)
		}
	}
	assert.Equal(t, x.nowhere, nowhere, "gateways that are hosted nowhere")
	var problems []string
	for _, f := range status.Problems {
		problems = append(problems, f.Subject)
		if f.Code == string(finding.NoChassisMarked) {
			assert.Equal(t, []string{"juju config ovn-chassis prefer-chassis-as-gw=true"}, f.Remedies[0].Commands)
			marks++
		}
	}
	slices.Sort(problems)
	assert.Equal(t, x.problems, slices.Compact(problems), "%v", status.Problems)
	assert.Equal(t, x.marks, marks == 1, "%v", status.Problems)
	after := map[string]string{}
	for _, change := range told[schedule.Plan](c, "reschedule", "--dry-run").Changes {
		var names []string
		for _, candidate := range change.After {
			names = append(names, candidate.Chassis)
		}
		after[change.Group] = strings.Join(names, " ")
	}
	if len(after)+len(x.after) > 0 {
		assert.Equal(t, x.after, after)
	}
	assert.Equal(t, x.moves, told[schedule.Plan](c, "rebalance", "--dry-run").Cost.Interruptions)
}

// bound counts the gateways that are bound to a chassis, if the chassis is in only one network.
func bound(all map[string]string, chassis string, networks []schedule.Network) (n int) {
	in := 0
	for _, network := range networks {
		for _, h := range network.Hosts {
			if h.Chassis == chassis {
				in++
			}
		}
	}
	for port, on := range all {
		if on == chassis && strings.HasPrefix(port, "cr-") {
			n++
		}
	}
	return n / max(1, in)
}
