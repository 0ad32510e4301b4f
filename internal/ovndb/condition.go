package ovndb

// Condition is the state of a database on a unit.
type Condition string

// The conditions of a database on a unit.
const (
	// Serving: a server answers and is, joins or leaves as a cluster's member; its raft.Status has the details.
	Serving Condition = "serving"
	// Absent: there is neither a server nor a file.
	Absent Condition = "absent"
	// Left: the server has left or was kicked, according to the file.
	Left Condition = "left"
	// Standalone: the database is not clustered.
	Standalone Condition = "standalone"
	// Failed: the server runs, but has given up the database, as after a failed write.
	Failed Condition = "failed"
	// Down: there is a file, but no server runs on it.
	Down Condition = "down"
	// Hung: the server does not answer.
	Hung Condition = "hung"
	// Unreadable: the state can't be determined. The server may be a member that votes.
	Unreadable Condition = "unreadable"
	// Former: the server belongs to another unit that was on this machine before; only in a report.
	Former Condition = "of another unit"
)

// Clients are the connections of clients to the server of a database.
type Clients struct {
	Connected int
	// Busy are the connections with data in flight: a new client receives all data that it asked for.
	Busy int
}

// NorthdHealth is the state of a unit's ovn-northd by its own answer. systemd's state is not enough: it calls a hanging
// process active.
type NorthdHealth string

// The values of NorthdHealth. The zero value means not asked.
const (
	// NorthdActive has both databases and works; only one unit's is active.
	NorthdActive NorthdHealth = "active"
	// NorthdStandby has both databases and waits for the active one's end.
	NorthdStandby NorthdHealth = "standby"
	// NorthdPaused was paused by a command.
	NorthdPaused NorthdHealth = "paused"
	// NorthdUnconnected lacks a database.
	NorthdUnconnected NorthdHealth = "not connected to both databases"
	// NorthdUnresponsive runs but does not answer.
	NorthdUnresponsive NorthdHealth = "does not answer"
	// NorthdDown does not run.
	NorthdDown NorthdHealth = "not running"
	// NorthdHeld does not run, since an operator has stopped it.
	NorthdHeld NorthdHealth = "held, by action hold-northd"
)

// Works reports whether it works, or would take over.
func (h NorthdHealth) Works() bool { return h == NorthdActive || h == NorthdStandby }
