package schedule

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// instance is a state in the order of names and with numbers for them: whatever the
// order of its rows, the same state is the same instance.
type instance struct {
	chassis  []Chassis
	number   map[string]int
	networks []string
	groups   []*group
	// externals are the groups of external ports, which no load is counted of.
	externals []*group
	// unplanned are the routers' gateways that nothing is planned for, since no provider network says
	// which chassis may host them: a drain moves them all the same.
	unplanned []Group
	// misnamed is what candidates are that are named by something else than the name of a chassis.
	misnamed map[string]string
	// marked reports whether a chassis has enable-chassis-as-gw, external whether one has
	// enable-chassis-as-extport-host.
	marked, external bool
	// bound reports whether a port is bound to a chassis.
	bound bool
	// schedulable are the chassis of each network that gateways may be moved to.
	schedulable [][]int
	// marks are the least that chassis need for a gateway of each network.
	marks []mark
	// classes are the classes of the groups; many groups share one.
	classes  map[classKey]*class
	findings []finding.Finding
}

// class is groups of the same kind, owner, networks and zones: they may be hosted by the same chassis.
type class struct {
	kind Kind
	mark mark
	// eligible reports which chassis may host such groups. accepts reports which of those take a group over if they
	// are a candidate of it; the unschedulable ones don't, as long as they are unresponsive or cordoned. takes
	// reports which may also become candidates, and schedulable lists these.
	eligible, accepts, takes   []bool
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
	// lacking is the reason why chassis come if candidates are missing.
	lacking string
	// held reports whether the group stays as it is.
	held bool
	// works is the rank of the candidate that it is bound to. nowhere reports whether it is bound to no chassis, though
	// others are.
	works   int
	nowhere bool
	// repeated reports whether a chassis is a candidate twice.
	repeated bool
}

// share is a number of ports in a network.
type share struct{ network, ports int }

func newInstance(s State) *instance {
	in := &instance{number: map[string]int{}, classes: map[classKey]*class{}, misnamed: s.Misnamed}
	in.chassis = slices.Clone(s.Chassis)
	slices.SortFunc(in.chassis, func(a, b Chassis) int { return cmp.Compare(a.Name, b.Name) })
	in.chassis = slices.CompactFunc(in.chassis, func(a, b Chassis) bool { return a.Name == b.Name })
	for i, c := range in.chassis {
		in.number[c.Name] = i
	}
	for _, g := range s.Groups {
		for _, p := range g.Ports {
			if !p.External {
				in.networks = append(in.networks, p.Network)
			}
		}
	}
	slices.Sort(in.networks)
	in.networks = slices.DeleteFunc(slices.Compact(in.networks), func(n string) bool { return n == "" })
	in.marked = anyChassis(in.chassis, func(c Chassis) bool { return c.Gateway })
	in.external = anyChassis(in.chassis, func(c Chassis) bool { return c.External })
	in.marks = slices.Repeat([]mark{gatewayMark}, len(in.networks))
	groups := slices.Clone(s.Groups)
	slices.SortFunc(groups, func(a, b Group) int { return cmp.Compare(a.Name, b.Name) })
	for _, g := range groups {
		g.Ports = slices.SortedFunc(slices.Values(g.Ports), func(a, b Port) int { return cmp.Compare(a.Name, b.Name) })
		in.addGroup(g)
	}
	in.schedulable = make([][]int, len(in.networks))
	for n := range in.networks {
		for i, c := range in.chassis {
			if in.unfit(c, n) == "" && unavailable(c) == "" {
				in.schedulable[n] = append(in.schedulable[n], i)
			}
		}
	}
	in.locate()
	return in
}

// unfit is why a chassis may host no gateway of a network, whatever the zone; empty if it may.
func (in *instance) unfit(c Chassis, network int) string {
	return ineligible(c, Group{Ports: []Port{{Network: in.networks[network]}}}, in.marks[network])
}

// addGroup takes a group into the instance, unless it is one that can't be planned for.
func (in *instance) addGroup(g Group) {
	networks := map[int]int{}
	for _, p := range g.Ports {
		if p.External {
			continue
		}
		n, found := slices.BinarySearch(in.networks, p.Network)
		if !found {
			if in.unhostedPorts(g) > 0 { // others, as those of the nodes of ovn-kubernetes, are as their owner has them
				in.find(finding.GatewayNetworkUnknown, p.Name, finding.Args{})
			}
			in.unplanned = append(in.unplanned, g)
			return
		}
		networks[n]++
	}
	if len(g.Ports) == 0 {
		return
	}
	n := &group{Group: g, class: in.classOf(g), reasons: map[string]string{}, order: make([]int, 0, MaxCandidates)}
	for i := range in.networks {
		if networks[i] > 0 {
			n.weight = append(n.weight, share{i, networks[i]})
			in.marks[i] = min(in.marks[i], n.class.mark)
		}
	}
	in.addCandidates(n)
	in.findTooMany(g)
	n.was = slices.Clone(n.order)
	n.possible = len(n.was) + n.missing()
	if g.Kind == RouterPorts {
		in.groups = append(in.groups, n)
	} else {
		in.externals = append(in.externals, n)
	}
}

