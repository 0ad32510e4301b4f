package schedule

import (
	"slices"
	"strings"
)

// Owner is the client whose rules decide which chassis may host a group: docs/reference/gateway-hosts.md.
type Owner int

// The owners.
const (
	// Neutron takes only marked chassis. While none is marked, gateways may stay where they are.
	Neutron Owner = iota
	// EarlierNeutron takes the marked chassis that have the network or, if there is none, all that have the network.
	EarlierNeutron
	// Other is any other client, or a person: the network alone counts.
	Other
)

// Kind is what the ports of a group are. The kinds of external ports differ in where Neutron hosts them.
type Kind int

// The kinds. Those of external ports differ in what Neutron has them hosted by.
const (
	// RouterPorts are gateways of routers.
	RouterPorts Kind = iota
	// ExternalPorts are those of a network: on chassis for external ports if there are any, unless the members of the
	// group are chassis for gateways.
	ExternalPorts
	// OneExternalPort is a port with a group of its own: on chassis for external ports.
	OneExternalPort
	// RoutedExternalPorts are those of a network whose group Neutron has tied to a router: on chassis for gateways.
	RoutedExternalPorts
)

// mark is what a chassis must have besides the network.
type mark int

const (
	noMark mark = iota
	gatewayMark
	externalMark
)

func (m mark) missing(c Chassis) string {
	switch {
	case m == gatewayMark && !c.Gateway:
		return "it has no enable-chassis-as-gw"
	case m == externalMark && !c.External:
		return "it has no enable-chassis-as-extport-host"
	}
	return ""
}

func anyChassis(all []Chassis, is func(Chassis) bool) bool {
	return slices.ContainsFunc(all, func(c Chassis) bool { return !c.Remote && is(c) })
}

// needs returns the mark that a chassis needs to host a group, and whether the group may get new chassis. external
// reports whether it is for external-port hosts.
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

// unconnected returns the first network of the group that the chassis lacks, in words; empty if it lacks none. One of a
// port's networks is enough: each chassis has one of those of a switch (ovn-architecture(7)).
func (g Group) unconnected(c Chassis) string {
	for _, p := range g.Ports {
		if p.Network != "" && !c.connected(p.Network) {
			return strings.ReplaceAll(p.Network, networkSeparator, " or ")
		}
	}
	return ""
}

const networkSeparator = ","

func (c Chassis) connected(networks string) bool {
	for n := range strings.SplitSeq(networks, networkSeparator) {
		if slices.Contains(c.Networks, n) {
			return true
		}
	}
	return false
}

// JoinNetworks returns a set of networks in the form of [Port.Network].
func JoinNetworks(names []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), networkSeparator)
}

// ineligible returns why a chassis may not host a group that needs a mark; empty if it may.
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
