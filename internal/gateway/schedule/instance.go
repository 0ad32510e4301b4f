package schedule

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// instance is a state in the order of names and with numbers for them: whatever the
// order of its rows, the same state is the same instance.
type instance struct {
	chassis  []Chassis
	number   map[string]int
	networks []string
	groups   []*group
	// followers are the groups that follow others.
	followers []Group
	// unplanned are the groups that nothing is planned for, since no provider network says
	// which chassis may host them: a drain moves them all the same.
	unplanned []Group
	// schedulableOf are the chassis of each network that may be given something new.
	schedulableOf [][]int
	// classes are those that there are of groups; many groups share one.
	classes  map[string]*class
	whys     map[whyKey]string
	findings []Finding
}

// class is groups of the same networks and zones: they may be hosted by the same chassis.
type class struct {
	// eligible may host such groups; schedulable may also be given new ones, accepts says
	// which. Those that are unschedulable may not, for as long as they are unresponsive or
	// cordoned.
	eligible, accepts          []bool
	schedulable, unschedulable []int
}

// group is a group of the state, by numbers.
type group struct {
	Group
	class *class
	// weight is how many of its ports are in each network.
	weight []share
	// order is the chassis that may host it, best first: at first what is valid of what is there,
	// in the end what is planned.
	order []int
	// was is the order at first; gone is what was not valid of it.
	was  []int
	gone []string
	// possible is how many candidates it can have.
	possible int
	// reasons is why a chassis comes, goes or gets another rank.
	reasons map[string]string
	// lacking is the reason why chassis come where candidates are missing.
	lacking string
	// held says that the group stays as it is.
	held bool
	// works is the rank of the candidate on which it really is; nowhere says that it is on
	// none, though others are, and dropped that it is on one that may not host it.
	works            int
	nowhere, dropped bool
	// repeated says that a chassis is a candidate twice.
	repeated bool
}

// share is a number of ports in a network.
type share struct{ network, ports int }

func newInstance(s State) *instance {
	in := &instance{number: map[string]int{}, classes: map[string]*class{}, whys: map[whyKey]string{}}
	in.chassis = slices.Clone(s.Chassis)
	slices.SortFunc(in.chassis, func(a, b Chassis) int { return cmp.Compare(a.Name, b.Name) })
	in.chassis = slices.CompactFunc(in.chassis, func(a, b Chassis) bool { return a.Name == b.Name })
	for i, c := range in.chassis {
		in.number[c.Name] = i
	}
	for _, g := range s.Groups {
		for _, p := range g.Ports {
			in.networks = append(in.networks, p.Network)
		}
	}
	slices.Sort(in.networks)
	in.networks = slices.DeleteFunc(slices.Compact(in.networks), func(n string) bool { return n == "" })
	in.schedulableOf = make([][]int, len(in.networks))
	for n, name := range in.networks {
		for i, c := range in.chassis {
			if unschedulable(c, name) == "" {
				in.schedulableOf[n] = append(in.schedulableOf[n], i)
			}
		}
	}
	groups := slices.Clone(s.Groups)
	slices.SortFunc(groups, func(a, b Group) int { return cmp.Compare(a.Name, b.Name) })
	for _, g := range groups {
		g.Ports = slices.SortedFunc(slices.Values(g.Ports), func(a, b Port) int { return cmp.Compare(a.Name, b.Name) })
		in.add(g)
	}
	in.locate()
	return in
}

