// Package membership changes the members of the databases' clusters: a unit leaves, kicks another unit's member, or
// takes its own server down for a while. Package raft decides from the observations of package observe whether that is
// safe; this package makes the change under a lock, in small steps, and proves it.
package membership

import (
	"context"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

// Observer makes the observations by which a change is judged. An [observe.Observer] is one.
type Observer interface {
	ObserveServer(context.Context, ovndb.Database) observe.ServerState
	ObserveServers(context.Context) map[ovndb.Database]observe.ServerState
	ObserveServersWithin(ctx context.Context, timeout time.Duration) map[ovndb.Database]observe.ServerState
	View(ctx context.Context, l observe.ServerState, names []raft.ID) (raft.View, error)
	RemovedElsewhere(context.Context, observe.ServerState, observe.Cache) bool
	MissingEntries(context.Context, observe.ServerState) (string, error)
	Probe(context.Context, observe.ServerState) []raft.ProbeResult
	QuorumWithout(ctx context.Context, m observe.Application, cache observe.Cache, l observe.ServerState,
		end raftfile.End) (q raft.Quorum, removed bool)
	CountClients() (map[ovndb.Database]ovndb.Clients, error)
}

// Changer changes the membership of one unit's servers.
type Changer struct {
	*observe.Machine
	// Observer is called again before each step.
	Observer Observer
	// Goal asks Juju which units the application will have. It is called again during every wait.
	Goal func(context.Context) (juju.GoalState, error)
	// BeforeLeaving is called before the unit leaves a cluster, or its services are stopped for good; nil does nothing.
	BeforeLeaving func(context.Context)
	// Progress shows a line to a waiting operator.
	Progress func(context.Context, string)
}

// Intervals of waits.
const (
	// lockInterval is how often a lock that another unit holds is read.
	lockInterval = 250 * time.Millisecond
	// tellInterval is how often a wait shows its progress.
	tellInterval = 5 * time.Second
	// goalInterval is how often a wait asks Juju which units stay.
	goalInterval = 2 * time.Second
)

// progressSince returns a function that shows a line of progress, at most once in each [tellInterval] after last.
func (s *Changer) progressSince(last time.Time) func(ctx context.Context, text string) {
	return func(ctx context.Context, text string) {
		if now := s.Now(); now.After(last.Add(tellInterval)) {
			last = now
			s.Progress(ctx, text)
		}
	}
}

func (s *Changer) socket(d ovndb.Database) string { return "unix:" + s.Control.Paths.Socket(d) }

// withGlobal connects to the first endpoint that serves the database, reads external_ids of its Global row, and calls
// do with them. All of it is limited to twice the time of one write.
func (s *Changer) withGlobal(ctx context.Context, d ovndb.Database, endpoints []string,
	do func(ctx context.Context, g *ovsdb.Global, ids map[string]string) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, 2*s.StorePatience(d))
	defer cancel()
	return s.Dialer.WithGlobal(ctx, d, endpoints, func(g *ovsdb.Global, ids map[string]string) error {
		return do(ctx, g, ids)
	})
}

// externalIDs reads external_ids of the Global row from this unit's own server.
func (s *Changer) externalIDs(ctx context.Context, d ovndb.Database) (ids map[string]string, err error) {
	err = s.withGlobal(ctx, d, []string{s.socket(d)}, func(_ context.Context, _ *ovsdb.Global,
		read map[string]string,
	) error {
		ids = read
		return nil
	})
	return ids, err
}
