// Package ovndb has facts about OVN's databases and packages: names, ports, services, paths, and the forms of
// addresses and versions. It is pure, and the lowest of all packages.
package ovndb

// Database is one of the two databases that every unit serves. Its value is the name in OVN's schema.
type Database string

// The two databases, in the order in which they are judged, locked and shown.
const (
	NB Database = "OVN_Northbound"
	SB Database = "OVN_Southbound"
)

// Databases returns both databases, in the order of locking, so that two units that need both never wait for each
// other.
func Databases() []Database { return []Database{NB, SB} }

// Short returns the name that people read and type: nb or sb.
func (d Database) Short() string {
	if d == SB {
		return "sb"
	}
	return "nb"
}

// GlobalTable returns the name of the table that has a single row, about the whole database.
func (d Database) GlobalTable() string {
	if d == SB {
		return "SB_Global"
	}
	return "NB_Global"
}

// Other returns the database that d is not.
func (d Database) Other() Database {
	if d == SB {
		return NB
	}
	return SB
}
