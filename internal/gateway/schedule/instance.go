package schedule

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// instance is a state with numbers for its names. It does not depend on the order of the rows.
type instance struct {
	chassis  []Chassis
	number   map[string]int
	networks []string
	groups   []*group
	// externals are the groups of external ports; they count as no load.
	externals []*group
	// unplanned are routers' gateways without a provider network. Only a drain moves them.
	unplanned []Group
	pinned    []Pinned
	// misnamed describes candidates that are not named by a chassis.
	misnamed map[string]string
	// marked reports whether a chassis has enable-chassis-as-gw, external whether one has enable-chassis-as-extport-host,
	// bound whether any port is bound.
	marked, external, bound bool
	// schedulable are the chassis of each network to which gateways may be moved.
	schedulable [][]int
	// marks are the least mark that a gateway of each network needs.
	marks    []mark
	classes  map[classKey]*class
	findings []finding.Finding
}

// class is groups of the same kind, owner, networks and zones, which may be hosted by the same chassis.
type class struct {
	kind Kind
	mark mark
	// eligible chassis may host such groups. Of these, accepts are those that are schedulable: they take over if they are
	// candidates. takes may also become candidates; schedulable lists them.
	eligible, accepts, takes   []bool
	schedulable, unschedulable []int
}

// group is a group of the state, with chassis as numbers.
type group struct {
	Group
	class  *class
	weight []share
	// order is the chassis that may host it, best first: at first the valid candidates, in the end the plan.
	order []int
	// was is the order at first, gone the invalid candidates.
	was  []int
	gone []string
	// possible is how many candidates it can have.
	possible int
	// reasons are why chassis come, go or change rank; lacking is the one for chassis that complete the list.
	reasons map[string]string
	lacking string
	held    bool
	// works is the rank of the candidate that it is bound to. nowhere reports whether it is bound to no chassis, though
	// others are.
	works    int
	nowhere  bool
	repeated bool
}

type share struct{ network, ports int }

func newInstance(s State) *instance {
	in := &instance{number: map[string]int{}, classes: map[classKey]*class{}, misnamed: s.Misnamed, pinned: s.Pinned}
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

// unfit returns why a chassis may host no gateway of a network in any zone; empty if it may.
func (in *instance) unfit(c Chassis, network int) string {
	return ineligible(c, Group{Ports: []Port{{Network: in.networks[network]}}}, in.marks[network])
}

// addGroup adds a group, unless it can't be planned for.
func (in *instance) addGroup(g Group) {
	networks := map[int]int{}
	for _, p := range g.Ports {
		if p.External {
			continue
		}
		n, found := slices.BinarySearch(in.networks, p.Network)
		if !found {
			in.find(finding.GatewayNetworkUnknown, p.Name, finding.Args{})
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

// addCandidates makes the valid candidates the order of a group, and finds what is wrong with the others.
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

type classKey struct {
	kind            Kind
	owner           Owner
	external        bool
	networks, zones string
}

// set is a key that does not depend on the order of names.
func set(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	}
	return fmt.Sprintf("%q", slices.Compact(slices.Sorted(slices.Values(names))))
}

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

// preferUnzoned limits groups of external ports without a zone to chassis without a zone, if there are any, as Neutron
// does.
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

func (g *group) single() bool { return len(g.weight) == 1 && g.weight[0].ports == 1 }

func (g *group) has(chassis int) bool { return slices.Contains(g.order, chassis) }

func (g *group) accepts(chassis int) bool { return g.class.accepts[chassis] }
func (g *group) takes(chassis int) bool   { return g.class.takes[chassis] }
