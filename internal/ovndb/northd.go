package ovndb

// NorthdHealth is what a unit's ovn-northd says of itself when it is asked, or that
// it says nothing. That systemd calls it active says little: so it does of one that
// hangs.
type NorthdHealth string

// The values of NorthdHealth. The zero value is one that was not asked.
const (
	// NorthdActive has both databases and does the work; of all units' one is.
	NorthdActive NorthdHealth = "active"
	// NorthdStandby has both databases and waits for the active one to go.
	NorthdStandby NorthdHealth = "standby"
	// NorthdPaused was told to do nothing.
	NorthdPaused NorthdHealth = "paused"
	// NorthdUnconnected lacks a database.
	NorthdUnconnected NorthdHealth = "not connected to both databases"
	// NorthdUnresponsive runs and does not answer.
	NorthdUnresponsive NorthdHealth = "does not answer"
	// NorthdDown does not run.
	NorthdDown NorthdHealth = "not running"
	// NorthdHeld does not run, since an operator keeps it from running.
	NorthdHeld NorthdHealth = "held, by action hold-northd"
)

// Works says whether it does the work, or would.
func (h NorthdHealth) Works() bool { return h == NorthdActive || h == NorthdStandby }
