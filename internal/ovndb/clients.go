package ovndb

// Clients are the connections of clients to the server of a database.
type Clients struct {
	Connected int
	// Busy are the connections with data in flight: a new client receives all data that it asked for.
	Busy int
}
