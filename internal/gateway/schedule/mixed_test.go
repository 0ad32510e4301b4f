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

// mixedCloud is a cloud of several clients: owners, marks, sets of networks, pinned routers and external ports, of which
// some are bound as OVN would bind them, some elsewhere, and some not at all.
func mixedCloud(r *rand.Rand) schedule.State {
	one := func(n int) bool { return r.IntN(n) == 0 }
	var s schedule.State
	networks := []string{"p0", "p1", "p2", "old"}
	marks, names := r.IntN(3), []string{"gone"} // of no chassis, of some, of all
	for i := range 2 + r.IntN(6) {
		c := schedule.Chassis{
			Name: fmt.Sprintf("c%d", i), Gateway: marks == 2 || marks == 1 && one(2), External: marks > 0 && one(4), Remote: one(12),
			Unresponsive: one(8), Cordoned: one(10),
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
				Name: fmt.Sprintf("%s-%d", g.Name, p), Router: "r", Network: network, External: g.Kind != schedule.RouterPorts, Disabled: g.Kind == schedule.RouterPorts && one(15),
			})
		}
		if one(5) {
			g.Zones = []string{"az0"}
		}
		for k, n := range r.Perm(len(names))[:r.IntN(min(6, len(names)+1))] {
			g.Candidates = append(g.Candidates, schedule.Candidate{Chassis: names[n], Priority: 9 - k})
		}
		s.Groups = append(s.Groups, bind(g, []string{claimant(s, g), claimant(s, g), s.Chassis[r.IntN(len(s.Chassis))].Name, ""}[r.IntN(4)]))
	}
	for i := range r.IntN(3) {
		s.Pinned = append(s.Pinned, schedule.Pinned{
			Name: fmt.Sprintf("pin%d", i), Kind: schedule.PinnedRouter, Chassis: names[r.IntN(len(names))], Ports: []string{fmt.Sprintf("pin%d-0", i)},
			Networks: [][]string{{networks[r.IntN(3)]}},
		})
	}
	return s
}

// claimant is the chassis that OVN has claim a group: the best that responds, whatever its networks.
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

// reaches reports whether a chassis has what every port of the group needs, as ovn-architecture(7) has it.
func reaches(c schedule.Chassis, g schedule.Group) bool {
	return !slices.ContainsFunc(g.Ports, func(p schedule.Port) bool {
		return p.Network != "" && !slices.ContainsFunc(strings.Split(p.Network, ","), func(n string) bool { return slices.Contains(c.Networks, n) })
	})
}

// works reports whether the group is bound to a chassis that responds and has its networks.
func works(s schedule.State, g schedule.Group) bool {
	c := byName(s)[g.Ports[0].Active]
	return c.Name != "" && !c.Unresponsive && !c.Remote && reaches(c, g)
}

// eachMixed tries a property on many mixed clouds.
func eachMixed(t *testing.T, property func(t *testing.T, r *rand.Rand, s schedule.State)) {
	t.Helper()
	t.Parallel()
	for seed := range uint64(3 * instances * exploretest.Factor(t)) {
		r := rand.New(rand.NewPCG(seed, 3737))
		s := mixedCloud(r)
		property(t, r, s)
		if t.Failed() {
			t.Fatalf("seed %d: %+v", seed, s)
		}
	}
}

func TestNoPlanTakesAWorkingGatewayToAChassisWithoutItsNetwork(t *testing.T) {
	eachMixed(t, func(t *testing.T, _ *rand.Rand, s schedule.State) {
		check := func(before schedule.State, p schedule.Plan) {
			groups := map[string]schedule.Group{}
			for _, g := range before.Groups {
				groups[g.Name] = g
			}
			for _, c := range p.Changes {
				g := groups[c.Group]
				if !works(before, g) || claimant(before, g) != g.Ports[0].Active {
					continue
				}
				g.Candidates = c.After
				to := claimant(before, g)
				assert.True(t, to != "" && reaches(byName(before)[to], g), "%s: %s goes from %s to %q: %v", p.Operation, c.Group, g.Ports[0].Active, to, c.After)
			}
		}
		for _, p := range []schedule.Plan{
			schedule.Reschedule(s, options(schedule.LeastLoaded, 1)), schedule.Reschedule(s, options(schedule.Random, 1)),
			schedule.Rebalance(s, schedule.Options{}), schedule.Rebalance(s, schedule.Options{AllowNewCandidates: true}),
			schedule.Demote(s, "c0", nil),
		} {
			check(s, p)
		}
		shut := cordon(s, "c0", true)
		check(shut, schedule.Clear(shut, "c0"))
		after, ranks, p := drained(s, "c0")
		check(s, p)
		for i, g := range after.Groups { // its ovn-controllers follow, and a network is taken from it meanwhile
			after.Groups[i] = bind(g, claimant(after, g))
		}
		back := cordon(after, "c0", false)
		back.Chassis = slices.Clone(back.Chassis)
		for i, c := range back.Chassis {
			if c.Name == "c0" {
				back.Chassis[i].Networks = c.Networks[min(1, len(c.Networks)):]
			}
		}
		check(back, schedule.Undrain(back, schedule.Options{}, "c0", ranks))
	})
}

func TestWhatIsBoundToAChassisThatRespondsIsHosted(t *testing.T) {
	eachMixed(t, func(t *testing.T, _ *rand.Rand, s schedule.State) {
		chassis, nowhere := byName(s), map[string]int{}
		gateways, externals, ports := 0, 0, 0
		for _, g := range s.Groups {
			n, planned := 0, true
			for _, p := range g.Ports {
				planned = planned && (p.Network != "" || p.External)
				if c := chassis[p.Active]; !p.Disabled && (c.Name == "" || c.Unresponsive) {
					n++
				}
			}
			nowhere[g.Name] = n
			switch {
			case n == 0:
			case g.Kind == schedule.RouterPorts:
				gateways++
			default:
				externals++
			}
			if planned && g.Kind == schedule.RouterPorts {
				ports += n
			}
		}
		for _, p := range s.Pinned {
			if c := chassis[p.Active]; !p.Disabled && len(p.Ports) > 0 && (c.Name == "" || c.Unresponsive) {
				gateways++
			}
		}
		status := schedule.Evaluate(s, schedule.Options{})
		for _, n := range status.Networks {
			ports -= n.Unhosted
		}
		assert.Zero(t, ports, "ports that are hosted nowhere")
		conditions := schedule.Conditions(s)
		assert.Equal(t, gateways, conditions[finding.GatewayUnbound])
		assert.Equal(t, externals, conditions[finding.ExternalUnserved])
		marks := 0
		for _, f := range status.Findings {
			if n, is := nowhere[f.Subject.Name]; is && n == 0 {
				assert.NotContains(t, []finding.Code{finding.GatewayUnbound, finding.ExternalUnserved, finding.GatewayHostSilent}, f.Code)
			}
			if f.Code == finding.NoChassisMarked {
				marks++
			}
		}
		assert.LessOrEqual(t, marks, 1, "a missing mark is one finding")
	})
}

// A plan that was carried out is not followed by another one.
func TestMixedCloudComesToRest(t *testing.T) {
	eachMixed(t, func(t *testing.T, _ *rand.Rand, s schedule.State) {
		after := applied(s, schedule.Reschedule(s, schedule.Options{}))
		for i, g := range after.Groups {
			after.Groups[i] = bind(g, claimant(after, g))
		}
		after = applied(after, schedule.Reschedule(after, schedule.Options{}))
		again := schedule.Reschedule(after, schedule.Options{})
		assert.Empty(t, again.Changes)
	})
}
