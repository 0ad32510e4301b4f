package gateway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// topology holds the connections between routers, switches and provider networks.
type topology struct {
	// routerOf has the router of a router port, switchOf the UUID of a switch port's switch, both by the UUID of the port.
	routerOf map[string]ovsdb.LogicalRouter
	switchOf map[string]string
	// networkOf has the provider networks of a router port, by its name. networksOn has those of a switch, by its UUID.
	// Both are joined by [schedule.JoinNetworks].
	networkOf, networksOn map[string]string
	// provided has the networks that the localnet ports of a switch name, sorted, by the switch's UUID.
	provided map[string][]string
	// mapped has the switches of which a chassis of this OVN has a provider network, used those with a gateway, a pinned
	// router or an external port, both by their UUIDs.
	mapped, used map[string]bool
	// routersOn has the UUIDs of the routers that are connected to a switch by a port that is no gateway: such a router
	// is the way out of the switch.
	routersOn map[string][]string
	// groupOf has the group of a router's gateways, by the planner's name. For a pinned router it is the router's name.
	groupOf map[string]string
	// external has the external ports of an HA_Chassis_Group, by its UUID; those without a group are under "".
	external map[string][]ovsdb.LogicalSwitchPort
	// peersOf has the names of the switch ports that are connected to a router port, by its name.
	peersOf map[string][]string
	// behind has the networks of a router's ports that reach its gateway only by a localnet port of the gateway's chassis,
	// by the router's UUID.
	behind map[string][]string
	// gatewayPeers has the router ports whose switch port has the form that Neutron uses for gateways only.
	gatewayPeers map[string]bool
}

func newTopology(nb ovsdb.Northbound, chassis []schedule.Chassis) *topology {
	t := &topology{
		routerOf: map[string]ovsdb.LogicalRouter{}, switchOf: map[string]string{}, networkOf: map[string]string{},
		routersOn: map[string][]string{}, groupOf: map[string]string{}, external: map[string][]ovsdb.LogicalSwitchPort{},
		networksOn: map[string]string{}, gatewayPeers: map[string]bool{},
		provided: map[string][]string{}, peersOf: map[string][]string{}, behind: map[string][]string{},
		mapped: map[string]bool{}, used: map[string]bool{},
	}
	for _, r := range nb.Routers {
		for _, port := range r.Ports {
			t.routerOf[port] = r
		}
	}
	for _, s := range nb.Switches {
		for _, port := range s.Ports {
			t.switchOf[port] = s.UUID
		}
	}
	t.provide(nb, chassis)
	t.connect(nb)
	t.centralize(nb)
	groups := map[string]string{}
	for _, g := range nb.Groups {
		groups[g.UUID] = g.Name
	}
	for _, p := range nb.RouterPorts {
		router := t.routerOf[p.UUID].UUID
		name, isGroup := groups[p.Group]
		switch {
		case p.Switchless: // such a router can have one for each chassis, as that of Neutron's BGP
			continue
		case t.routerOf[p.UUID].Pinned:
			name = t.routerOf[p.UUID].Name
		case !isGroup && len(p.GatewayChassis) > 0:
			name = p.Name
		}
		if name != "" && (t.groupOf[router] == "" || name < t.groupOf[router]) {
			t.groupOf[router] = name
		}
	}
	return t
}

func (t *topology) routers(ports ...ovsdb.LogicalRouterPort) (all []ovsdb.LogicalRouter) {
	for _, p := range ports {
		r, found := t.routerOf[p.UUID]
		if found && !slices.ContainsFunc(all, func(x ovsdb.LogicalRouter) bool { return x.UUID == r.UUID }) {
			all = append(all, r)
		}
	}
	return all
}

// provide records the provider networks of each switch. These are the networks of its localnet ports (ovn-nb(5)) that
// any chassis is connected to or, if no chassis is, all of them.
func (t *topology) provide(nb ovsdb.Northbound, chassis []schedule.Chassis) {
	mapped := map[string]bool{}
	for _, c := range chassis {
		for _, network := range c.Networks {
			mapped[network] = mapped[network] || !c.Remote
		}
	}
	for _, p := range nb.SwitchPorts {
		if network := p.Options["network_name"]; p.Type == "localnet" && network != "" && !strings.Contains(network, ",") {
			t.provided[t.switchOf[p.UUID]] = append(t.provided[t.switchOf[p.UUID]], network)
		}
	}
	for on, all := range t.provided {
		slices.Sort(all)
		all = slices.Compact(all)
		t.provided[on] = all
		known := slices.DeleteFunc(slices.Clone(all), func(n string) bool { return !mapped[n] })
		if t.mapped[on] = len(known) > 0; !t.mapped[on] {
			known = all
		}
		t.networksOn[on] = schedule.JoinNetworks(known)
	}
}

