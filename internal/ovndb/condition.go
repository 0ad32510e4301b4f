package ovndb

// Condition is the state of a database on a unit.
type Condition string

// The conditions of a database on a unit.
const (
	// Serving means that a server answers, and is, joins or leaves as a member of a cluster. Its raft.Status has the
	// details.
	Serving Condition = "serving"
	// Absent means that there is neither a server nor a file.
	Absent Condition = "absent"
	// Left means that, by its file, the server has left or was kicked.
	Left Condition = "left"
	// Standalone means that the database is not clustered.
	Standalone Condition = "standalone"
	// Failed means that the server runs, but has given up the database, as after a failed write.
	Failed Condition = "failed"
	// Down means that there is a file, but no server runs on it.
	Down Condition = "down"
	// Hung means that the server does not answer.
	Hung Condition = "hung"
	// Unreadable means that the state can't be determined. The server may be a member that votes.
	Unreadable Condition = "unreadable"
	// Former means that the server belongs to a unit that was on this machine earlier. It is only used in a report.
	Former Condition = "of another unit"
)

// Clients are the connections of clients to the server of a database.
type Clients struct {
	Connected int
	// Busy are the connections with data in flight: a new client receives all the data that it requested.
	Busy int
}

// NorthdHealth is the state of a unit's ovn-northd by its own answer. systemd's state is not enough: systemd calls a
// hanging process active.
type NorthdHealth string

// The values of NorthdHealth. The zero value means that ovn-northd was not asked.
const (
	// NorthdActive is connected to both databases and works. Only one unit's ovn-northd is active.
	NorthdActive NorthdHealth = "active"
	// NorthdStandby is connected to both databases and waits for the active one's end.
	NorthdStandby NorthdHealth = "standby"
	// NorthdPaused was paused by a command.
	NorthdPaused NorthdHealth = "paused"
	// NorthdUnconnected is not connected to both databases.
	NorthdUnconnected NorthdHealth = "not connected to both databases"
	// NorthdUnresponsive runs but does not answer.
	NorthdUnresponsive NorthdHealth = "does not answer"
	// NorthdDown does not run.
	NorthdDown NorthdHealth = "not running"
	// NorthdHeld does not run because an operator has stopped it.
	NorthdHeld NorthdHealth = "held, by action hold-northd"
)

// Works reports whether ovn-northd works, or would take over.
func (h NorthdHealth) Works() bool { return h == NorthdActive || h == NorthdStandby }
