// Package membership changes who is a member of the databases' clusters: a unit leaves,
// kicks what another left behind, or takes its own server down for a while. What may be
// done is decided by package raft, from what package observe finds; here it is done
// under a lock, in small steps, and proved.
package membership

import (
	"context"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
)

// Changer changes the membership of one unit's servers. What it decides by, its Observer
// finds out.
type Changer struct {
	*observe.Observer
	// Goal asks Juju which units the application is to have. It is asked again
	// during every wait.
	Goal func(context.Context) (juju.GoalState, error)
	// BeforeLeaving is called before the unit leaves a cluster, or its services are stopped
	// for good; nil does nothing.
	BeforeLeaving func(context.Context)
	// Progress tells a person who waits what goes on.
	Progress func(context.Context, string)
}

// Intervals of waits.
const (
	// lockInterval is how often a lock that another unit holds is read.
	lockInterval = 250 * time.Millisecond
	// tellInterval is how often a person is told what is waited for.
	tellInterval = 5 * time.Second
	// goalInterval is how often Juju is asked, in a wait, which units are to stay.
	goalInterval = 2 * time.Second
)

func (s *Changer) beforeLeaving(ctx context.Context) {
	if s.BeforeLeaving != nil {
		s.BeforeLeaving(ctx)
	}
}
