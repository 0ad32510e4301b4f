package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// order returns a group's candidates, best first.
func order(s schedule.State, group string) []string { return groupOf(s, group).Ranked() }

// drained returns the state after a chassis was cordoned and drained, the changes, and the plan.
func drained(s schedule.State, name string) (schedule.State, []schedule.AppliedChange, schedule.Plan) {
	s = s.WithCordon(name, true)
	p := schedule.Drain(s, name, nil)
	return applied(s, p), taken(p), p
}

// hostOf returns the first candidate that is not dead: it hosts the group.
func hostOf(g schedule.Group, dead map[string]bool) string {
	for _, name := range g.Ranked() {
		if !dead[name] {
			return name
		}
	}
	return ""
}

// A drain changes each gateway once. Each gateway that the chassis hosts moves once, to a chassis that lives and is not
// cordoned; no other gateway moves; and each move counts as an interruption. A gateway that is hosted by a backup,
// because a chassis is dead, stays there.
func TestDrain_moves_each_gateway_once(t *testing.T) {
	t.Parallel()
	moved := 0
	for seed := range uint64(600 * exploretest.Factor(t)) {
		r := rand.New(rand.NewPCG(seed, 10))
		s, dead := lamed(r, either(r)), map[string]bool{}
		for _, c := range s.Chassis {
			dead[c.Name] = c.Unresponsive && r.IntN(2) == 0
		}
		for i, g := range s.Groups {
			s.Groups[i] = bind(g, hostOf(g, dead))
		}
		after, _, p := drained(s, "c0")
		changes, interrupted, stays := map[string]int{}, map[string]bool{}, subjects(p.Blocked)
		for _, c := range p.Changes {
			changes[c.Group]++
			interrupted[c.Group] = c.Interrupts
		}
		for i, g := range s.Groups {
			at := fmt.Sprintf("seed %d: %s: %+v\n%s", seed, g.Name, s, document.Plan(p))
			require.LessOrEqual(t, changes[g.Name], 1, at)
			from, to := hostOf(g, dead), hostOf(after.Groups[i], dead)
			moves := from == "c0" && !stays[g.Name]
			require.Equal(t, moves, interrupted[g.Name], at)
			if !moves {
				require.True(t, from == "" || from == to, at)
				continue
			}
			moved++
			c := byName(after)[to]
			require.True(t, to != "c0" && mayHost(c, g) && !c.Cordoned && !c.Unresponsive, "%s goes to %s", at, to)
		}
	}
	assert.Greater(t, moved, 500)
}

// A candidate that may not host a gateway does not take it over in a drain while another chassis may. If it hosts the
// gateway now, it keeps it.
func TestDrain_invalid_candidate_takes_nothing_over(t *testing.T) {
	t.Parallel()
	g := bind(hosted(1, "c1", "c2"), "c1")
	g.Zones = []string{"az1"}
	s := schedule.State{Chassis: pool(g.Ports[0].Network, "c1", "c2", "c3"), Groups: []schedule.Group{g}}
	for i, zone := range []string{"az1", "az2", "az1"} {
		s.Chassis[i].Zones = []string{zone}
	}
	after, _, p := drained(s, "c1")
	assert.Equal(t, []string{"c3", "c2", "c1"}, order(after, g.Name))
	assert.Equal(t, 1, p.Cost.Interruptions)

	s.Groups[0] = bind(hosted(1, "c2", "c1"), "c2")
	s.Groups[0].Zones = g.Zones
	after, _, p = drained(s, "c1")
	assert.Equal(t, "c2", order(after, g.Name)[0])
	assert.Zero(t, p.Cost.Interruptions)
}

// While ovn-controllers claim the ports of a group one after the other, each port that moves counts.
func TestDrain_port_on_other_chassis_hides_no_interruption(t *testing.T) {
	t.Parallel()
	g := bind(hosted(1, "c1", "c2"), "c1")
	other := g.Ports[0]
	other.Name, other.Active = "other", "c2"
	g.Ports, g.Storage = append(g.Ports, other), schedule.HAChassisGroup
	s := schedule.State{Chassis: pool(g.Ports[0].Network, "c1", "c2"), Groups: []schedule.Group{g}}
	_, _, p := drained(s, "c1")
	assert.Equal(t, 1, p.Cost.Interruptions)
	_, _, p = drained(s, "c2")
	assert.Zero(t, p.Cost.Gateways)
}

