// Package observe finds out what there is: of this unit's servers, of the clusters that
// they see, of the application in Juju, and of what was known before. What it has found
// is a [Snapshot], which is made once; nothing here changes what it looks at.
package observe

import (
	"log/slog"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// Observer finds out, for one unit, what its machine and Juju say. It changes nothing.
type Observer struct{ *Machine }

// Machine is what a unit's machine and its databases are reached through. What observes
// them and what changes them share one.
type Machine struct {
	Env      juju.Env
	Control  ovsctl.Control
	Files    ovsctl.Files
	Services systemd.Services
	Dialer   *ovsdb.Dialer
	// Clients counts the clients of this unit's servers; nil is [machine.CountClients].
	Clients func() (map[ovndb.Database]ovndb.Clients, error)
	// Now is the clock.
	Now func() time.Time
	Log *slog.Logger
}

// Intervals and limits of what is observed.
const (
	// PollInterval is how often a server is asked whether a change is done: a
	// follower's leave takes about 5 ms, a leader's one election timer.
	PollInterval = 20 * time.Millisecond
	// ProbeTimeout is how long a member may take to answer on its client port
	// before it counts as down (rule R0). Where its connection stands, a large database
	// adds to it ([raft.Patience]): it may compact.
	ProbeTimeout = 2 * time.Second
	// storeTimeout bounds one read or write of external_ids. A write waits for a
	// majority to store it. A large database adds to it ([raft.Patience]).
	storeTimeout = 10 * time.Second
)

// Patience is how long to wait for servers of a database, where base is enough for a
// small one. This unit's file stands for all of theirs.
func (s *Machine) Patience(d ovndb.Database, base time.Duration) time.Duration {
	return raft.Patience(base, raftfile.Size(s.Control.Paths.File(d)))
}
