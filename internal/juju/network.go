package juju

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// Network is where an endpoint of this unit is reached. All lists are in Juju's order without duplicates.
type Network struct {
	// Bind are the unit's addresses in the endpoint's space, to listen on and to publish to peers. Juju prefers the
	// first.
	Bind []netip.Addr
	// Ingress are the addresses at which others reach the unit. They differ from Bind only behind address translation.
	Ingress []netip.Addr
	// Hostnames are the names that Juju returns instead of addresses, or with them.
	Hostnames []string
	// Subnets are the networks of the addresses of Bind, as far as Juju knows them.
	Subnets map[netip.Addr]netip.Prefix
}

// networkInfo is the answer of network-get. A host name is in hostname, with its resolved address in value, which is
// empty if there is none; an older agent puts the name itself into value. Source: jujuc/network-get.go and the
// controller's apiserver/facades/agent/uniter/networkinfo.go.
type networkInfo struct {
	Bind []struct {
		Addresses []struct {
			Hostname string `json:"hostname"`
			Value    string `json:"value"`
			CIDR     string `json:"cidr"`
		} `json:"addresses"`
	} `json:"bind-addresses"`
	Ingress []string `json:"ingress-addresses"`
}

// NetworkGet returns the addresses of an endpoint, in the space to which the operator bound it. The ingress addresses
// are those for the relation with the given ID, or with "" those for any relation. Bind is empty while the machine
// has no address in that space, or only names that Juju can't resolve. If the relation is unknown, the error is
// [ErrNotFound].
func (t *Tools) NetworkGet(ctx context.Context, binding, relationID string) (Network, error) {
	args := []string{binding}
	if relationID != "" {
		args = []string{"-r", relationID, binding}
	}
	var info networkInfo
	err := t.queryOnce(ctx, &info, "network-get", args...)
	if err != nil && !errors.Is(err, errNoNetwork) {
		return Network{}, fmt.Errorf("cannot read the network of %s: %w", binding, err)
	}
	return info.network(), nil
}

func (i networkInfo) network() Network {
	var n Network
	for _, device := range i.Bind {
		for _, address := range device.Addresses {
			n.Bind = n.add(n.Bind, address.Value)
			n.addSubnet(address.Value, address.CIDR)
			n.addName(address.Hostname)
		}
	}
	for _, address := range i.Ingress {
		n.Ingress = n.add(n.Ingress, address)
	}
	return n
}

// add adds an address to a list, and any other text to the names. It drops a link-local address (fe80::1, with a zone
// or without), which has no meaning on other machines.
func (n *Network) add(list []netip.Addr, text string) []netip.Addr {
	address, err := netip.ParseAddr(text)
	switch address = address.Unmap(); {
	case err != nil:
		n.addName(text)
	case address.Zone() != "" || address.Is6() && address.IsLinkLocalUnicast():
	case !slices.Contains(list, address):
		list = append(list, address)
	}
	return list
}

// addSubnet keeps an address's largest network: Juju may also list a virtual address in a network of its own.
func (n *Network) addSubnet(value, cidr string) {
	address, err := netip.ParseAddr(value)
	subnet, bad := netip.ParsePrefix(cidr)
	address = address.Unmap()
	if err != nil || bad != nil || !slices.Contains(n.Bind, address) {
		return
	}
	if known, found := n.Subnets[address]; found && known.Bits() <= subnet.Bits() {
		return
	}
	if n.Subnets == nil {
		n.Subnets = map[netip.Addr]netip.Prefix{}
	}
	n.Subnets[address] = subnet
}

func (n *Network) addName(name string) {
	// Juju may repeat an address as a host name.
	if _, err := netip.ParseAddr(name); err != nil && name != "" && !slices.Contains(n.Hostnames, name) {
		n.Hostnames = append(n.Hostnames, name)
	}
}

// The suitability of an address, best first.
const (
	inSubnet = iota
	inUnknownSubnet
	// alone is an address in a network of its own (/32, /128), as keepalived and Pacemaker add it. It may move to
	// another machine at any time.
	alone
	notOffered
)

// Choose returns the address at which others should reach the unit; the zero address if nothing is offered. If Juju
// offers an address in use, or the machine has it, Choose returns that. Otherwise it prefers an address in a subnet,
// and takes an address that is alone in its network last. Among equal addresses, it prefers the family of the first
// offered one, then Juju's order, which is the order of offered.
//
// better is the address that a new unit would choose, if the one in use is no longer offered or is alone in its
// network. The address in use is kept nevertheless: a member's address can't be changed.
func (n Network) Choose(offered, inUse, machine []netip.Addr) (chosen, better netip.Addr) {
	suited := func(a netip.Addr) int {
		subnet, known := n.Subnets[a]
		switch {
		case !slices.Contains(offered, a):
			return notOffered
		case !known:
			return inUnknownSubnet
		case subnet.IsSingleIP():
			return alone
		}
		return inSubnet
	}
	if len(offered) > 0 {
		family := offered[0].Is6()
		chosen = slices.MinFunc(offered, func(a, b netip.Addr) int { // the first of equal ones
			if d := suited(a) - suited(b); d != 0 || a.Is6() == b.Is6() {
				return d
			} else if a.Is6() == family {
				return -1
			}
			return 1
		})
	}
	for _, used := range inUse {
		if !slices.Contains(offered, used) && !slices.Contains(machine, used) {
			continue
		}
		if suited(used) >= alone && suited(chosen) < suited(used) {
			better = chosen
		}
		return used, better
	}
	return chosen, better
}