// add takes a group into the instance, unless it is one that can't be planned for.
func (in *instance) add(g Group) {
	switch {
	case g.Follows != "":
		in.followers = append(in.followers, g)
		return
	case g.Unrouted:
		in.unplanned = append(in.unplanned, g)
		return
	}
	networks := map[int]int{}
	for _, p := range g.Ports {
		n, found := slices.BinarySearch(in.networks, p.Network)
		if !found {
			in.find(p.Name, "its network is not connected to a provider network; left as it is")
			in.unplanned = append(in.unplanned, g)
			return
		}
		networks[n]++
	}
	if len(g.Ports) == 0 {
		return
	}
	n := &group{Group: g, class: in.classOf(g, networks), reasons: map[string]string{}, order: make([]int, 0, MaxCandidates)}
	for i := range in.networks {
		if networks[i] > 0 {
			n.weight = append(n.weight, share{i, networks[i]})
		}
	}
	sorted := ranked(g.Candidates)
	for i, c := range sorted {
		number, found := in.number[c.Chassis]
		switch {
		case slices.ContainsFunc(sorted[:i], func(b Candidate) bool { return b.Chassis == c.Chassis }):
			n.repeated = true
			in.find(g.Name, fmt.Sprintf("chassis %s is listed twice; reschedule drops the lower rank", c.Chassis))
		case found && n.class.eligible[number]:
			n.order = append(n.order, number)
		default:
			n.gone = append(n.gone, c.Chassis)
			n.reasons[c.Chassis] = in.invalid(g, c.Chassis)
		}
		if i > 0 && sorted[i-1].Priority == c.Priority {
			in.find(g.Name, fmt.Sprintf("%s and %s have the same priority %d; OVN picks the larger name", sorted[i-1].Chassis, c.Chassis, c.Priority))
		}
	}
	in.findTooMany(g)
	n.was = slices.Clone(n.order)
	n.possible = len(n.was) + n.missing()
	in.groups = append(in.groups, n)
}

func (in *instance) find(where, text string) { in.findings = append(in.findings, Finding{where, text}) }

// classOf is the class of a group: the chassis that it may be hosted on.
func (in *instance) classOf(g Group, networks map[int]int) *class {
	zones := slices.Sorted(slices.Values(g.Zones))
	key := fmt.Sprintf("%d %q", slices.Sorted(maps.Keys(networks)), slices.Compact(zones))
	if k := in.classes[key]; k != nil {
		return k
	}
	k := &class{eligible: make([]bool, len(in.chassis)), accepts: make([]bool, len(in.chassis))}
	for i, c := range in.chassis {
		k.eligible[i] = ineligible(c, g) == ""
		switch {
		case !k.eligible[i]:
		case c.Unresponsive || c.Cordoned:
			k.unschedulable = append(k.unschedulable, i)
		default:
			k.schedulable, k.accepts[i] = append(k.schedulable, i), true
		}
	}
	in.classes[key] = k
	return k
}

// invalid says why a candidate may not host the group.
func (in *instance) invalid(g Group, chassis string) string {
	number, found := in.number[chassis]
	if !found {
		return "the chassis does not exist"
	}
	return ineligible(in.chassis[number], g)
}

// ineligible says why a chassis may not host a group; empty if it may. The rules are those
// of Neutron (is_gateway_chassis_invalid in neutron/common/ovn/utils.py).
func ineligible(c Chassis, g Group) string {
	switch {
	case c.Remote:
		return "it belongs to another OVN"
	case !c.Gateway:
		return "it has no enable-chassis-as-gw"
	}
	for _, p := range g.Ports {
		if !slices.Contains(c.Networks, p.Network) {
			return "it is not connected to " + p.Network
		}
	}
	if len(g.Zones) > 0 && !slices.ContainsFunc(g.Zones, func(z string) bool { return slices.Contains(c.Zones, z) }) {
		return "it is in none of the zones " + strings.Join(slices.Sorted(slices.Values(g.Zones)), ", ")
	}
	return ""
}

// loads is how many ports of each network each chassis hosts, where all are alive.
func (in *instance) loads() [][]int {
	all := make([][]int, len(in.networks))
	for n := range all {
		all[n] = make([]int, len(in.chassis))
	}
	for _, g := range in.groups {
		if len(g.order) > 0 {
			for _, s := range g.weight {
				all[s.network][g.order[0]] += s.ports
			}
		}
	}
	return all
}

// schedulable are the chassis of a network that may be given something new.
func (in *instance) schedulable(network int) []int { return in.schedulableOf[network] }

// single says whether the group is one port of one network: then where it is hosted
// matters for that network alone.
func (g *group) single() bool { return len(g.weight) == 1 && g.weight[0].ports == 1 }

func (g *group) has(chassis int) bool { return slices.Contains(g.order, chassis) }

// accepts says whether the group may be given the chassis.
func (g *group) accepts(chassis int) bool { return g.class.accepts[chassis] }
