package gateway_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
)

// Several gateways of one router share a list of candidates: they are hosted only where
// all their networks are, and move together.
func TestGatewaysOfOneRouterMoveTogether(t *testing.T) {
	t.Parallel()
	s := gateway.State{
		Chassis: []gateway.Chassis{chassis("c1", "provnet1", "provnet2"), chassis("c2", "provnet1", "provnet2"), chassis("c3", "provnet1")},
		Groups:  append(many(0, 3, "c1", "c2"), many(3, 1, "c2", "c1")...),
	}
	s.Groups = append(s.Groups, gateway.Group{
		Name: "neutron-r9", Storage: gateway.HAChassisGroup,
		Ports:      []gateway.Port{{Name: "lrp-a", Router: "r9", Network: "provnet1"}, {Name: "lrp-b", Router: "r9", Network: "provnet2"}},
		Candidates: []gateway.Candidate{{Chassis: "c1", Priority: 2}, {Chassis: "c2", Priority: 1}},
	})
	p := gateway.Reschedule(s, gateway.Options{})
	for _, c := range p.Changes {
		assert.NotEqual(t, "neutron-r9", c.Group, "c3 is not connected to provnet2")
	}
	s.Groups = append(many(0, 2, "c1"), s.Groups[4]) // nothing else can move
	p = gateway.Rebalance(s, gateway.Options{})
	require.Len(t, p.Changes, 1)
	assert.Equal(t, "neutron-r9", p.Changes[0].Group)
	assert.Equal(t, 1, p.Moves())
	assert.Equal(t, map[string]int{"c1": 2, "c2": 2, "c3": 0}, masters(applied(s, p)), "of both networks")
}

// An external port works only where its router's gateway is: its group follows.
func TestGroupOfExternalPortsFollowsItsRouter(t *testing.T) {
	t.Parallel()
	follower := func(follows string, candidates ...gateway.Candidate) gateway.Group {
		return gateway.Group{Name: "extport", Storage: gateway.HAChassisGroup, Follows: follows, Ports: []gateway.Port{{Name: "vm"}}, Candidates: candidates}
	}
	base := two(4, 0)
	for name, x := range map[string]struct {
		group gateway.Group
		want  []gateway.Candidate
	}{
		"a candidate already": {
			follower("lrp-provnet1-0000", gateway.Candidate{Chassis: "c2", Priority: 2}, gateway.Candidate{Chassis: "c1", Priority: 1}),
			[]gateway.Candidate{{Chassis: "c1", Priority: 2}, {Chassis: "c2", Priority: 1}},
		},
		"no candidate yet": {
			follower("lrp-provnet1-0000", gateway.Candidate{Chassis: "c2", Priority: 1}),
			[]gateway.Candidate{{Chassis: "c1", Priority: 2}, {Chassis: "c2", Priority: 1}},
		},
		"first already": {follower("lrp-provnet1-0000", gateway.Candidate{Chassis: "c1", Priority: 1}), nil},
	} {
		s := gateway.State{Chassis: base.Chassis, Groups: append([]gateway.Group{x.group}, base.Groups...)}
		p := gateway.Reschedule(s, gateway.Options{})
		if x.want == nil {
			assert.True(t, p.Empty(), name)
			continue
		}
		require.Len(t, p.Changes, 1, name)
		assert.Equal(t, x.want, p.Changes[0].After, name)
	}
	s := gateway.State{Chassis: base.Chassis, Groups: append(base.Groups, follower("lrp-gone"))}
	assert.Equal(t, []gateway.Problem{{Where: "extport", Text: "it belongs to external ports, and their router's gateway lrp-gone is not known"}},
		gateway.Reschedule(s, gateway.Options{}).Problems)

	// In a rebalancing it moves with its router.
	s = gateway.State{Chassis: base.Chassis, Groups: append(base.Groups, follower("lrp-provnet1-0000", gateway.Candidate{Chassis: "c1", Priority: 9}))}
	after := applied(s, gateway.Rebalance(s, gateway.Options{}))
	assert.Equal(t, top(after.Groups[0].Candidates), top(after.Groups[4].Candidates))
}

func TestChassisThatIsSilentOrCordonedIsGivenNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*gateway.Chassis){
		"silent": func(c *gateway.Chassis) { c.Silent = true }, "cordoned": func(c *gateway.Chassis) { c.Cordoned = true },
	} {
		s := two(6, 0)
		change(&s.Chassis[1])
		assert.True(t, gateway.Rebalance(s, gateway.Options{}).Empty(), name)
		assert.True(t, gateway.Reschedule(s, gateway.Options{}).Empty(), "%s: what it has, it keeps", name)
		s = two(0, 6)
		change(&s.Chassis[1])
		assert.Equal(t, 3, gateway.Rebalance(s, gateway.Options{}).Moves(), "%s: what it hosts may go", name)
	}
}

func TestRandomSchedulerIsRepeatable(t *testing.T) {
	t.Parallel()
	s := wide(rand.New(rand.NewPCG(4, 4)))
	with := func(seed uint64) gateway.Plan {
		return gateway.Reschedule(s, options(gateway.Random, seed))
	}
	again := with(1)
	assert.Equal(t, again, with(1))
	assert.NotEqual(t, with(1), with(2))
}

func TestPlanOfSomeNetworksLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	s := wide(rand.New(rand.NewPCG(5, 5)))
	ofOne := options(gateway.Random, 1)
	ofOne.Networks = []string{"provnet2"}
	for _, p := range []gateway.Plan{
		gateway.Reschedule(s, gateway.Options{Networks: []string{"provnet2"}}),
		gateway.Reschedule(s, ofOne),
	} {
		require.NotEmpty(t, p.Changes)
		for _, c := range p.Changes {
			assert.Equal(t, "provnet2", c.Ports[0].Network)
		}
		require.Len(t, p.After, 1)
	}
}

func TestPrioritiesOfUnknownOriginAreKeptWhereTheyCanBe(t *testing.T) {
	t.Parallel()
	chassisThree := []gateway.Chassis{chassis("c1", "provnet1"), chassis("c2", "provnet1"), chassis("c3", "provnet1")}
	group := func(candidates ...gateway.Candidate) gateway.State {
		g := hosted(0)
		g.Candidates = candidates
		return gateway.State{Chassis: chassisThree, Groups: []gateway.Group{g}}
	}
	c := func(name string, priority int) gateway.Candidate {
		return gateway.Candidate{Chassis: name, Priority: priority}
	}
	for name, x := range map[string]struct {
		state gateway.State
		want  []gateway.Candidate
	}{
		"room below":    {group(c("c1", 100), c("c2", 50)), []gateway.Candidate{c("c1", 100), c("c2", 50), c("c3", 49)}},
		"no room below": {group(c("c1", 100), c("c2", 0)), []gateway.Candidate{c("c1", 3), c("c2", 2), c("c3", 1)}},
		"one has gone":  {group(c("c9", 100), c("c1", 70), c("c2", 50), c("c3", 20)), []gateway.Candidate{c("c1", 70), c("c2", 50), c("c3", 20)}},
	} {
		p := gateway.Reschedule(x.state, gateway.Options{})
		require.Len(t, p.Changes, 1, name)
		after := p.Changes[0].After
		if name != "one has gone" { // who is first backup is free to choose
			after[1].Chassis, after[2].Chassis = x.want[1].Chassis, x.want[2].Chassis
		}
		assert.Equal(t, x.want, after, name)
	}
}
