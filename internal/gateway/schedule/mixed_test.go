package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// mixedCloud returns a cloud of several clients: owners, marks, sets of networks, pinned routers and external ports.
// Some are bound as OVN would bind them, some elsewhere, and some not at all.
func mixedCloud(r *rand.Rand) schedule.State {
	one := func(n int) bool { return r.IntN(n) == 0 }
	var s schedule.State
	networks := []string{"p0", "p1", "p2", "old"}
	marks, names := r.IntN(3), []string{"gone"} // marks of no chassis, of some, or of all
	for i := range 2 + r.IntN(6) {
		c := schedule.Chassis{
			Name: fmt.Sprintf("c%d", i), Gateway: marks == 2 || marks == 1 && one(2), External: marks > 0 && one(4),
			Remote: one(12), Unresponsive: one(8), Cordoned: one(10),
		}
		for _, n := range networks[:3] {
			if !one(3) {
				c.Networks = append(c.Networks, n)
			}
		}
		if one(2) {
			c.Zones = []string{"az0"}
		}
		s.Chassis, names = append(s.Chassis, c), append(names, c.Name)
	}
	for i := range 1 + r.IntN(12) {
		g := schedule.Group{Name: fmt.Sprintf("g%02d", i), Owner: schedule.Owner(r.IntN(3)), Storage: schedule.HAChassisGroup}
		if i > 0 && one(3) {
			g.Kind = []schedule.Kind{schedule.ExternalPorts, schedule.OneExternalPort, schedule.RoutedExternalPorts}[r.IntN(3)]
			if one(2) {
				g.Follows = fmt.Sprintf("g%02d", r.IntN(i))
			}
		}
		for p := range 1 + r.IntN(6)/5 {
			some := slices.Clone(networks)
			r.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
			network := schedule.JoinNetworks(some[:1+r.IntN(8)/7])
			if one(12) {
				network = ""
			}
			g.Ports = append(g.Ports, schedule.Port{
				Name: fmt.Sprintf("%s-%d", g.Name, p), Router: fmt.Sprint("r", i/3), Network: network,
				External: g.Kind != schedule.RouterPorts, Disabled: g.Kind == schedule.RouterPorts && one(15),
			})
		}
		if g.Kind == schedule.RouterPorts && one(6) { // an external port shares the group
			g.Ports = append(g.Ports, schedule.Port{Name: g.Name + "-x", Network: networks[r.IntN(3)], External: true})
		}
		if one(5) {
			g.Zones = []string{"az0"}
		}
		for k, n := range r.Perm(len(names))[:r.IntN(len(names)+1)] {
			g.Candidates = append(g.Candidates, schedule.Candidate{Chassis: names[n], Priority: 9 - k})
		}
		if len(g.Candidates) > 0 && one(6) { // a chassis is listed twice, with its own priority or another candidate's
			twice := g.Candidates[r.IntN(len(g.Candidates))]
			twice.Priority = r.IntN(12)
			g.Candidates = append(g.Candidates, twice)
		}
		anywhere := s.Chassis[r.IntN(len(s.Chassis))].Name
		s.Groups = append(s.Groups, bind(g, []string{claimant(s, g), claimant(s, g), anywhere, ""}[r.IntN(4)]))
	}
	for i := range r.IntN(3) {
		s.Pinned = append(s.Pinned, schedule.Pinned{
			Name: fmt.Sprintf("pin%d", i), Kind: schedule.PinnedRouter, Chassis: names[r.IntN(len(names))],
			Ports: []string{fmt.Sprintf("pin%d-0", i)}, Networks: []string{networks[r.IntN(3)]},
		})
	}
	return s
}

// claimant returns the chassis that claims a group in OVN: the best that responds, whatever its networks.
func claimant(s schedule.State, g schedule.Group) string {
	chassis := byName(s)
	for _, name := range g.Ranked() {
		if c := chassis[name]; c.Name != "" && !c.Unresponsive && !c.Remote {
			return name
		}
	}
	return ""
}

func bind(g schedule.Group, chassis string) schedule.Group {
	g.Ports = slices.Clone(g.Ports)
	for i, p := range g.Ports {
		if !p.Disabled {
			g.Ports[i].Active = chassis
		}
	}
	return g
}

// reaches reports whether a chassis has what every port of the group needs (ovn-architecture(7)).
func reaches(c schedule.Chassis, g schedule.Group) bool {
	return !slices.ContainsFunc(g.Ports, func(p schedule.Port) bool {
		return p.Network != "" && !slices.ContainsFunc(strings.Split(p.Network, ","),
			func(n string) bool { return slices.Contains(c.Networks, n) })
	})
}

