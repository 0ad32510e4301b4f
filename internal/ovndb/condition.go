package ovndb

// Condition is what a unit has of a database.
type Condition string

// The conditions of a database on a unit.
const (
	// Serving: a server answers and is, joins or leaves as a cluster's member;
	// its raft.Status says which.
	Serving Condition = "serving"
	// Absent: there is neither a server nor a file.
	Absent Condition = "absent"
	// Left: the server has left or was kicked; the file says so.
	Left Condition = "left"
	// Standalone: the database is not clustered.
	Standalone Condition = "standalone"
	// Failed: the server runs, but has given the database up, as after a write
	// that failed.
	Failed Condition = "failed"
	// Down: there is a file, but no server runs on it.
	Down Condition = "down"
	// Hung: the server does not answer.
	Hung Condition = "hung"
	// Unreadable: whether and what the server serves can't be found out. It may be
	// a member that votes.
	Unreadable Condition = "unreadable"
	// Former: the server is of another unit that was on this machine before; only in
	// a report.
	Former Condition = "of another unit"
)