// External ports go in a drain where the gateway without a provider network goes that they follow.
func TestDrain_external_ports_follow_gateway_without_network(t *testing.T) {
	t.Parallel()
	lead := bind(hosted(1, "c1", "c3", "c2"), "c1")
	network := lead.Ports[0].Network
	lead.Ports[0].Network = ""
	ports := bind(hosted(2, "c1", "c2", "c3"), "c1")
	ports.Kind, ports.Follows, ports.Storage = schedule.ExternalPorts, lead.Name, schedule.HAChassisGroup
	ports.Ports[0].External = true
	s := schedule.State{Chassis: pool(network, "c1", "c2", "c3"), Groups: []schedule.Group{lead, ports}}
	after, _, p := drained(s, "c1")
	assert.Equal(t, []string{"c3", "c2", "c1"}, order(after, lead.Name))
	assert.Equal(t, "c3", order(after, ports.Name)[0])
	assert.Empty(t, p.Blocked)

	for i := range s.Chassis[1:] {
		s.Chassis[1+i].Unresponsive = true
	}
	_, _, p = drained(s, "c1")
	assert.Len(t, subjects(p.Blocked), 2)
}

// Two drains at the same time do not put the two nodes behind each other for ever.
func TestDrain_two_at_once_end(t *testing.T) {
	t.Parallel()
	written := 0
	for seed := range uint64(600) {
		s := small(rand.New(rand.NewPCG(seed, 16))).WithCordon("c0", true).WithCordon("c1", true)
		was := map[string][]schedule.AppliedChange{}
		for round, quiet := 0, false; !quiet; round++ {
			require.Less(t, round, 4, "seed %d: %+v", seed, s)
			quiet = true
			for _, name := range []string{"c0", "c1"} {
				p := schedule.Drain(s, name, was[name])
				quiet, written = quiet && p.Empty(), written+len(p.Changes)
				was[name] = append(was[name], taken(p)...)
				s = applied(s, p)
			}
		}
	}
	require.Greater(t, written, 500, "there was something to do")
}

// A gateway that was moved to a chassis that no longer responds moves on if it waits for that chassis, or if this drain
// moved it: the chassis may have died before it had set the flows. A gateway that worked there before, or that another
// client put there, stays.
func TestDrain_new_host_unresponsive(t *testing.T) {
	t.Parallel()
	base, moved := []string{"c1", "c2", "c3"}, hosted(0, "c2", "c3", "c1")
	for name, test := range map[string]struct {
		active       string
		before, last []string // the changes of this drain; none if no drain is recorded
		first        string
		reason       string
	}{
		"moved by this drain":         {"c2", base, moved.Ranked(), "c3", ": ovn-controller on c2 "},
		"bound nowhere":               {"", nil, nil, "c3", ": ovn-controller on c2 "},
		"it worked there before":      {"c2", []string{"c2", "c1", "c3"}, moved.Ranked(), "c2", ""},
		"another client put it there": {"c2", base, []string{"c3", "c2", "c1"}, "c2", ""},
		"it works elsewhere":          {"c3", base, moved.Ranked(), "c2", ""},
		"no drain is recorded":        {"c2", nil, nil, "c2", ""},
	} {
		was := func(last []string) []schedule.AppliedChange {
			return []schedule.AppliedChange{{Group: moved.Name, Before: candidates(test.before...), After: candidates(last...)}}
		}
		s := schedule.State{
			Chassis: pool("provnet1", base...),
			Groups:  []schedule.Group{bind(moved, test.active), bind(hosted(1, "c3", "c2"), "c3")},
		}
		s.Chassis[1].Unresponsive = true
		p := schedule.Drain(s, "c1", was(test.last))
		after := applied(s, p)
		assert.Equal(t, test.first, order(after, moved.Name)[0], name)
		assert.Equal(t, test.reason == "", p.Empty(), name)
		assert.Contains(t, document.Plan(p), test.reason, name)
		if test.reason != "" {
			after.Groups[0] = bind(after.Groups[0], test.first)
			assert.True(t, schedule.Drain(after, "c1", was(order(after, moved.Name))).Empty(), name)
		}
	}
}

