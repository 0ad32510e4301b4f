package lease

import "github.com/ovn-central/ovn-central-operator/internal/unitname"

// UnknownHolder describes why the record's holder is not an agent that the agent of unit knows. It is empty if there is
// no holder, or if the agent knows it. known reports whether an address is that agent's own or one that it asks. Any
// client of the database can write a record. An unknown holder is not asked, so its TTL ends and other units take over.
//
// If unit is not a Juju unit name, the holder's name does not count.
func (r Record) UnknownHolder(unit string, known func(address string) bool) string {
	application := unitname.Application(unit)
	switch {
	case r.Holder == "":
		return ""
	case unitname.IsOf(unit, application) && !unitname.IsOf(r.Holder, application):
		return r.Holder + ", which is no unit of " + application
	case !known(r.Address):
		return r.Holder + " at " + r.Address + ", no peer"
	}
	return ""
}
