package gateways

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// drainInterleavings is how often Neutron writes between what a drain, or an undrain, has read and what it
// writes; so many times as many where more is explored.
const drainInterleavings = 100

// Neutron writes between the steps of a drain, and between what a step has read and what it writes, right
// before the database has that: whatever it writes, in the end no gateway is first on the node that is drained,
// no candidate that Neutron gave is gone, and what it put first elsewhere is first. Undrain, where it does
// the same, undoes nothing of it but that the node may get a better rank.
func TestDrain_beside_Neutron_writes(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3", "c4")
	c.addNetwork("physnet1")
	n := &neutron{cloud: c, rand: rand.New(rand.NewPCG(2, 2)), masters: map[string]string{}, made: map[string]string{}}
	for _, port := range c.addGateways(6, "c1", "c2", "c3") {
		n.want(port, "c1", "c2", "c3")
	}
	acted, left := 0, 0
	r := &relay{before: func(int) fate {
		if left > 0 {
			left--
			acted++
			n.act()
		}
		return passes
	}}
	s := c.nodeService()
	nb, sb := c.relayTo(t, r)
	s.Gateways.NB, s.Gateways.SB = []string{nb}, []string{sb}
	for acted < drainInterleavings*exploretest.Factor(t) {
		require.Equal(t, 200, s.Drain(t.Context(),
			node.Request{Node: "c1", Confirmed: true, Limits: maintenance.Limits{Timeout: time.Minute}}).Code)
		for range 25 {
			n.nbctl(n.setCandidates(n.port(), "c1", []string{"c2", "c3", "c4"}[n.rand.IntN(3)])...) // so that there is something to do
			left = 1 + n.rand.IntN(3)
			_, _, err := s.Effects("c1", nil).Move(t.Context())
			require.NoError(t, err)
			left = 0
			p, _, err := s.Effects("c1", nil).Move(t.Context()) // what it has written since the last read
			require.NoError(t, err)
			require.Zero(t, p.Left)
			require.Empty(t, p.Blocked)
			n.checkDrained("c1")
		}
		left = 2
		require.Equal(t, 200, s.Undrain(t.Context(), node.Request{Node: "c1", Confirmed: true}).Code)
		left = 0
		n.checkPutBack("c1")
	}
	t.Logf("%d interleavings", acted)
}

// candidateLists are those of all ports, best first.
func (n *neutron) candidateLists() map[string][]string {
	n.t.Helper()
	rows := strings.Split(n.nbctl("--bare", "--no-headings", "--format=csv", "--columns=priority,name,chassis_name", "list", "Gateway_Chassis"), "\n")
	slices.Sort(rows) // there are fewer than ten
	lists := map[string][]string{}
	for _, row := range slices.Backward(rows) {
		fields := strings.Split(row, ",")
		require.Len(n.t, fields, 3, row)
		port := strings.TrimSuffix(fields[1], "_"+fields[2])
		lists[port] = append(lists[port], fields[2])
	}
	require.Len(n.t, lists, len(n.lists), "rows of a port that is gone, or a port without any")
	return lists
}

// checkDrained compares the rows with what Neutron has written last, while a chassis is drained.
func (n *neutron) checkDrained(chassis string) {
	n.t.Helper()
	for port, list := range n.candidateLists() {
		wanted := n.lists[port]
		require.NotEqual(n.t, chassis, list[0], "%s: %v", port, wanted)
		if wanted[0] != chassis {
			require.Equal(n.t, wanted[0], list[0], "%s: %v", port, wanted)
		}
		for _, name := range wanted {
			require.Contains(n.t, list, name, "%s: %v", port, wanted)
		}
		if at := slices.Index(list, chassis); at >= 0 {
			require.Equal(n.t, len(list)-1, at, "%s: %v", port, list)
		}
	}
}

// checkPutBack compares the rows with Neutron's last writes, when the chassis is undrained: the chassis
// may rank before others that it ranked before when it was drained. A list that Neutron wrote exactly as the drain
// had left it is not known to be Neutron's: then the list that it wanted before counts.
func (n *neutron) checkPutBack(chassis string) {
	n.t.Helper()
	others := func(list []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return name == chassis })
	}
	for port, list := range n.candidateLists() {
		wanted := n.lists[port]
		if wanted[len(wanted)-1] == chassis && slices.ContainsFunc(n.earlier[port], func(e []string) bool { return slices.Equal(e, list) }) {
			continue
		}
		require.Equal(n.t, others(wanted), others(list), "%s: %v, wanted %v", port, list, wanted)
		require.LessOrEqual(n.t, slices.Index(list, chassis), slices.Index(wanted, chassis), "%s: %v, wanted %v", port, list, wanted)
	}
}
