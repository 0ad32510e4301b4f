package gateway

import (
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// topology is how routers, switches and provider networks hang together.
type topology struct {
	// routerOf is the router of a router port, by the port's UUID; switchOf the UUID of
	// the switch of a switch port.
	routerOf map[string]ovsdb.LogicalRouter
	switchOf map[string]string
	// networkOf are the provider networks that a router port is connected to, by its name; networksOn those of a switch,
	// by its UUID. [schedule.JoinNetworks] has joined them.
	networkOf, networksOn map[string]string
	// routersOn are the UUIDs of the routers that are connected to a switch.
	routersOn map[string][]string
	// groupOf is the name of the group of a router's gateways, as the planner calls it.
	groupOf map[string]string
	// external are the external ports of an HA_Chassis_Group, by its UUID; those that have none are under no UUID.
	external map[string][]ovsdb.LogicalSwitchPort
	// gatewayPeers are the names of router ports of which the switch port is one that Neutron gives gateways alone.
	gatewayPeers map[string]bool
}

func newTopology(nb ovsdb.Northbound, sb ovsdb.Southbound) *topology {
	t := &topology{
		routerOf: map[string]ovsdb.LogicalRouter{}, switchOf: map[string]string{}, networkOf: map[string]string{},
		routersOn: map[string][]string{}, groupOf: map[string]string{}, external: map[string][]ovsdb.LogicalSwitchPort{},
		networksOn: map[string]string{}, gatewayPeers: map[string]bool{},
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
	t.provide(nb, sb)
	t.connect(nb)
	groups := map[string]string{}
	for _, g := range nb.Groups {
		groups[g.UUID] = g.Name
	}
	for _, p := range nb.RouterPorts {
		router := t.routerOf[p.UUID].UUID
		name, isGroup := groups[p.Group]
		if !isGroup && len(p.GatewayChassis) > 0 {
			name = p.Name
		}
		if name != "" && (t.groupOf[router] == "" || name < t.groupOf[router]) {
			t.groupOf[router] = name
		}
	}
	return t
}

// routers are those of the ports, each once.
func (t *topology) routers(ports ...ovsdb.LogicalRouterPort) (all []ovsdb.LogicalRouter) {
	for _, p := range ports {
		r, found := t.routerOf[p.UUID]
		if found && !slices.ContainsFunc(all, func(x ovsdb.LogicalRouter) bool { return x.UUID == r.UUID }) {
			all = append(all, r)
		}
	}
	return all
}

// provide notes the provider networks of each switch: those of its ports of type localnet (ovn-nb(5)) that any chassis is
// connected to; if none is to any, all of them.
func (t *topology) provide(nb ovsdb.Northbound, sb ovsdb.Southbound) {
	mapped := map[string]bool{}
	for _, c := range sb.Chassis {
		for _, mapping := range items(c.Config["ovn-bridge-mappings"], ",") {
			if network, _, found := strings.Cut(mapping, ":"); found && !c.Remote() {
				mapped[foreign.Name(network)] = true
			}
		}
	}
	provided := map[string][]string{}
	for _, p := range nb.SwitchPorts {
		if network := p.Options["network_name"]; p.Type == "localnet" && network != "" && !strings.Contains(network, ",") {
			provided[t.switchOf[p.UUID]] = append(provided[t.switchOf[p.UUID]], network)
		}
	}
	for on, all := range provided {
		known := slices.DeleteFunc(slices.Clone(all), func(n string) bool { return !mapped[n] })
		if len(known) == 0 {
			known = all
		}
		t.networksOn[on] = schedule.JoinNetworks(known)
	}
}

// connect follows the ports of switches: those of type router name a router's port (ovn-nb(5)).
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
			if t.networksOn[on] != "" {
				t.networkOf[port] = t.networksOn[on]
			}
			t.gatewayPeers[port] = t.gatewayPeers[port] || p.Gateway || p.Options["nat-addresses"] == "router"
			if router := t.routerOf[byName[port].UUID].UUID; router != "" && !slices.Contains(t.routersOn[on], router) {
				t.routersOn[on] = append(t.routersOn[on], router)
			}
		case "external":
			t.external[p.Group] = append(t.external[p.Group], p)
		}
	}
}