// works reports whether the group is bound to a chassis that responds and has its networks.
func works(s schedule.State, g schedule.Group) bool {
	c := byName(s)[g.Ports[0].Active]
	return c.Name != "" && !c.Unresponsive && !c.Remote && reaches(c, g)
}

// rebind binds every group as OVN would.
func rebind(s schedule.State) schedule.State {
	s.Groups = slices.Clone(s.Groups)
	for i, g := range s.Groups {
		s.Groups[i] = bind(g, claimant(s, g))
	}
	return s
}

func groupOf(s schedule.State, name string) schedule.Group {
	return s.Groups[slices.IndexFunc(s.Groups, func(g schedule.Group) bool { return g.Name == name })]
}

// once returns the names without repetitions.
func once(names []string) (all []string) {
	for _, n := range names {
		if !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

func subjects(findings []finding.Finding) map[string]bool {
	all := map[string]bool{}
	for _, f := range findings {
		all[f.Subject.Name] = true
	}
	return all
}

func TestMixedCloud(t *testing.T) {
	for name, property := range map[string]func(t *testing.T, s schedule.State){
		"bound_to_responding_chassis_is_hosted": hostedIsBoundToARespondingChassis,
		"working_gateways_keep_their_network":   keepsNetworks,
		"interruptions_are_counted":             countsInterruptions,
		"drain_keeps_its_promise":               drainKeepsItsPromise,
		"second_run_finds_nothing":              secondRunFindsNothing,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(3 * instances * exploretest.Factor(t)) {
				s := mixedCloud(rand.New(rand.NewPCG(seed, 3737)))
				property(t, s)
				if t.Failed() {
					t.Fatalf("seed %d: %+v", seed, s)
				}
			}
		})
	}
}

// eachPlan makes a plan of each kind. It calls check for each group that works where OVN wants it, with the state
// before the plan, the change, and the chassis that claims the group afterwards.
func eachPlan(s schedule.State, check func(before schedule.State, p schedule.Plan, c schedule.Change, to string)) {
	plan := func(before schedule.State, p schedule.Plan) {
		for _, c := range p.Changes {
			g := groupOf(before, c.Group)
			if works(before, g) && claimant(before, g) == g.Ports[0].Active {
				g.Candidates = c.After
				check(before, p, c, claimant(before, g))
			}
		}
	}
	plan(s, schedule.Reschedule(s, options(schedule.LeastLoaded, 1)))
	plan(s, schedule.Reschedule(s, options(schedule.Random, 1)))
	plan(s, schedule.Rebalance(s, schedule.Options{}))
	plan(s, schedule.Rebalance(s, schedule.Options{AllowNewCandidates: true}))
	plan(s, schedule.Demote(s, "c0", nil))
	shut := s.WithCordon("c0", true)
	plan(shut, schedule.Clear(shut, "c0"))
	after, ranks, p := drained(s, "c0")
	plan(shut, p)
	back := rebind(after).WithCordon("c0", false)
	plan(back, schedule.Undrain(back, "c0", ranks))
	for i, c := range back.Chassis { // meanwhile it loses a network
		if c.Name == "c0" {
			back.Chassis[i].Networks = c.Networks[min(1, len(c.Networks)):]
		}
	}
	plan(back, schedule.Undrain(back, "c0", ranks))
}

// No plan moves a working gateway to a chassis that lacks its network.
func keepsNetworks(t *testing.T, s schedule.State) {
	eachPlan(s, func(before schedule.State, p schedule.Plan, c schedule.Change, to string) {
		assert.True(t, to != "" && reaches(byName(before)[to], groupOf(before, c.Group)), "%s: %s goes from %s to %q: %v",
			p.Operation, c.Group, c.Ports[0].Active, to, c.After)
		followed := func(name string) bool { // whether a chassis serves the external ports that work with the gateway
			return !slices.ContainsFunc(before.Groups, func(g schedule.Group) bool {
				return g.Follows == c.Group && g.Ports[0].Active == c.Ports[0].Active && !reaches(byName(before)[name], g)
			})
		}
		if p.Operation == "rebalance" && c.Interrupts && followed(c.Ports[0].Active) {
			assert.True(t, followed(to), "%s leaves its external ports: %s to %s", c.Group, c.Ports[0].Active, to)
		}
	})
}

