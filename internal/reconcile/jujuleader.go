package reconcile

import (
	"context"
	"sync"
	"time"
)

// jujuLeaderInterval is how often a unit that leads the application asks Juju whether it still does
// while a step takes long: each answer is for 30 s ([jujuLeadership]), so that with none of them
// late or another one, no other unit has led meanwhile, and what the leader has published is
// what was read.
const jujuLeaderInterval = 10 * time.Second

// whileJujuLeader makes a step that takes as long as a database is large. Where this unit leads the
// application, and went on to, what it was told at the hook's begin counts as long as if it had
// just been told.
func (u *Reconciler) whileJujuLeader(ctx context.Context, g *progress, step func() error) error {
	if !g.jujuLeader {
		return step()
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(jujuLeaderInterval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			at := u.Now()
			if leads, err := u.Tools.IsLeader(ctx); err != nil || !leads || u.Now().After(g.at.Add(jujuLeadership)) {
				return // what was true until then is found to be too old
			}
			g.at = at
		}
	})
	err := step()
	cancel()
	wg.Wait()
	return err
}