// Gateways that have left do not block a drain, even if their new chassis is cordoned. A gateway that comes back does.
func TestDrain_new_host_cordoned(t *testing.T) {
	t.Parallel()
	s := schedule.State{
		Chassis: pool("provnet1", "c0", "c1"),
		Groups:  []schedule.Group{bind(hosted(0, "c0", "c1"), "c0"), bind(hosted(1, "c0", "c1"), "c0")},
	}
	s.Groups[1].Kind, s.Groups[1].Ports[0].External = schedule.ExternalPorts, true
	moved, ranks, _ := drained(s, "c0")
	for name, test := range map[string]struct {
		change  func(*schedule.State)
		was     []schedule.AppliedChange
		blocked int
	}{
		"cordoned":            {func(*schedule.State) {}, ranks, 0},
		"it does not respond": {func(s *schedule.State) { s.Chassis[1].Unresponsive = true }, ranks, 2},
		"one has come back":   {func(s *schedule.State) { s.Groups[0].Ports[0].Active = "c0" }, ranks, 1},
		"one is not bound":    {func(s *schedule.State) { s.Groups[1].Ports[0].Active = "" }, ranks, 1},
		"its router is disabled": {func(s *schedule.State) {
			s.Groups[1].Ports[0].Active, s.Groups[1].Ports[0].Disabled = "", true
		}, ranks, 0},
		"the node is first again":   {func(n *schedule.State) { n.Groups[0].Candidates = s.Groups[0].Candidates }, ranks, 1},
		"its drain begins only now": {func(*schedule.State) {}, nil, 2},
	} {
		now := moved.WithCordon("c1", true)
		now.Groups = []schedule.Group{bind(moved.Groups[0], "c1"), bind(moved.Groups[1], "c1")}
		test.change(&now)
		p := schedule.Drain(now, "c0", test.was)
		assert.Len(t, p.Blocked, test.blocked, "%s: %v", name, p.Blocked)
		assert.Empty(t, p.Changes, name)
	}
}

// R12, on states with irregularities.
func TestR12_drain_keeps_living_chassis(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, s schedule.State) {
		s = s.WithCordon("c0", true)
		chassis := byName(s)
		p := schedule.Drain(s, "c0", nil)
		after, blocked := applied(s, p), subjects(p.Blocked)
		for i, g := range s.Groups {
			names, to := g.Ranked(), after.Groups[i].Ranked()
			if !slices.Contains(names, "c0") || blocked[g.Name] {
				assert.Equal(t, g.Candidates, after.Groups[i].Candidates, "%s is not touched", g.Name)
				continue
			}
			assert.Equal(t, "c0", to[len(to)-1], g.Name)
			assert.True(t, slices.ContainsFunc(to, func(name string) bool {
				c := chassis[name]
				return c.Name != "" && !c.Cordoned && !c.Unresponsive && !c.Remote
			}), "%s: %v", g.Name, to)
			if len(names) < schedule.MaxCandidates {
				assert.Subset(t, to, names, "%s: no row is deleted", g.Name)
			}
		}
		assert.True(t, schedule.Drain(after, "c0", nil).Empty(), "it is idempotent")
		assert.Equal(t, p, schedule.Drain(s, "c0", nil), "it is deterministic")
	})
}

