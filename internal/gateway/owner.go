package gateway

import (
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// Keys that Neutron sets (neutron/common/ovn/constants.py), by release in docs/reference/gateway-hosts.md.
const (
	neutronKeys = "neutron:"
	// gatewayKey is true of a gateway, and false of other ports of a router; it came with the rule that only marked
	// chassis host gateways.
	gatewayKey = "neutron:is_ext_gw"
	// gatewayPortKey is, of a router, the UUID of its gateway's Neutron port.
	gatewayPortKey = "neutron:gw_port_id"
	zoneHintsKey   = "neutron:availability_zone_hints"
	routerIDKey    = "neutron:router_id"
	// namePrefix is before the UUID of a router or network in the name of its row and group, portPrefix before that of a
	// router port, externalPrefix before that of an external port in the name of its group.
	namePrefix     = "neutron-"
	portPrefix     = "lrp-"
	externalPrefix = "neutron-extport-"
)

func neutrons(ids map[string]string) bool {
	for key := range ids {
		if strings.HasPrefix(key, neutronKeys) {
			return true
		}
	}
	return false
}

// ownerOf is the client that a group belongs to, by the names and external IDs of its row, its ports and their routers.
// Gateways of Neutron up to 2023.2 lack [gatewayKey]; a later one adds it to all when it starts.
func (t *topology) ownerOf(group ovsdb.HAChassisGroup, ports ...ovsdb.LogicalRouterPort) schedule.Owner {
	owned, earlier := strings.HasPrefix(group.Name, namePrefix) || neutrons(group.ExternalIDs), false
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

// isGateway reports whether a port without candidates is a gateway, by what Neutron writes in its row and its router's.
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

func externalKind(row ovsdb.HAChassisGroup) schedule.Kind {
	switch {
	case strings.HasPrefix(row.Name, externalPrefix):
		return schedule.OneExternalPort
	case row.ExternalIDs[routerIDKey] != "":
		return schedule.RoutedExternalPorts
	}
	return schedule.ExternalPorts
}
