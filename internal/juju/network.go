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
	// Ingress are the addresses at which others reach the unit; they differ from Bind only behind address translation.
	Ingress []netip.Addr
	// Hostnames are names that Juju returns instead of addresses, or with them.
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

// NetworkGet returns the addresses of an endpoint, in the space to which the operator bound it. With a relation's ID
// the ingress addresses are those for that relation, with "" those for any. Bind is empty while the machine has no
// address in that space, or only names that Juju can't resolve. An unknown relation is an [ErrNotFound].
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

// add adds an address to a list, or any other text to the names. A link-local address (fe80::1, with a zone or without)
// has no meaning elsewhere and is dropped.
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

// addSubnet keeps the largest network of an address: a virtual address may also be listed in its own.
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

// addName adds a host name: Juju may repeat an address as hostname.
func (n *Network) addName(name string) {
	if _, err := netip.ParseAddr(name); err != nil && name != "" && !slices.Contains(n.Hostnames, name) {
		n.Hostnames = append(n.Hostnames, name)
	}
}