// A plan interrupts exactly the working gateways that OVN would move after it.
func countsInterruptions(t *testing.T, s schedule.State) {
	s.Chassis[0].Remote = false
	eachPlan(rebind(s), func(before schedule.State, p schedule.Plan, c schedule.Change, to string) {
		if groupOf(before, c.Group).Follows == "" && !c.Ports[0].Disabled && !c.Ports[len(c.Ports)-1].Disabled {
			assert.Equal(t, to != c.Ports[0].Active, c.Interrupts, "%s: %s %s -> %q: %v -> %v", p.Operation, c.Group,
				c.Ports[0].Active, to, c.Before, c.After)
		}
	})
}

// After a drain the chassis hosts only what the plan named; a second drain changes nothing; and an undrain restores the
// order of the chassis that can host, except for the groups that it names.
func drainKeepsItsPromise(t *testing.T, s schedule.State) {
	s.Chassis[0].Remote = false
	s = rebind(s)
	after, ranks, p := drained(s, "c0")
	after = rebind(after)
	again := schedule.Drain(after, "c0", ranks)
	assert.Empty(t, again.Changes)
	blocked := subjects(p.Blocked)
	for name := range subjects(again.Blocked) {
		assert.True(t, blocked[name], name)
	}
	for _, g := range after.Groups {
		assert.True(t, blocked[g.Name] || !slices.ContainsFunc(g.Ports,
			func(p schedule.Port) bool { return p.Active == "c0" }), "%+v", g)
	}
	if byName(s)["c0"].Unresponsive {
		return
	}
	open := after.WithCordon("c0", false)
	back := schedule.Undrain(open, "c0", ranks)
	restored := subjects(back.Blocked)
	for _, g := range applied(open, back).Groups {
		cannot := func(name string) bool {
			c := byName(open)[name]
			return c.Name == "" || c.Remote || c.Unresponsive || c.Cordoned || !reaches(c, g)
		}
		was, is := groupOf(s, g.Name).Ranked(), g.Ranked()
		if !restored[g.Name] && !slices.Equal(was, is) {
			assert.Equal(t, once(slices.DeleteFunc(was, cannot)), slices.DeleteFunc(is, cannot), g.Name)
		}
	}
}

func hostedIsBoundToARespondingChassis(t *testing.T, s schedule.State) {
	chassis, nowhere := byName(s), map[string]int{}
	hosts := func(name string) bool { c := chassis[name]; return c.Name != "" && !c.Unresponsive }
	gateways, externals, ports := 0, 0, 0
	for _, g := range s.Groups {
		n := 0
		for _, p := range g.Ports {
			n += btoi(!p.Disabled && !hosts(p.Active))
			ports += btoi(!p.Disabled && !hosts(p.Active) && p.Network != "" && !p.External && g.Kind == schedule.RouterPorts)
		}
		nowhere[g.Name] = n
		gateways += btoi(n > 0 && g.Kind == schedule.RouterPorts)
		externals += btoi(n > 0 && g.Kind != schedule.RouterPorts)
	}
	for _, p := range s.Pinned {
		gateways += btoi(!p.Disabled && len(p.Ports) > 0 && !hosts(p.Active))
	}
	status := schedule.Evaluate(s, schedule.Options{})
	for _, n := range status.Networks {
		ports -= n.Unhosted
	}
	assert.Zero(t, ports, "ports that are hosted nowhere")
	conditions := schedule.Conditions(s)
	assert.Equal(t, gateways, conditions[finding.GatewayUnbound]+conditions[finding.GatewayHostSilent])
	assert.Equal(t, externals, conditions[finding.ExternalUnserved])
	marks := 0
	for _, f := range status.Findings {
		if n, is := nowhere[f.Subject.Name]; is && n == 0 {
			assert.NotContains(t, []finding.Code{finding.GatewayUnbound, finding.ExternalUnserved, finding.GatewayHostSilent},
				f.Code)
		}
		marks += btoi(f.Code == finding.NoChassisMarked)
	}
	assert.LessOrEqual(t, marks, 1, "a missing mark is one finding")
}

func secondRunFindsNothing(t *testing.T, s schedule.State) {
	after := rebind(applied(s, schedule.Reschedule(s, schedule.Options{})))
	after = applied(after, schedule.Reschedule(after, schedule.Options{}))
	assert.Empty(t, schedule.Reschedule(after, schedule.Options{}).Changes)
	after = rebind(applied(after, schedule.Rebalance(after, schedule.Options{})))
	assert.Empty(t, schedule.Rebalance(after, schedule.Options{}).Changes)
	for _, g := range after.Groups {
		if changed := !slices.Equal(g.Candidates, groupOf(s, g.Name).Candidates); changed {
			assert.Len(t, once(g.Ranked()), len(g.Candidates), "%s has a chassis twice", g.Name)
		}
	}
}
