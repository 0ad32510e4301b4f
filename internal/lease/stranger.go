package lease

import "github.com/ovn-central/ovn-central-operator/internal/unitname"

// Stranger says in a few words why the record's holder is no agent that the agent of unit knows; empty if it
// is one, or if there is no holder. known reports whether an address is that agent's own, or one that it asks.
// Any client of the database can write a record. A stranger is not asked, so that others take the record once
// its time is over.
//
// Where unit has no name of Juju's form, that of the holder doesn't count.
func (r Record) Stranger(unit string, known func(address string) bool) string {
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
