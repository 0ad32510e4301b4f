package schedule

import (
	"cmp"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// locate records where groups are bound. If no port is bound, for instance because no ovn-controller runs, only the
// order of the candidates is known.
func (in *instance) locate() {
	all := slices.Concat(in.groups, in.externals)
	in.bound = slices.ContainsFunc(all, func(g *group) bool { return g.bound() }) ||
		slices.ContainsFunc(in.unplanned, Group.bound)
	for _, g := range all {
		g.works, g.nowhere = 0, in.bound
		for _, p := range g.Ports {
			if p.Active == "" {
				continue
			}
			g.nowhere = false
			if c, found := in.number[p.Active]; found {
				g.works = max(g.works, slices.Index(g.was, c))
			}
		}
	}
}

// needs returns the mark that a chassis needs to host a group, and whether the group may get new chassis. external
// reports whether the group belongs on chassis for external ports.
func (in *instance) needs(g Group, external bool) (m mark, grows bool) {
	switch {
	case g.Kind != RouterPorts && !g.networked(true):
		return noMark, false // it is not known which chassis could host it
	case g.Owner == Other:
		return noMark, true
	case external:
		return externalMark, true
	case in.marked(g):
		return gatewayMark, true
	}
	return noMark, g.Kind == RouterPorts && g.Owner == EarlierNeutron
}

// marked reports whether a chassis with the group's networks has enable-chassis-as-gw. If none has, Neutron leaves the
// group as it is (get_unhosted_gateways in impl_idl_ovn.py).
func (in *instance) marked(g Group) bool {
	return anyChassis(in.chassis, func(c Chassis) bool { return c.Gateway && g.unconnected(c) == "" })
}

// onExternalHosts reports whether a group of external ports belongs on chassis with the mark for external ports.
func (in *instance) onExternalHosts(g Group) bool {
	switch {
	case g.Kind == RouterPorts || g.Kind == RoutedExternalPorts || g.Owner == Other || !in.external:
		return false
	case g.Kind == OneExternalPort:
		return true
	}
	gateways, marked := false, in.marked(g)
	for _, x := range g.Candidates {
		if n, found := in.number[x.Chassis]; found && !in.chassis[n].Remote {
			if in.chassis[n].External {
				return true
			}
			gateways = gateways || g.unconnected(in.chassis[n]) == "" && (in.chassis[n].Gateway || !marked)
		}
	}
	return !gateways
}

// MayHost returns the chassis that may host gateways: those that are marked, and those that may host an existing group
// of routers' gateways by the rules of its owner.
func (s State) MayHost() map[string]bool {
	in, all := newInstance(s), map[string]bool{}
	for i, c := range in.chassis {
		all[c.Name] = c.Gateway && !c.Remote
		for _, k := range in.classes {
			all[c.Name] = all[c.Name] || k.kind == RouterPorts && k.eligible[i]
		}
	}
	return all
}

// unhostedPorts counts the ports that are not hosted, except those of disabled routers.
func (in *instance) unhostedPorts(g Group) (n int) {
	for _, p := range g.Ports {
		n += btoi(!p.Disabled && !in.isHosted(p))
	}
	return n
}

func newInstance(s State) *instance {
	in := &instance{
		number: map[string]int{}, classes: map[classKey]*class{}, misnamed: s.Misnamed, pinned: s.Pinned,
		followers: map[string][]Port{},
	}
	in.chassis = slices.Clone(s.Chassis)
	slices.SortFunc(in.chassis, func(a, b Chassis) int { return cmp.Compare(a.Name, b.Name) })
	in.chassis = slices.CompactFunc(in.chassis, func(a, b Chassis) bool { return a.Name == b.Name })
	for i, c := range in.chassis {
		in.number[c.Name] = i
	}
	in.networks = gatewayNetworks(s.Groups)
	in.external = anyChassis(in.chassis, func(c Chassis) bool { return c.External })
	in.marks = slices.Repeat([]mark{gatewayMark}, len(in.networks))
	groups := slices.Clone(s.Groups)
	slices.SortFunc(groups, func(a, b Group) int { return cmp.Compare(a.Name, b.Name) })
	for _, g := range groups {
		if !in.onExternalHosts(g) { // these stay apart from their gateway
			in.followers[g.Follows] = append(in.followers[g.Follows], g.Ports...)
		}
	}
	for _, g := range groups {
		g.Ports = slices.SortedFunc(slices.Values(g.Ports), func(a, b Port) int { return cmp.Compare(a.Name, b.Name) })
		in.addGroup(g)
	}
	in.schedulable = make([][]int, len(in.networks))
	for n := range in.networks {
		for i, c := range in.chassis {
			if in.unfit(c, n).IsZero() && unavailable(c) == "" {
				in.schedulable[n] = append(in.schedulable[n], i)
			}
		}
	}
	for _, g := range in.externals {
		lead := in.groupNamed(g.Follows)
		g.copied = lead != nil && g.Kind == RoutedExternalPorts && len(g.was) > 0 && slices.Equal(g.Ranked(), lead.Ranked())
	}
	in.locate()
	in.siblings = in.byRouter()
	return in
}

// gatewayNetworks returns the networks of routers' gateways, sorted.
func gatewayNetworks(groups []Group) (all []string) {
	for _, g := range groups {
		for _, p := range g.Ports {
			if !p.External && p.Network != "" {
				all = append(all, p.Network)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// addGroup adds a group, unless it can't be planned for.
func (in *instance) addGroup(g Group) {
	networks := map[int]int{}
	for _, p := range g.Ports {
		if g.goesAlong(p) {
			continue
		}
		n, found := slices.BinarySearch(in.networks, p.Network)
		if !found {
			if in.unhostedPorts(g) > 0 { // other owners, for instance ovn-kubernetes, need no network
				in.find(finding.GatewayNetworkUnknown, p.Name, finding.Args{})
			}
			in.unplanned = append(in.unplanned, g)
			in.findTies(g)
			return
		}
		networks[n]++
	}
	if len(g.Ports) == 0 {
		return
	}
	n := &group{Group: g, class: in.classOf(g), reasons: map[string]finding.Reason{}, order: make([]int, 0, MaxCandidates)}
	for i := range in.networks {
		if networks[i] > 0 {
			n.weight = append(n.weight, share{i, networks[i]})
			in.marks[i] = min(in.marks[i], n.class.mark)
		}
	}
	in.addCandidates(n)
	in.findTooMany(n)
	n.was = slices.Clone(n.order)
	n.possible = len(n.was) + n.missing()
	if g.Kind == RouterPorts {
		in.groups = append(in.groups, n)
	} else {
		in.externals = append(in.externals, n)
	}
}

// addCandidates puts the valid candidates into the order of a group, and finds what is wrong with the others.
func (in *instance) addCandidates(g *group) {
	sorted := ranked(g.Candidates)
	g.tied = in.findTies(g.Group)
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
	}
}

// findTies finds candidates with the same priority, and reports whether there are any.
func (in *instance) findTies(g Group) (found bool) {
	sorted := ranked(g.Candidates)
	for i := 1; i < len(sorted); i++ {
		if a, b := sorted[i-1], sorted[i]; a.Priority == b.Priority {
			found = true
			in.find(finding.CandidatesTied, g.Name, finding.Args{Value: a.Chassis, Other: b.Chassis, Count: b.Priority})
		}
	}
	return found
}

func (in *instance) classOf(g Group) *class {
	behind := in.behind(g)
	external := in.onExternalHosts(g)
	key := classKey{
		g.Kind, g.Owner, external, set(g.networks()), set(g.Zones), set(g.Machines), set(behind),
	}
	if k := in.classes[key]; k != nil {
		return k
	}
	n := len(in.chassis)
	k := &class{kind: g.Kind, eligible: make([]bool, n), accepts: make([]bool, n), takes: make([]bool, n)}
	k.mark, k.grows = in.needs(g, external)
	for i, c := range in.chassis {
		k.eligible[i] = ineligible(c, g, k.mark).IsZero()
		switch {
		case !k.eligible[i]:
		case unavailable(c) != "":
			k.unschedulable = append(k.unschedulable, i)
		default:
			k.accepts[i], k.takes[i] = true, k.grows
			if k.takes[i] {
				k.schedulable = append(k.schedulable, i)
			}
		}
	}
	if g.Kind != RouterPorts && g.Owner != Other && len(g.Zones) == 0 {
		k.preferUnzoned(in.chassis)
	}
	k.serves = slices.Clone(k.eligible)
	for i, c := range in.chassis {
		k.serves[i] = k.eligible[i] && c.lacks(behind) == ""
	}
	if !slices.Contains(k.serves, true) {
		k.serves = k.eligible
	}
	in.classes[key] = k
	return k
}
