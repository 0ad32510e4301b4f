package model

import (
	"net/netip"
	"slices"
	"strings"
)

// AddressesOf are the unit's addresses for a binding, the one to publish first.
func (u *Unit) AddressesOf(binding string) []string {
	if bound := u.Bindings[binding]; len(bound) > 0 {
		return bound
	}
	return u.Addresses
}

// SetAddresses changes what the machine's addresses are; the first is the
// preferred one.
func (s *State) SetAddresses(unit string, addresses []string) {
	u := s.Units[unit]
	if !slices.Equal(u.Addresses, addresses) {
		u.Addresses = slices.Clone(addresses)
		u.AddressVersion++
	}
}

// Bind puts an endpoint into a space where the unit has these addresses.
func (s *State) Bind(unit, binding string, addresses []string) {
	u := s.Units[unit]
	u.Bindings[binding] = slices.Clone(addresses)
	u.AddressVersion++
}

// Subnets are the networks of one address each that Juju takes traffic to come
// from where the model says nothing else (apiserver/facades/agent/uniter,
// subnetsForAddresses).
func Subnets(addresses []string) []string {
	subnets := make([]string, 0, len(addresses))
	for _, address := range addresses {
		if ip, err := netip.ParseAddr(Bare(address)); err == nil {
			subnets = append(subnets, netip.PrefixFrom(ip, ip.BitLen()).String())
		}
	}
	return subnets
}

// Bare is an address without the length of its network.
func Bare(address string) string {
	bare, _, _ := strings.Cut(address, "/")
	return bare
}

// addressSettings are what Juju itself puts on a relation for a unit.
func addressSettings(addresses ...string) map[string]string {
	return map[string]string{
		"egress-subnets":  strings.Join(Subnets(addresses), ","),
		"ingress-address": Bare(addresses[0]),
		"private-address": Bare(addresses[0]),
	}
}

// publishAddresses brings what Juju put on the relations up to date, which it
// does with each config-changed.
func (s *State) publishAddresses(u *Unit) {
	for _, r := range s.Relations {
		if bag := r.Units[u.Name]; bag != nil && bag.InScope {
			bag.Write(addressSettings(u.AddressesOf(r.Name)...))
		}
	}
}
