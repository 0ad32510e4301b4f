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
