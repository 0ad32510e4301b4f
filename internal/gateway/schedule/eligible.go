package schedule

import (
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// The owners.
const (
	// Neutron uses only marked chassis. While none is marked, gateways may stay where they are.
	Neutron Owner = iota
	// EarlierNeutron uses the marked chassis that have the network. If no chassis is marked, it uses all that have the
	// network.
	EarlierNeutron
	// Other is any other client, or a person: only the network counts.
	Other
)

// The kinds. Those of external ports differ in which chassis Neutron uses for them.
const (
	// RouterPorts are gateways of routers.
	RouterPorts Kind = iota
	// ExternalPorts are the external ports of a network. They go to chassis for external ports if there are any, unless
	// the members of the group are chassis for gateways.
	ExternalPorts
	// OneExternalPort is an external port with a group of its own. It goes to chassis for external ports.
	OneExternalPort
	// RoutedExternalPorts are the external ports of a network whose group Neutron has tied to a router. They go to chassis
	// for gateways.
	RoutedExternalPorts
)

// mark is what a chassis needs besides the network.
type mark int

const (
	noMark mark = iota
	gatewayMark
	externalMark
)

// missing returns the mark that the chassis lacks, as a reason; empty if it lacks none.
func (m mark) missing(c Chassis) finding.ReasonCode {
	switch {
	case m == gatewayMark && !c.Gateway:
		return finding.ChassisUnmarked
	case m == externalMark && !c.External:
		return finding.ChassisNotExternal
	}
	return ""
}

func anyChassis(all []Chassis, is func(Chassis) bool) bool {
	return slices.ContainsFunc(all, func(c Chassis) bool { return !c.Remote && is(c) })
}

// networked reports whether a port of the group has a provider network: an external port, or a router's port.
func (g Group) networked(external bool) bool {
	return slices.ContainsFunc(g.Ports, func(p Port) bool { return p.External == external && p.Network != "" })
}

// goesAlong reports whether a port goes where the other ports of the group can be.
func (g Group) goesAlong(p Port) bool { return p.External || p.Network == "" && g.networked(false) }

func (g Group) networks() []string {
	all := make([]string, 0, 1)
	for _, p := range g.Ports {
		all = append(all, p.Network)
	}
	return all
}

// unconnected returns the first network of the group that the chassis lacks ([Chassis.lacks]).
func (g Group) unconnected(c Chassis) string { return c.lacks(g.networks()) }

// lacks returns the first of these networks that the chassis lacks, in words; it is empty if the chassis lacks none.
// For a port with several networks one is enough: each chassis has one network of a switch (ovn-architecture(7)).
func (c Chassis) lacks(networks []string) string {
	for _, joined := range networks {
		if joined != "" && !isOf(c.Networks, joined) {
			return strings.ReplaceAll(joined, networkSeparator, " or ")
		}
	}
	return ""
}

// needing returns a group with a port in each of the networks.
func needing(networks ...string) (g Group) {
	for _, network := range networks {
		g.Ports = append(g.Ports, Port{Network: network})
	}
	return g
}

const networkSeparator = ","

// isOf reports whether the networks of a port, in the form of [Port.Network], have one of some.
func isOf(some []string, joined string) bool {
	for n := range strings.SplitSeq(joined, networkSeparator) {
		if slices.Contains(some, n) {
			return true
		}
	}
	return slices.Contains(some, joined)
}

// JoinNetworks returns a set of networks in the form of [Port.Network].
func JoinNetworks(names []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), networkSeparator)
}

// alien returns as a reason why a chassis hosts nothing of this OVN's routers; it is empty if it may.
func (c Chassis) alien() finding.ReasonCode {
	switch {
	case c.Remote:
		return finding.ChassisRemote
	case c.VTEP:
		return finding.ChassisVTEP
	}
	return ""
}

// responds reports whether an ovn-controller of this OVN does.
func (c Chassis) responds() bool { return c.alien() == "" && !c.Unresponsive }

// takesOver reports whether the chassis can take over a gateway that it may host.
func (c Chassis) takesOver() bool { return c.responds() && !c.Cordoned }

// ineligible returns why a chassis may not host a group that needs a mark; no reason if the chassis may.
func ineligible(c Chassis, g Group, m mark) finding.Reason {
	if why := c.alien(); why != "" {
		return finding.Reason{Code: why}
	}
	if why := m.missing(c); why != "" {
		return finding.Reason{Code: why}
	}
	if network := g.unconnected(c); network != "" {
		return finding.Reason{Code: finding.ChassisUnconnected, Value: network}
	}
	if slices.Contains(g.Machines, c.Name) || slices.Contains(g.Machines, c.Hostname) {
		return finding.Reason{Code: finding.ChassisOfMachine}
	}
	if len(g.Zones) > 0 && !slices.ContainsFunc(g.Zones, func(z string) bool { return slices.Contains(c.Zones, z) }) {
		zones := strings.Join(slices.Sorted(slices.Values(g.Zones)), ", ")
		return finding.Reason{Code: finding.ChassisOutside, Value: zones}
	}
	return finding.Reason{}
}

// Unavailable returns why a chassis can take nothing over; no reason if the chassis can.
func (s State) Unavailable(chassis string) finding.Reason {
	at := slices.IndexFunc(s.Chassis, func(c Chassis) bool { return c.Name == chassis })
	if at < 0 {
		return finding.Reason{Code: finding.ChassisMissing}
	}
	return finding.Reason{Code: unavailable(s.Chassis[at])}
}

// orUnavailable returns why a chassis may not host something or, if it may, why it is unschedulable.
func orUnavailable(why finding.Reason, c Chassis) finding.Reason {
	if why.IsZero() {
		why.Code = unavailable(c)
	}
	return why
}

// unavailable returns why a chassis is unschedulable; it is empty if the chassis is schedulable.
func unavailable(c Chassis) finding.ReasonCode {
	switch {
	case c.Unresponsive:
		return finding.ChassisSilent
	case c.Cordoned:
		return finding.ChassisCordoned
	}
	return ""
}
