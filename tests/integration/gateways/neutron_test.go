package gateways

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// interleavings is the number of times that another client writes between a plan and its write; EXPLORE multiplies it.
const interleavings = 250

// neutron plays the other client that writes gateways.
type neutron struct {
	*cloud
	rand *rand.Rand
	// masters has the chassis that Neutron last wanted for each port. made has the name with which a port was made; its
	// router and its switch port are named after it.
	masters, made map[string]string
	next          int
}

// setCandidates returns the arguments that give a port other candidates. row is the port's row; its name may differ
// until then.
func (n *neutron) setCandidates(row, port string, candidates ...string) []string {
	n.masters[port] = candidates[0]
	return setCandidates(row, port, candidates...)
}

// some returns a few of the chassis, in any order.
func (n *neutron) some() []string {
	all := []string{"c1", "c2", "c3", "c4"}
	n.rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:1+n.rand.IntN(3)]
}

// port returns any of the existing ports.
func (n *neutron) port() string {
	all := slices.Sorted(maps.Keys(n.masters))
	return all[n.rand.IntN(len(all))]
}

func (n *neutron) act() {
	switch port := n.port(); {
	case n.rand.IntN(4) > 0 || len(n.masters) < 3:
		n.nbctl(n.setCandidates(port, port, n.some()...)...)
	case n.rand.IntN(3) == 0:
		n.remove(port)
	case n.rand.IntN(2) == 0: // the same port gets another name, and so do its candidates
		n.next++
		name, row := fmt.Sprintf("lrp-m%d", n.next), n.nbctl("get", "Logical_Router_Port", port, "_uuid")
		n.nbctl(append([]string{
			"set", "Logical_Router_Port", row, "name=" + name, "--", "lsp-set-options", n.madeAs(port) + "-sw", "router-port=" + name, "--",
		}, n.setCandidates(row, name, n.some()...)...)...)
		n.made[name] = n.madeAs(port)
		delete(n.masters, port)
	default: // another port replaces it
		n.remove(port)
		n.next++
		name, candidates := fmt.Sprintf("lrp-n%d", n.next), n.some()
		n.nbctl(n.gateway("physnet1", name, candidates...)...)
		n.masters[name] = candidates[0]
	}
}

func (n *neutron) remove(port string) {
	made := n.madeAs(port)
	n.nbctl("lrp-del", port, "--", "lr-del", "r-"+made, "--", "lsp-del", made+"-sw")
	delete(n.masters, port)
}

func (n *neutron) madeAs(port string) string {
	if made, renamed := n.made[port]; renamed {
		return made
	}
	return port
}

// Other clients write meanwhile. Their last write stays, or the next plan was made from it; no rows are left over; and
// in the end every gateway has all candidates.
func TestReschedule_keeps_concurrent_Neutron_writes(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3", "c4")
	n := &neutron{cloud: c, rand: rand.New(rand.NewPCG(1, 1)), masters: map[string]string{}, made: map[string]string{}}
	for _, port := range c.addGateways(6, "c1", "c2") {
		n.masters[port] = "c1"
	}
	s := c.service()
	acted := 0
	for acted < interleavings*exploretest.Factor(t) {
		port := n.port()
		n.nbctl(n.setCandidates(port, port, n.some()...)...) // so that there is something to do
		plans := 0
		_, err := s.Apply(t.Context(), func(state schedule.State, _ int) schedule.Plan {
			p := schedule.Reschedule(state, schedule.Options{})
			if plans++; !p.Empty() && plans < 6 && n.rand.IntN(8) > 0 {
				n.act()
				acted++
			}
			return p
		})
		require.NoError(t, err)
		_, err = s.Apply(t.Context(), func(state schedule.State, _ int) schedule.Plan { return schedule.Reschedule(state, schedule.Options{}) })
		require.NoError(t, err) // this plans for what Neutron wrote since the last plan
		n.check(plans)
	}
}

// check compares the rows with Neutron's last writes.
func (n *neutron) check(plans int) {
	n.t.Helper()
	lists := map[string][]string{}
	for _, line := range strings.Split(n.nbctl("--bare", "--no-headings", "--format=csv", "--columns=priority,name,chassis_name", "list", "Gateway_Chassis"), "\n") {
		fields := strings.Split(line, ",")
		require.Len(n.t, fields, 3, line)
		port, found := strings.CutSuffix(fields[1], "_"+fields[2])
		require.True(n.t, found, "%s is not named as Neutron names it", fields[1])
		lists[port] = append(lists[port], fields[0]+" "+fields[2])
	}
	require.Len(n.t, lists, len(n.masters), "rows of a port that is gone, or a port without any")
	for port, list := range lists {
		slices.Sort(list)
		slices.Reverse(list)
		require.Len(n.t, list, 4, "%s after %d plans", port, plans)
		assert.Equal(n.t, "4 "+n.masters[port], list[0], "%s: the chassis that Neutron wanted", port)
		for i, entry := range list {
			assert.True(n.t, strings.HasPrefix(entry, fmt.Sprintf("%d c", 4-i)), "%s: %v", port, list)
		}
	}
}

// Neutron has VLAN networks cross the router on its gateway's chassis, which it chooses by the external network alone.
// There the gateway is on a chassis without their network: they reach nothing.
func TestReschedule_gateway_moves_to_network_of_VLANs_behind(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	c.provider("vlans", "physnet2")
	c.configure("c3", marked, "physnet1", "physnet2")
	c.hang("neutron-r1", "lrp-gw", "physnet1", later, "c1", "c2", "c3")
	c.hang("neutron-r1", "lrp-in", "vlans", []string{"neutron:is_ext_gw=False"})
	c.nbctl("--wait=sb", "sync")
	c.sbctl("lsp-bind", "cr-lrp-gw", "c1")
	assert.Empty(t, told[shownStatus](c, "status").Problems)
	for _, option := range [][]string{
		{"Logical_Router_Port", "lrp-in", "options:reside-on-redirect-chassis=true"},
		{"Logical_Router_Port", "lrp-gw", "options:redirect-type=bridged"},
	} {
		c.nbctl(append([]string{"set"}, option...)...)
		assert.Equal(t, []string{"GATEWAY_CUT_OFF lrp-gw"}, codes(told[shownStatus](c, "status").Problems), option)
		assert.Equal(t, 1, told[shownPlan](c, "reschedule", "--dry-run").Cost.Interruptions, option)
		problems := told[shownPlan](c, "rebalance", "--dry-run").Problems
		assert.Equal(t, []string{"GATEWAY_CUT_OFF lrp-gw"}, codes(problems), option)
		c.nbctl("remove", option[0], option[1], "options", strings.TrimPrefix(strings.Split(option[2], "=")[0], "options:"))
	}
	c.nbctl("set", "Logical_Router_Port", "lrp-in", "options:reside-on-redirect-chassis=true")
	c.operated("reschedule", "--yes", "--wait", "0")
	assert.Equal(t, "3 c3", c.candidates("lrp-gw")[0])
	assert.Empty(t, told[shownPlan](c, "reschedule", "--dry-run").Changes)
}