// addCandidates makes the valid candidates of a group its order, and finds what is wrong with the others.
func (in *instance) addCandidates(g *group) {
	sorted := ranked(g.Candidates)
	for i, c := range sorted {
		number, found := in.number[c.Chassis]
		switch {
		case slices.ContainsFunc(sorted[:i], func(b Candidate) bool { return b.Chassis == c.Chassis }):
			g.repeated = true
			in.find(finding.CandidateRepeated, g.Name, finding.Args{Value: c.Chassis})
		case found && g.class.eligible[number]:
			g.order = append(g.order, number)
		default:
			g.gone = append(g.gone, c.Chassis)
			g.reasons[c.Chassis] = in.invalid(g, c.Chassis)
		}
		if i > 0 && sorted[i-1].Priority == c.Priority {
			tie := finding.Args{Value: sorted[i-1].Chassis, Other: c.Chassis, Count: c.Priority}
			in.find(finding.CandidatesTied, g.Name, tie)
		}
	}
}

func (in *instance) find(code finding.Code, name string, args finding.Args, remedies ...finding.Remedy) {
	in.findings = append(in.findings, finding.About(code, name, args, remedies...))
}

// classKey is what the groups of a class have in common.
type classKey struct {
	kind            Kind
	owner           Owner
	external        bool
	networks, zones string
}

// set is the same for the same names in any order.
func set(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	}
	return fmt.Sprintf("%q", slices.Compact(slices.Sorted(slices.Values(names))))
}

// classOf is the class of a group: the chassis that it may be hosted on.
func (in *instance) classOf(g Group) *class {
	networks := make([]string, 0, 1)
	for _, p := range g.Ports {
		networks = append(networks, p.Network)
	}
	external := in.onExternalHosts(g)
	key := classKey{g.Kind, g.Owner, external, set(networks), set(g.Zones)}
	if k := in.classes[key]; k != nil {
		return k
	}
	n := len(in.chassis)
	m, grows := in.needs(g, external)
	k := &class{kind: g.Kind, mark: m, eligible: make([]bool, n), accepts: make([]bool, n), takes: make([]bool, n)}
	for i, c := range in.chassis {
		k.eligible[i] = ineligible(c, g, m) == ""
		switch {
		case !k.eligible[i]:
		case unavailable(c) != "":
			k.unschedulable = append(k.unschedulable, i)
		default:
			k.accepts[i], k.takes[i] = true, grows
			if grows {
				k.schedulable = append(k.schedulable, i)
			}
		}
	}
	if g.Kind != RouterPorts && g.Owner != Other && len(g.Zones) == 0 {
		k.preferUnzoned(in.chassis)
	}
	in.classes[key] = k
	return k
}

// preferUnzoned gives groups of external ports of no zone only chassis of no zone, if there are any, as Neutron does.
func (k *class) preferUnzoned(chassis []Chassis) {
	unzoned := slices.DeleteFunc(slices.Clone(k.schedulable), func(c int) bool { return len(chassis[c].Zones) > 0 })
	if len(unzoned) == 0 {
		return
	}
	for _, c := range k.schedulable {
		k.takes[c] = slices.Contains(unzoned, c)
	}
	k.schedulable = unzoned
}

func (in *instance) invalid(g *group, chassis string) string {
	if number, found := in.number[chassis]; found {
		return ineligible(in.chassis[number], g.Group, g.class.mark)
	}
	why := "the chassis does not exist"
	if is := in.misnamed[chassis]; is != "" {
		why += ": " + is
	}
	return why
}

// loads is how many ports of each network each chassis hosts, if all are alive.
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

// single reports whether the group is one port of one network: then where it is hosted
// matters for that network alone.
func (g *group) single() bool { return len(g.weight) == 1 && g.weight[0].ports == 1 }

func (g *group) has(chassis int) bool { return slices.Contains(g.order, chassis) }

// accepts reports whether the chassis takes the group over if it is a candidate, takes whether it may become one.
func (g *group) accepts(chassis int) bool { return g.class.accepts[chassis] }
func (g *group) takes(chassis int) bool   { return g.class.takes[chassis] }
