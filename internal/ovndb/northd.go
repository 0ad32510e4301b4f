package ovndb

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
