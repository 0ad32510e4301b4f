// Package observe determines the state of this unit's servers, of the clusters that they see, and of the application in
// Juju, and compares it with the cache. The result is an immutable [Snapshot]; nothing here changes what it observes.
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

// Observer observes a unit's machine and Juju. It changes nothing.
type Observer struct{ *Machine }

// Machine gives access to a unit's machine and its databases. Observers and changers share one.
type Machine struct {
	Env      juju.Env
	Control  ovsctl.Control
	Files    ovsctl.Files
	Services systemd.Services
	Dialer   *ovsdb.Dialer
	// Clients counts the clients of this unit's servers; nil means [machine.CountClients].
	Clients func() (map[ovndb.Database]ovndb.Clients, error)
	// Now is the clock.
	Now func() time.Time
	Log *slog.Logger
}

// Intervals and limits of what is observed.
const (
	// PollInterval is how often a server is asked whether a change is done: a follower's leave takes about 5 ms, a
	// leader's one election timer.
	PollInterval = 20 * time.Millisecond
	// ProbeTimeout is how long a member may take to answer on its client port before it counts as down (R0). For an
	// established connection, a large database adds to it ([raft.Patience]), since the server may be compacting.
	ProbeTimeout = 2 * time.Second
	// storeTimeout limits one read or write of external_ids; a write waits until a majority has stored it. A large
	// database adds to it ([raft.Patience]).
	storeTimeout = 10 * time.Second
)

// Patience is the timeout for servers of a database, if base suffices for a small one. The size of this unit's file
// represents all of theirs.
func (s *Machine) Patience(d ovndb.Database, base time.Duration) time.Duration {
	return raft.Patience(base, raftfile.Size(s.Control.Paths.File(d)))
}