// connect follows the ports of switches: those of type router name a router port (ovn-nb(5)).
func (t *topology) connect(nb ovsdb.Northbound) {
	byName := map[string]ovsdb.LogicalRouterPort{}
	for _, p := range nb.RouterPorts {
		byName[p.Name] = p
	}
	for _, p := range nb.SwitchPorts {
		on := t.switchOf[p.UUID]
		switch p.Type {
		case "router":
			port := p.Options["router-port"]
			if len(t.peersOf[port]) == 0 {
				t.networkOf[port] = t.networksOn[on]
			} else if t.networkOf[port] != t.networksOn[on] { // OVN connects the port to any one of them
				t.networkOf[port] = ""
			}
			t.peersOf[port] = append(t.peersOf[port], p.Name)
			t.gatewayPeers[port] = t.gatewayPeers[port] || p.Gateway || p.Options["nat-addresses"] == "router"
			router := t.routerOf[byName[port].UUID]
			t.used[on] = t.used[on] || router.Pinned || t.hasHost(byName[port])
			if router.UUID != "" && !t.hasHost(byName[port]) && !slices.Contains(t.routersOn[on], router.UUID) {
				t.routersOn[on] = append(t.routersOn[on], router.UUID)
			}
		case "external":
			t.used[on] = true
			t.external[p.Group] = append(t.external[p.Group], p)
		}
	}
}

// centralize records the networks behind the gateway of each router. OVN ignores both options of the ports if a router
// has several gateways (reside-on-redirect-chassis and redirect-type in ovn-nb(5)). Neutron sets them for tenant
// networks of type VLAN.
func (t *topology) centralize(nb ovsdb.Northbound) {
	gateways, bridged := map[string]int{}, map[string]bool{}
	for _, p := range nb.RouterPorts {
		if router := t.routerOf[p.UUID].UUID; t.hasHost(p) {
			gateways[router]++
			bridged[router] = bridged[router] || p.Bridged
		}
	}
	for _, p := range nb.RouterPorts {
		router, network := t.routerOf[p.UUID].UUID, t.networkOf[p.Name]
		if !t.hasHost(p) && network != "" && gateways[router] == 1 && (p.Resides || bridged[router]) {
			t.behind[router] = append(t.behind[router], network)
		}
	}
}

// unconnected finds the gateways that are connected to no switch or by several switch ports, and the switches that have
// no localnet port though their gateways or external ports need one (understack#2330). A Neutron network of another
// type than flat or VLAN has none, nor has a network of another client that OVN tunnels.
func (inv *Inventory) unconnected(t *topology) {
	localnet, external := map[string]bool{}, map[string]bool{}
	for _, p := range inv.NB.SwitchPorts {
		on := t.switchOf[p.UUID]
		localnet[on] = localnet[on] || p.Type == "localnet"
		external[on] = external[on] || p.Type == "external"
	}
	for _, s := range inv.NB.Switches {
		provider := s.NetworkType == "flat" || s.NetworkType == "vlan"
		if !localnet[s.UUID] && (external[s.UUID] || t.used[s.UUID] && provider) {
			inv.find(finding.LocalnetMissing, s.Name, finding.Args{})
		}
	}
	for _, p := range inv.NB.RouterPorts {
		switch peers := t.peersOf[p.Name]; {
		case !t.hasHost(p):
		case len(peers) > 1:
			inv.find(finding.GatewayPluggedTwice, p.Name, finding.Args{Count: len(peers), Detail: firstOf(peers)})
		case len(peers) == 0 && !p.Switchless:
			inv.find(finding.GatewayUnplugged, p.Name, finding.Args{})
		}
	}
}

// joined finds the switches of which a chassis maps several networks. ovn-controller connects all of them, so
// that broadcasts pass from one network to the other, and sends to other chassis through any one of them
// (add_bridge_mappings_by_type in controller/patch.c, update_ld_localnet_port in controller/binding.c).
func (inv *Inventory) joined(t *topology) {
	for _, s := range inv.NB.Switches {
		networks := t.provided[s.UUID]
		if !t.used[s.UUID] || len(networks) < 2 {
			continue
		}
		var several []string
		for _, c := range inv.State.Chassis {
			mapped := slices.DeleteFunc(slices.Clone(networks), func(n string) bool { return !slices.Contains(c.Networks, n) })
			if !c.Remote && len(mapped) > 1 {
				several = append(several, c.Name)
			}
		}
		if len(several) > 0 {
			slices.SortFunc(several, schedule.CompareNames)
			inv.find(finding.NetworksJoined, s.Name, finding.Args{
				Count: len(several), Value: strings.Join(networks, ", "), Detail: firstOf(several),
			})
		}
	}
}

