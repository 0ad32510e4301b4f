package juju

import (
	"net/netip"
	"slices"
)

// Suitability of an address, the best first.
const (
	inSubnet = iota
	inUnknownSubnet
	// alone is an address in a network of its own (/32, /128), as keepalived and Pacemaker add it. It may move to
	// another machine at any time.
	alone
	notOffered
)

// Choose returns the address of offered, in Juju's order, at which others should reach the unit: the first of inUse
// that Juju offers or that the machine has, otherwise one in a subnet. An address that is alone in its network is
// chosen only if there is no other. Of equal ones, the first of the first one's family is chosen; the zero address if
// there is none.
//
// Better is the address that a new unit would choose, if the one in use is no longer offered or is alone in its
// network. The address in use is kept nevertheless: a member's can't be changed.
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
		chosen = slices.MinFunc(offered, func(a, b netip.Addr) int { // the first, of equal ones
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
