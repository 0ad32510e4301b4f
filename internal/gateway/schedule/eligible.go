package schedule

import (
	"slices"
	"strings"
)

// Owner is the client whose rules decide which chassis may host a group. docs/reference/gateway-hosts.md has the
// rules, and where each comes from.
type Owner int

// The owners.
const (
	// Neutron takes marked chassis alone. While none is marked, what hosts a gateway may stay.
	Neutron Owner = iota
	// EarlierNeutron takes the marked chassis that have the network; if there is none, all that have the network.
	EarlierNeutron
	// Other is any other client, or a person: the network alone counts.
	Other
)

// Kind is what the ports of a group are.
type Kind int

// The kinds. Those of external ports differ in what Neutron has them hosted by.
const (
	// RouterPorts are gateways of routers.
	RouterPorts Kind = iota
	// ExternalPorts are those of a network: on chassis for external ports if there are any, unless its members are
	// chassis for gateways.
	ExternalPorts
	// OneExternalPort is a port that has a group of its own: on chassis for external ports.
	OneExternalPort
	// RoutedExternalPorts are those of a network whose group Neutron has tied to a router: on chassis for gateways.
	RoutedExternalPorts
)

// mark is what a chassis must have beside the network.
type mark int

const (
	noMark mark = iota
	gatewayMark
	externalMark
)

// missing is why a chassis does not have the mark; empty if it does.
func (m mark) missing(c Chassis) string {
	switch {
	case m == gatewayMark && !c.Gateway:
		return "it has no enable-chassis-as-gw"
	case m == externalMark && !c.External:
		return "it has no enable-chassis-as-extport-host"
	}
	return ""
}

// anyChassis reports whether it is true of a chassis of this OVN.
func anyChassis(all []Chassis, is func(Chassis) bool) bool {
	return slices.ContainsFunc(all, func(c Chassis) bool { return !c.Remote && is(c) })
}

// needs returns the mark that a chassis must have to host a group of the class, and whether such groups get new
// chassis at all; external reports whether they are for chassis for external ports.
func (in *instance) needs(g Group, external bool) (m mark, grows bool) {
	switch {
	case g.Kind != RouterPorts && !g.networked():
		return noMark, false // nothing is known of which chassis could host it
	case g.Owner == Other:
		return noMark, true
	case external:
		return externalMark, true
	case g.Kind != RouterPorts || g.Owner == Neutron:
		if in.marked {
			return gatewayMark, true
		}
		return noMark, false
	case anyChassis(in.chassis, func(c Chassis) bool { return c.Gateway && g.unconnected(c) == "" }):
		return gatewayMark, true
	}
	return noMark, true
}

// onExternalHosts reports whether a group of external ports is for chassis with the mark for them.
func (in *instance) onExternalHosts(g Group) bool {
	switch {
	case g.Kind == RouterPorts || g.Kind == RoutedExternalPorts || g.Owner == Other || !in.external:
		return false
	case g.Kind == OneExternalPort:
		return true
	}
	gateways := false
	for _, x := range g.Candidates {
		if n, found := in.number[x.Chassis]; found && !in.chassis[n].Remote {
			if in.chassis[n].External {
				return true
			}
			gateways = gateways || g.unconnected(in.chassis[n]) == "" && (in.chassis[n].Gateway || !in.marked)
		}
	}
	return !gateways
}

func (g Group) networked() bool {
	return slices.ContainsFunc(g.Ports, func(p Port) bool { return p.Network != "" })
}

// unconnected is the first network of the group that the chassis is not connected to, in words; empty if there is none.
// Of a port's networks one is enough (ovn-architecture(7): each chassis has one of those of a switch).
func (g Group) unconnected(c Chassis) string {
	for _, p := range g.Ports {
		if p.Network != "" && !c.connected(p.Network) {
			return strings.ReplaceAll(p.Network, networkSeparator, " or ")
		}
	}
	return ""
}

// networkSeparator is what the names of a port's networks are joined by; no name in a bridge mapping has it.
const networkSeparator = ","

// connected reports whether the chassis has one of a port's networks.
func (c Chassis) connected(networks string) bool {
	for n := range strings.SplitSeq(networks, networkSeparator) {
		if slices.Contains(c.Networks, n) {
			return true
		}
	}
	return false
}

// JoinNetworks is the form in which [Port] has a set of networks.
func JoinNetworks(names []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), networkSeparator)
}

// ineligible is why a chassis may not host a group for which it must have a mark; empty if it may.
func ineligible(c Chassis, g Group, m mark) string {
	if c.Remote {
		return "it belongs to another OVN"
	}
	if why := m.missing(c); why != "" {
		return why
	}
	if network := g.unconnected(c); network != "" {
		return "it is not connected to " + network
	}
	if len(g.Zones) > 0 && !slices.ContainsFunc(g.Zones, func(z string) bool { return slices.Contains(c.Zones, z) }) {
		return "it is in none of the zones " + strings.Join(slices.Sorted(slices.Values(g.Zones)), ", ")
	}
	return ""
}

// MayHost are the chassis that may host gateways: those that are marked, and those that may host a group of routers'
// gateways that there is, by the rules of its owner.
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
