package ovndb

// Clients are the connections of clients to the server of a database.
type Clients struct {
	Connected int
	// Busy are those on which something is on its way: a client that has just come is
	// sent all that it wants to know.
	Busy int
}