// 001-2: gateways that a cordoned chassis has come to host since it was cordoned leave it, and the chassis becomes
// their last candidate. Other gateways are left alone.
func TestDemote(t *testing.T) {
	t.Parallel()
	one := func(name string, chassis ...string) schedule.Group {
		g := bind(hosted(0, chassis...), chassis[0])
		g.Name = name
		return g
	}
	external := func(name, follows string) schedule.Group {
		g := one(name, "c1", "c2", "c3")
		g.Kind, g.Follows, g.Ports = schedule.ExternalPorts, follows, []schedule.Port{{Name: "bm-" + name, External: true}}
		return g
	}
	s := schedule.State{Chassis: pool("provnet1", "c1", "c2", "c3"), Groups: []schedule.Group{
		one("stays", "c1", "c2", "c3"), one("came", "c1", "c2", "c3"), one("came-2", "c1", "c2", "c3"),
		one("came-3", "c1", "c2", "c3"), one("backup", "c2", "c1", "c3"),
		external("with-stays", "stays"), external("with-came", "came"),
	}}.WithCordon("c1", true)
	p := schedule.Demote(s, "c1", []string{"stays", "with-stays-not-known", "gone"})
	require.Len(t, p.Changes, 4, document.Plan(p))
	after, load := applied(s, p), map[string]int{}
	for _, name := range []string{"came", "came-2", "came-3"} {
		assert.Equal(t, "c1", order(after, name)[2], name)
		load[order(after, name)[0]]++
	}
	assert.Equal(t, order(after, "came"), order(after, "with-came"), "external ports go with their router")
	assert.Equal(t, map[string]int{"c2": 1, "c3": 2}, load, "evenly, with what c2 has")
	assert.Equal(t, schedule.OperationDemote, p.Operation)
	assert.Empty(t, p.Chassis, "nothing is put back by an undrain")
	assert.True(t, schedule.Demote(after, "c1", []string{"stays"}).Empty(), "once")

	for i := range s.Chassis {
		s.Chassis[i].Unresponsive = true
	}
	p = schedule.Demote(schedule.State{Chassis: s.Chassis, Groups: s.Groups[1:2]}, "c1", nil)
	assert.True(t, p.Empty(), "R12: no other one could host it")
	assert.Len(t, p.Blocked, 1)
}

// Gateways without a provider network, and external ports, also leave.
func TestDrain_unplanned_groups(t *testing.T) {
	t.Parallel()
	external := func(name string, follows string, names ...string) schedule.Group {
		g := hosted(0, names...)
		g.Name, g.Follows, g.Kind = name, follows, schedule.ExternalPorts
		g.Ports = []schedule.Port{{Name: name + "-port", Active: names[0], External: true}}
		return g
	}
	lead := hosted(1, "c1", "c2", "c3")
	tunnelled := hosted(2, "c1", "c3")
	tunnelled.Ports[0].Network = ""
	s := schedule.State{Chassis: pool("provnet1", "c1", "c2", "c3"), Groups: []schedule.Group{
		lead, tunnelled, external("x-follows", lead.Name, "c1", "c2", "c3"),
		external("x-alone", "", "c1", "c2"), external("x-stuck", "", "c1", "c9"),
	}}
	after, _, p := drained(s, "c1")
	assert.Equal(t, order(after, lead.Name)[0], order(after, "x-follows")[0], "external ports go where the gateway goes")
	for _, name := range []string{lead.Name, tunnelled.Name, "x-follows", "x-alone"} {
		o := order(after, name)
		assert.Equal(t, "c1", o[len(o)-1], name)
	}
	assert.Equal(t, []string{"error GATEWAY_STAYS x-stuck Reasons=NO_CANDIDATE_ALIVE"}, findingtest.All(p.Blocked))
	assert.Contains(t, document.Plan(p), "x-stuck")
	assert.Equal(t, map[string][]string{"c1": {"x-stuck"}}, schedule.Dependent(s))
}

func TestClear_keeps_living_candidate(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, s schedule.State) {
		s = s.WithCordon("c0", true)
		p := schedule.Clear(s, "c0")
		after, blocked := applied(s, p), subjects(p.Blocked)
		for i, g := range s.Groups {
			if names := after.Groups[i].Ranked(); blocked[g.Name] {
				assert.Equal(t, g.Candidates, after.Groups[i].Candidates)
			} else {
				assert.NotContains(t, names, "c0")
				assert.Equal(t, len(g.Candidates) > 0, len(names) > 0)
			}
		}
		assert.Zero(t, p.Moves())
		assert.True(t, schedule.Clear(after, "c0").Empty())
	})
}
