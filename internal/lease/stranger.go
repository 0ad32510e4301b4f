package lease

import (
	"net/netip"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// Stranger says in a few words why the record's holder is no agent that the agent of unit knows, which is
// asked at address and asks those at the addresses of peers; empty if it is one, or if there is no holder.
// Any client of the database can write a record. A stranger is not asked, so that others take the record once
// its time is over.
//
// Where unit has no name of Juju's form, that of the holder doesn't count.
func (r Record) Stranger(unit, address string, peers []string) string {
	application := unitname.Application(unit)
	known := func(one string) bool { return sameAddress(one, r.Address) }
	switch {
	case r.Holder == "":
		return ""
	case unitname.IsOf(unit, application) && !unitname.IsOf(r.Holder, application):
		return r.Holder + ", which is no unit of " + application
	case !known(address) && !slices.ContainsFunc(peers, known):
		return r.Holder + " at " + r.Address + ", no peer"
	}
	return ""
}

// sameAddress reports whether two texts are one address and port: IPv6 has several forms of each.
func sameAddress(a, b string) bool {
	x, err := netip.ParseAddrPort(a)
	y, wrong := netip.ParseAddrPort(b)
	if err != nil || wrong != nil {
		return a == b && a != ""
	}
	return x.Port() == y.Port() && x.Addr().Unmap() == y.Addr().Unmap()
}
