package gateway

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// topology is how routers, switches and provider networks hang together.
type topology struct {
	// routerOf is the router of a router port, by the port's UUID; switchOf the UUID of
	// the switch of a switch port.
	routerOf map[string]ovsdb.LogicalRouter
	switchOf map[string]string
	// networkOf is the provider network that a router port is connected to, by its name.
	networkOf map[string]string
	// routersOn are the UUIDs of the routers that are connected to a switch.
	routersOn map[string][]string
	// groupOf is the name of the group of a router's gateways, as the planner calls it.
	groupOf map[string]string
	// external are the external ports of an HA_Chassis_Group, by its UUID.
	external map[string][]ovsdb.LogicalSwitchPort
}

func newTopology(nb ovsdb.Northbound) *topology {
	t := &topology{
		routerOf: map[string]ovsdb.LogicalRouter{}, switchOf: map[string]string{}, networkOf: map[string]string{},
		routersOn: map[string][]string{}, groupOf: map[string]string{}, external: map[string][]ovsdb.LogicalSwitchPort{},
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

// connect follows the ports of switches: those of type localnet name the provider
// network, those of type router a router's port (ovn-nb(5)).
func (t *topology) connect(nb ovsdb.Northbound) {
	provided, byName := map[string]string{}, map[string]ovsdb.LogicalRouterPort{}
	for _, p := range nb.SwitchPorts {
		if network := p.Options["network_name"]; p.Type == "localnet" && network != "" {
			provided[t.switchOf[p.UUID]] = network
		}
	}
	for _, p := range nb.RouterPorts {
		byName[p.Name] = p
	}
	for _, p := range nb.SwitchPorts {
		on := t.switchOf[p.UUID]
		switch p.Type {
		case "router":
			port := p.Options["router-port"]
			if provided[on] != "" {
				t.networkOf[port] = provided[on]
			}
			if router := t.routerOf[byName[port].UUID].UUID; router != "" && !slices.Contains(t.routersOn[on], router) {
				t.routersOn[on] = append(t.routersOn[on], router)
			}
		case "external":
			if p.Group != "" {
				t.external[p.Group] = append(t.external[p.Group], p)
			}
		}
	}
}
