package juju

import (
	"net/netip"
	"slices"
)

// How well an address is suited, the best first.
const (
	inSubnet = iota
	inUnknownSubnet
	// alone is one in a network of its own (/32, /128), as keepalived and Pacemaker add it. It may move to
	// another machine at any moment.
	alone
	notOffered
)

// Choose is the address of offered, in Juju's order, by which others are to reach the unit: the first of
// inUse that Juju offers or that the machine has, else the one that is in a subnet. One that is alone in
// its network is chosen only if there is no other. Of equal ones, the first of the first one's family is
// chosen; the zero address if there is none.
//
// Better is the address that a new unit would choose, if the one in use is no longer offered, or is alone
// in its network. An address that is in use is kept all the same: a member's can't be changed.
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
