// Package membership changes who is a member of the databases' clusters, and
// says who is. It offers three services: a unit leaves, a unit kicks what another
// left behind, and a unit reports what it sees. What may be done is decided by
// package raft; here it is found out, done in small steps, and proved.
package membership

import (
	"context"
	"log/slog"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovn"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Observer finds out, for one unit, what its machine and Juju say. It changes nothing.
type Observer struct {
	Env      juju.Env
	Control  ovn.Control
	Files    ovn.Files
	Services ovn.Services
	Dialer   *ovsdb.Dialer
	// Clients counts the clients of this unit's server; nil is [ovn.ClientsOf].
	Clients func(ovndb.Database) (ovndb.Clients, error)
	// Now is the clock.
	Now func() time.Time
	Log *slog.Logger
}

// Changer changes the membership of one unit's servers. What it decides by, its Observer
// finds out.
type Changer struct {
	*Observer
	// Goal asks Juju which units the application is to have. It is asked again
	// during every wait.
	Goal func(context.Context) (juju.GoalState, error)
	// BeforeLeaving is called before the unit leaves a cluster, or its services are stopped
	// for good; nil does nothing.
	BeforeLeaving func(context.Context)
	// Progress tells a person who waits what goes on.
	Progress func(context.Context, string)
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
	// StoreTimeout bounds one read or write of external_ids. A write waits for a
	// majority to store it. A large database adds to it ([raft.Patience]).
	StoreTimeout = 10 * time.Second
)

// Intervals of waits.
const (
	// lockInterval is how often a lock that another unit holds is read.
	lockInterval = 250 * time.Millisecond
	// tellInterval is how often a person is told what is waited for.
	tellInterval = 5 * time.Second
	// goalInterval is how often Juju is asked, in a wait, which units are to stay.
	goalInterval = 2 * time.Second
)

// Patience is how long to wait for servers of a database, where base is enough for a
// small one. This unit's file stands for all of theirs.
func (s *Observer) Patience(d ovndb.Database, base time.Duration) time.Duration {
	return raft.Patience(base, ovn.FileSize(s.Control.Paths, d))
}

func (s *Changer) beforeLeaving(ctx context.Context) {
	if s.BeforeLeaving != nil {
		s.BeforeLeaving(ctx)
	}
}

// Wait returns after d, or earlier with an error if ctx ends.
func Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
