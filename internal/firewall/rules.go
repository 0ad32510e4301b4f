// Package firewall keeps the ports of the databases for the machines that need them, by
// the host's ufw: what Raft's members say to each other, and what clients say
// without RBAC, is for the units and the CMS only.
package firewall

import (
	"net/netip"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Comment marks the rules that are the charm's. The charm before this one marked
// its own in the same way, so these are taken over.
const Comment = "charm-ovn-central"

var (
	// peerPorts are what a unit needs of another, in ascending order, as ufw keeps
	// several ports of a rule.
	peerPorts = []uint16{ovndb.NorthboundPort, ovndb.NorthboundRaftPort, ovndb.SouthboundRaftPort, ovndb.AgentPeerPort, ovndb.ManagementPort}
	// clientPorts are what a CMS needs of a unit.
	clientPorts = []uint16{ovndb.NorthboundPort, ovndb.ManagementPort}
	// openPorts are for all addresses, whatever the firewall's default.
	openPorts = []uint16{ovndb.SouthboundPort}
)

// Rules say which addresses may connect to this unit. Others reach only SB's
// client port.
type Rules struct {
	// Peers are the other units' addresses, Clients those of the CMS. This unit's
	// own need not be among them: ufw lets all pass that a machine says to itself.
	Peers, Clients []netip.Addr
}

// grant is one port for one address.
type grant struct {
	port uint16
	from netip.Addr
}

// grants are what the rules allow, by address and port in ascending order.
func (r Rules) grants() []grant {
	var all []grant
	add := func(addrs []netip.Addr, ports []uint16) {
		for _, addr := range addrs {
			for _, port := range ports {
				all = append(all, grant{port, addr.Unmap().WithZone("")})
			}
		}
	}
	add(r.Peers, peerPorts)
	add(r.Clients, clientPorts)
	slices.SortFunc(all, func(a, b grant) int {
		if order := a.from.Compare(b.from); order != 0 {
			return order
		}
		return int(a.port) - int(b.port)
	})
	return slices.Compact(all)
}
