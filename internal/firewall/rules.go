// Package firewall restricts the ports of the databases by the host's ufw: the members' Raft traffic, and client
// traffic without RBAC, is only for the units and the CMS.
package firewall

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Comment marks the charm's rules. The previous charm marked its own in the same way, so these are adopted.
const Comment = "charm-ovn-central"

var (
	// peerPorts are a unit's ports for other units, in ascending order, as ufw stores several ports of a rule.
	peerPorts = []uint16{
		ovndb.NorthboundPort, ovndb.NorthboundRaftPort, ovndb.SouthboundRaftPort, ovndb.AgentPeerPort,
		ovndb.ManagementPort,
	}
	// clientPorts are a unit's ports for a CMS.
	clientPorts = []uint16{ovndb.NorthboundPort, ovndb.ManagementPort}
	// openPorts are for all addresses, for any default of the firewall.
	openPorts = []uint16{ovndb.SouthboundPort}
)

// Rules are the addresses that may connect to this unit. Others reach only SB's client port.
type Rules struct {
	// Peers are the other units' addresses, Clients those of the CMS. ufw does not filter traffic within the machine.
	Peers, Clients []netip.Addr
}

// grant is one port for one address.
type grant struct {
	port uint16
	from netip.Addr
}

// grants returns what the rules allow, by address and port in ascending order.
func (r Rules) grants() []grant {
	var all []grant
	for i, addr := range slices.Concat(r.Peers, r.Clients) {
		ports := peerPorts
		if i >= len(r.Peers) {
			ports = clientPorts
		}
		for _, port := range ports {
			all = append(all, grant{port, addr.Unmap().WithZone("")})
		}
	}
	slices.SortFunc(all, func(a, b grant) int {
		return cmp.Or(a.from.Compare(b.from), cmp.Compare(a.port, b.port))
	})
	return slices.Compact(all)
}