// localnets finds the localnet ports through which no chassis reaches the provider network of a gateway. OVN binds the
// gateway nevertheless; ovn-controller only logs that a port has no network name, or that it finds no bridge for it
// (add_bridge_mappings_by_type in controller/patch.c).
func (inv *Inventory) localnets(t *topology) {
	for _, p := range inv.NB.SwitchPorts {
		if on := t.switchOf[p.UUID]; p.Type == "localnet" && t.used[on] && !t.mapped[on] {
			network := fmt.Sprintf("%q", foreign.Name(p.Options["network_name"]))
			inv.find(finding.LocalnetUnmapped, p.Name, finding.Args{Value: network})
		}
	}
}

// Keys that Neutron sets (neutron/common/ovn/constants.py), by release in docs/reference/gateway-hosts.md.
const (
	neutronKeys = "neutron:"
	// gatewayKey is true for a gateway, and false for other ports of a router. It came with the rule that only marked
	// chassis host gateways.
	gatewayKey = "neutron:is_ext_gw"
	// gatewayPortKey, on a router, is the UUID of the Neutron port of its gateway.
	gatewayPortKey = "neutron:gw_port_id"
	zoneHintsKey   = "neutron:availability_zone_hints"
	routerIDKey    = "neutron:router_id"
	// The prefixes in the names of rows: namePrefix comes before the UUID of a router or network, in the name of its row
	// and of its group; portPrefix before the UUID of a router port; externalPrefix before the UUID of an external port,
	// in the name of its group.
	namePrefix     = "neutron-"
	portPrefix     = "lrp-"
	externalPrefix = "neutron-extport-"
	// The prefixes in the names of pinned routers that clients make for each node: ovn-kubernetes (GWRouterPrefix in
	// go-controller/pkg/types/const.go), and BGP of Neutron (get_chassis_router_name in neutron/services/bgp/helpers.py).
	nodePrefix = "GR_"
	bgpPrefix  = "bgp-lr-"
	// defaultGroup is the name of the group of all external ports, in Neutron up to 17.0. Neutron makes the group even if
	// no external port exists.
	defaultGroup = "default_ha_chassis_group"
)

func neutrons(ids map[string]string) bool {
	for key := range ids {
		if strings.HasPrefix(key, neutronKeys) {
			return true
		}
	}
	return false
}

// ownerOf returns the client that owns a group, judged by the names and external IDs of its row, its ports, their
// routers, and its external ports. Gateways of Neutron up to 2023.2 lack [gatewayKey]; a later Neutron adds it to all
// when it starts.
func (t *topology) ownerOf(group ovsdb.HAChassisGroup, ports ...ovsdb.LogicalRouterPort) schedule.Owner {
	named := strings.HasPrefix(group.Name, namePrefix) || group.Name == defaultGroup
	owned, earlier := named || neutrons(group.ExternalIDs), false
	for _, p := range t.external[group.UUID] {
		owned = owned || group.UUID != "" && neutrons(p.ExternalIDs)
	}
	for _, p := range ports {
		router := t.routerOf[p.UUID]
		owned = owned || strings.HasPrefix(router.Name, namePrefix) || neutrons(p.ExternalIDs) || neutrons(router.ExternalIDs)
		_, later := p.ExternalIDs[gatewayKey]
		earlier = earlier || !later
	}
	switch {
	case !owned:
		return schedule.Other
	case earlier:
		return schedule.EarlierNeutron
	}
	return schedule.Neutron
}

// isGateway reports whether a port without candidates is a gateway, judged by what Neutron writes in its row and its
// router's.
func (t *topology) isGateway(p ovsdb.LogicalRouterPort) bool {
	router := t.routerOf[p.UUID].ExternalIDs
	says, known := p.ExternalIDs[gatewayKey]
	switch {
	case known:
		return strings.EqualFold(says, "true")
	case router[gatewayPortKey] != "":
		return p.Name == portPrefix+router[gatewayPortKey]
	}
	return t.gatewayPeers[p.Name] && (neutrons(p.ExternalIDs) || neutrons(router))
}

// hasHost reports whether a port is a gateway, with candidates or without.
func (t *topology) hasHost(p ovsdb.LogicalRouterPort) bool {
	return p.Group != "" || len(p.GatewayChassis) > 0 || t.isGateway(p)
}

func externalKind(row ovsdb.HAChassisGroup) schedule.Kind {
	switch {
	case strings.HasPrefix(row.Name, externalPrefix):
		return schedule.OneExternalPort
	case row.ExternalIDs[routerIDKey] != "":
		return schedule.RoutedExternalPorts
	}
	return schedule.ExternalPorts
}
