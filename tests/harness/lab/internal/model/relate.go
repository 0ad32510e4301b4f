package model

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Relate adds a relation between our endpoint and another application, whose units exist at once.
func (s *State) Relate(endpoint, app string, units int) *Relation {
	r := &Relation{
		ID: 1, Since: time.Now(), Name: endpoint, Remote: app, App: newBag(), RemoteApp: newBag(),
		Units: map[string]*Bag{}, RemoteUnits: map[string]*Bag{},
	}
	for _, known := range s.Relations {
		r.ID = max(r.ID, known.ID+1)
	}
	r.ID = max(r.ID, s.LastRelation+1)
	s.LastRelation = r.ID
	for n := range units {
		r.Enter(fmt.Sprintf("%s/%d", app, n))
	}
	s.Relations = append(s.Relations, r)
	return r
}

// Enter makes a unit of the other application a member of the relation, even if it was one before. Its addresses,
// which Juju publishes, are in the range that is reserved for documentation (RFC 5737).
func (r *Relation) Enter(unit string) {
	bag := r.RemoteUnits[unit]
	if bag == nil {
		fresh := newBag()
		bag = &fresh
		r.RemoteUnits[unit] = bag
	}
	if bag.InScope {
		return
	}
	_, number, _ := strings.Cut(unit, "/")
	bag.InScope = true
	bag.Write(addressSettings("192.0.2.1" + number))
}

// Leave removes a unit of the other application from the relation.
func (r *Relation) Leave(unit string) {
	if bag := r.RemoteUnits[unit]; bag != nil {
		bag.InScope = false
	}
}

// Unrelate begins the end of a relation: each unit runs -departed for every member, and -broken.
func (s *State) Unrelate(r *Relation) {
	r.Dying = true
	s.dropRelation(r)
}

// dropRelation removes a dying relation without units.
func (s *State) dropRelation(r *Relation) {
	for _, bag := range r.Units {
		if bag.InScope {
			return
		}
	}
	if r.Dying {
		s.Relations = slices.DeleteFunc(s.Relations, func(other *Relation) bool { return other == r })
	}
}

// Peer reports whether this is a peer relation.
func (r *Relation) Peer() bool { return r.Remote == "" }

// Other returns the application on the other side. For a peer relation that is our own.
func (s *State) Other(r *Relation) string {
	if r.Peer() {
		return s.App
	}
	return r.Remote
}

// OtherApp returns the data that the application on the other side has published.
func (r *Relation) OtherApp() *Bag {
	if r.Peer() {
		return &r.App
	}
	return &r.RemoteApp
}

// Bag returns the data that a unit of either side has published; nil if it was never in the relation.
func (r *Relation) Bag(unit string) *Bag {
	if bag := r.Units[unit]; bag != nil {
		return bag
	}
	return r.RemoteUnits[unit]
}

// News returns the version of the data of a unit of either side, or of the other application for ""; 0 if it has no
// data.
func (r *Relation) News(unit string) int {
	bag := r.Bag(unit)
	switch {
	case unit == "":
		return r.OtherApp().Version
	case bag == nil:
		return 0
	}
	return bag.Version
}

func newBag() Bag { return Bag{Settings: map[string]string{}} }

// AddressesOf returns the unit's addresses for a binding, the one to publish first.
func (u *Unit) AddressesOf(binding string) []string {
	if bound := u.Bindings[binding]; len(bound) > 0 {
		return bound
	}
	return u.Addresses
}

// SetAddresses changes the machine's addresses. The first is the preferred one.
func (s *State) SetAddresses(unit string, addresses []string) {
	u := s.Units[unit]
	if !slices.Equal(u.Addresses, addresses) {
		u.Addresses = slices.Clone(addresses)
		u.AddressVersion++
	}
}

// Bind puts an endpoint into a space in which the unit has these addresses.
func (s *State) Bind(unit, binding string, addresses []string) {
	u := s.Units[unit]
	u.Bindings[binding] = slices.Clone(addresses)
	u.AddressVersion++
}

// Subnets returns the networks, which by default have one address each (apiserver/facades/agent/uniter,
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

// Bare returns an address without the length of its network.
func Bare(address string) string {
	bare, _, _ := strings.Cut(address, "/")
	return bare
}

// addressSettings returns the settings that Juju itself publishes for a unit.
func addressSettings(addresses ...string) map[string]string {
	return map[string]string{
		"egress-subnets":  strings.Join(Subnets(addresses), ","),
		"ingress-address": Bare(addresses[0]),
		"private-address": Bare(addresses[0]),
	}
}

// publishAddresses updates the settings that Juju publishes, with each config-changed.
func (s *State) publishAddresses(u *Unit) {
	for _, r := range s.Relations {
		if bag := r.Units[u.Name]; bag != nil && bag.InScope {
			bag.Write(addressSettings(u.AddressesOf(r.Name)...))
		}
	}
}
