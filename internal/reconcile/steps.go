package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// Waits for what a step has begun. All end early, and none is relied on: the next
// hook looks again.
const (
	// joinPatience is how long a server that was started may take to become a
	// member; it takes 50 ms, and longer where the database is large.
	joinPatience = 30 * time.Second
	// listenPatience is the same for one that was started by somebody else, and is a
	// member that its leader has yet to reach.
	listenPatience = 12 * time.Second
	// restartPatience is the same for a member that was restarted, during which no
	// other unit may have its turn.
	restartPatience = 2 * time.Minute
	// reloadPatience is the same for servers to take up new certificates, which they
	// do within a turn of their main loop.
	reloadPatience = 5 * time.Second
	// northdPatience is the same for ovn-northd, which connects within milliseconds.
	northdPatience = 3 * time.Second
	// timerPatience is the same for a change of the election timer, which is
	// committed like any other entry; a large database adds to it.
	timerPatience = 2 * time.Second
)

// make makes one step.
func (u *Unit) make(ctx context.Context, r *record, a *asked, o Outcome, s plan.Step) error {
	db := s.Database
	switch s.Kind {
	case plan.Install, plan.Upgrade:
		a.payload, a.schemas = nil, map[raft.Database]plan.Wanted{}
	}
	switch s.Kind {
	case plan.Install:
		return u.install(ctx, r, a)
	case plan.Upgrade:
		return u.upgrade(ctx, r, a, o.state.Packages.Version)
	case plan.Trust, plan.Certify, plan.Distrust:
		return u.certify(ctx, a, o, s.Kind)
	case plan.WriteDefaults:
		return u.writeDefaults(r, a, o)
	case plan.WriteNorthdParams:
		return u.writeNorthdParams(r, a, o)
	case plan.Stage:
		_, err := u.Files.CreateCluster(ctx, db, plan.RaftAddress(db, a.address.String()), s.Timer)
		return err
	case plan.Claim:
		return u.claim(ctx, r, a, o, s.IDs)
	case plan.Commit:
		return u.Files.Commit(db)
	case plan.Discard:
		return u.discard(r, o, db)
	case plan.Join:
		return u.Files.JoinCluster(ctx, db, s.Cluster, plan.RaftAddress(db, a.address.String()), s.Remotes)
	case plan.Leave:
		return u.Members.LeaveRemoved(ctx, o.Sight.Model, local(o, db))
	case plan.Archive:
		return u.archive(ctx, local(o, db))
	case plan.Start:
		return u.start(ctx, r, a, s.Services)
	case plan.Listen:
		want := u.wantedListeners(a, o.Sight.Model, db)
		_, err := u.Dialer.EnsureConnections(ctx, db, want, "unix:"+u.Paths.Socket(db))
		return err
	case plan.Convert:
		return u.convert(ctx, a, o, s)
	case plan.SetTimer:
		return u.setTimer(ctx, db, s.Timer)
	case plan.Restart:
		return u.restart(ctx, r, o, s.Service)
	case plan.Mend:
		return u.mend(ctx, a, db)
	case plan.Guard:
		return u.guard(ctx, r, a, o)
	}
	return fmt.Errorf("no such step")
}

// leadership is how long Juju keeps a unit the leader after it has said so
// (is-leader in Juju's reference of hook tools: 30 s); less a margin. The settings
// of the leader are read once a hook: after that time somebody else may have
// claimed its own clusters.
const leadership = 20 * time.Second

var errStale = errors.New("it is too long since Juju said that this unit leads; the next hook goes on")

// claim publishes the clusters' IDs. Only a leader can, and what it has written
// is there even if this hook fails.
func (u *Unit) claim(ctx context.Context, r *record, a *asked, o Outcome, ids map[raft.Database]raft.ID) error {
	c := relation.Clusters{IDs: ids}
	if len(ids) == len(raft.Databases()) && o.state.Databases[raft.NB].Staged == ids[raft.NB] {
		c.CreatedBy = u.Env.Unit
	}
	for _, p := range o.state.Peers {
		if p.Claim != "" && p.Claim == ids[raft.NB] {
			c.CreatedBy = p.Unit
		}
	}
	if u.Now().After(a.at.Add(leadership)) {
		return errStale
	}
	err := u.Tools.LeaderSet(ctx, c.Settings())
	if errors.Is(err, juju.ErrNotLeader) {
		a.leader = false // another unit leads by now, and claims its own
		return nil
	}
	if errors.Is(err, juju.ErrNoTool) {
		return u.claimLater(ctx, o, c)
	}
	if err != nil {
		return err
	}
	a.clusters, r.Leader = c, c.Settings()
	return nil
}

// discard puts away a cluster that was not put into its place. That this unit has
// claimed it is taken back first, in its record, and so with the end of this hook or of
// a later one: the unit that claims clusters now waits for it.
func (u *Unit) discard(r *record, o Outcome, db raft.Database) error {
	if staged := o.state.Databases[db].Staged; db == raft.NB && staged == o.state.Claim && staged != "" {
		r.Withdrawn = staged
		if err := u.remember(r); err != nil {
			return err
		}
	}
	return u.Files.Discard(db)
}

// claimLater publishes the IDs where Juju has no leader settings any more, as the
// application's data: Juju writes them when the hook has ended well, and only of the
// leader. So nothing may run on them before a later hook has read them.
func (u *Unit) claimLater(ctx context.Context, o Outcome, c relation.Clusters) error {
	settings := c.Settings()
	if c.CreatedBy == u.Env.Unit {
		maps.Copy(settings, relation.Claim(u.Env.Unit, c.IDs[raft.NB]))
	}
	for _, id := range o.Sight.Model.Relations {
		if err := u.Tools.RelationSetApp(ctx, id, settings); err != nil {
			return err
		}
	}
	return errClaimed
}

var errClaimed = errors.New("the clusters' IDs are published with the end of this hook; the next one goes on")

// awaitInterval is how often [await] looks.
const awaitInterval = 25 * time.Millisecond

// await looks again and again until there is no error, or the time is over.
func await(ctx context.Context, patience time.Duration, look func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := look()
		if err == nil {
			return nil
		}
		timer := time.NewTimer(awaitInterval)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
	}
}
