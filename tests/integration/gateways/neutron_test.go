package gateways

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// interleavings is how often another client writes between a plan and its writing; EXPLORE multiplies it.
const interleavings = 250

// neutron plays the other writer of gateways: it knows what it has written last.
type neutron struct {
	*cloud
	rand *rand.Rand
	// masters is the chassis that it wanted to host each port; made is the name that a port was made
	// with, after which its router and its switch's port are named.
	masters, made map[string]string
	next          int
	// lists are the candidates that it has given each port, best first, and earlier those before.
	lists   map[string][]string
	earlier map[string][][]string
}

// want notes what it has given a port.
func (n *neutron) want(port string, candidates ...string) {
	if n.lists == nil {
		n.lists, n.earlier = map[string][]string{}, map[string][][]string{}
	}
	if list, again := n.lists[port]; again {
		n.earlier[port] = append(n.earlier[port], list)
	}
	n.masters[port], n.lists[port] = candidates[0], candidates
}

// setCandidates gives a port other candidates, as Neutron does: new rows.
func (n *neutron) setCandidates(port string, candidates ...string) []string {
	return n.setCandidatesOf(port, port, candidates...)
}

// setCandidatesOf is for a row of a port that has this name.
func (n *neutron) setCandidatesOf(row, port string, candidates ...string) []string {
	args := []string{"clear", "Logical_Router_Port", row, "gateway_chassis"}
	for i, chassis := range candidates {
		args = append(args, "--", fmt.Sprintf("--id=@%s%d", port, i), "create", "Gateway_Chassis", "name="+port+"_"+chassis, "chassis_name="+chassis,
			fmt.Sprintf("priority=%d", len(candidates)-i), "--", "add", "Logical_Router_Port", row, "gateway_chassis", fmt.Sprintf("@%s%d", port, i))
	}
	n.want(port, candidates...)
	return args
}

// some are a few of the chassis, in any order.
func (n *neutron) some() []string {
	all := []string{"c1", "c2", "c3", "c4"}
	n.rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:1+n.rand.IntN(3)]
}

// port is any that there is.
func (n *neutron) port() string {
	var all []string
	for port := range n.masters {
		all = append(all, port)
	}
	slices.Sort(all)
	return all[n.rand.IntN(len(all))]
}

// act changes something.
func (n *neutron) act() {
	switch port := n.port(); {
	case n.rand.IntN(4) > 0 || len(n.masters) < 3:
		n.nbctl(n.setCandidates(port, n.some()...)...)
	case n.rand.IntN(3) == 0:
		n.remove(port)
	case n.rand.IntN(2) == 0: // the same port has another name, and with it its candidates
		n.next++
		name, row := fmt.Sprintf("lrp-m%d", n.next), n.nbctl("get", "Logical_Router_Port", port, "_uuid")
		n.nbctl(append([]string{
			"set", "Logical_Router_Port", row, "name=" + name, "--", "lsp-set-options", n.madeAs(port) + "-sw", "router-port=" + name, "--",
		}, n.setCandidatesOf(row, name, n.some()...)...)...)
		n.made[name] = n.madeAs(port)
		n.forget(port)
	default: // another port takes its place
		n.remove(port)
		n.next++
		name, candidates := fmt.Sprintf("lrp-n%d", n.next), n.some()
		n.nbctl(n.gateway("physnet1", name, candidates...)...)
		n.want(name, candidates...)
	}
}

func (n *neutron) remove(port string) {
	made := n.madeAs(port)
	n.nbctl("lrp-del", port, "--", "lr-del", "r-"+made, "--", "lsp-del", made+"-sw")
	n.forget(port)
}

// forget is for a port that is gone.
func (n *neutron) forget(port string) {
	delete(n.masters, port)
	delete(n.lists, port)
}

func (n *neutron) madeAs(port string) string {
	if made, renamed := n.made[port]; renamed {
		return made
	}
	return port
}

// Other clients write meanwhile: their last write stays, or the next plan was made
// from it; nothing is left over; and in the end every gateway has all candidates.
func TestReschedule_keeps_concurrent_Neutron_writes(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3", "c4")
	c.addNetwork("physnet1")
	n := &neutron{cloud: c, rand: rand.New(rand.NewPCG(1, 1)), masters: map[string]string{}, made: map[string]string{}}
	for _, port := range c.addGateways(6, "c1", "c2") {
		n.masters[port] = "c1"
	}
	s := c.service()
	acted := 0
	for acted < interleavings*exploretest.Factor(t) {
		n.nbctl(n.setCandidates(n.port(), n.some()...)...) // so that there is something to do
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
		require.NoError(t, err) // what it has written since the last plan
		n.check(plans)
	}
}

// check compares the rows with what Neutron has written last.
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
		assert.Equal(n.t, "4 "+n.masters[port], list[0], "%s: whom Neutron wanted", port)
		for i, entry := range list {
			assert.True(n.t, strings.HasPrefix(entry, fmt.Sprintf("%d c", 4-i)), "%s: %v", port, list)
		}
	}
}
