package reconcile

import (
	"context"
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/startguard"
)

// PutAwaySuperseded puts away what a unit that is being removed has of clusters in whose place
// others were put: the others have no need of it, and while the unit's `stop` fails no other
// hook runs, in which [plan.Decide] has that done. It refuses, with a [*finding.RefusedError], where the
// new cluster is not in its place yet.
func (u *Reconciler) PutAwaySuperseded(ctx context.Context, snapshot observe.Snapshot) (observe.Snapshot, error) {
	r, err := u.loadRecord()
	if err != nil {
		u.Log.WarnContext(ctx, "cannot read this unit's own record; continuing without it", "error", err)
	}
	p := pass{record: r, result: Result{Snapshot: Snapshot{Trigger: u.trigger(true), Snapshot: snapshot}}}
	unread := r.leader.ReadForStop(ctx, snapshot.Application)
	if refused := u.refuseUnplaced(ctx, p, unread); refused != nil {
		return snapshot, refused
	}
	archived := false
	for _, db := range ovndb.Databases() {
		l := snapshot.Servers[db]
		own := l.Identity().Cluster
		if l.Condition == ovndb.Hung || l.Condition == ovndb.Unreadable {
			own, _ = raftfile.Cluster(ctx, u.Paths, db) // what can't be read is not put away
		}
		if own == "" || !u.superseded(ctx, p, db, own, unread) {
			continue
		}
		if err := u.archive(ctx, p, plan.Step{Database: db}); err != nil {
			return snapshot, err
		}
		archived = true
	}
	if archived {
		snapshot = u.Observer.Refresh(ctx, snapshot)
	}
	return snapshot, nil
}

// superseded reports whether another cluster has replaced this unit's own. If Juju can't be asked,
// it asks the other units' servers.
func (u *Reconciler) superseded(ctx context.Context, p pass, db ovndb.Database, own raft.ID, unread bool) bool {
	if slices.Contains(p.record.leader.Clusters.Superseded[db], own) {
		return true
	}
	if !unread {
		return false
	}
	reason, err := startguard.Guard{Paths: u.Paths, Dialer: u.Dialer}.Check(ctx, db)
	if reason == "" && err != nil {
		u.Log.InfoContext(ctx, "cannot find out whether the server's cluster was given up", "database", db.Short(), "error", err)
	}
	return reason != ""
}

// supersededDrift compares the replaced clusters in this unit's server with those that the application knows. If the
// server can't be read, nothing changes. Without a recovery there is nothing to read.
func (u *Reconciler) supersededDrift(ctx context.Context, p pass, db ovndb.Database) plan.Drift {
	clusters := p.record.leader.Clusters
	if len(clusters.Superseded) == 0 {
		return plan.InSync
	}
	drift := plan.InSync
	err := u.onGlobal(ctx, db, func(_ context.Context, _ *ovsdb.Global, ids map[string]string) error {
		if len(observe.SupersededDrift(db, clusters.IDs, clusters.Superseded, ids)) > 0 {
			drift = plan.Drifted
		}
		return nil
	})
	if err != nil {
		u.Log.WarnContext(ctx, "cannot read which clusters were replaced", "database", db.Short(), "error", err)
		return ""
	}
	return drift
}

// noteSuperseded writes what the database lacks of that.
func (u *Reconciler) noteSuperseded(ctx context.Context, p pass, db ovndb.Database) error {
	clusters := p.record.leader.Clusters
	err := u.onGlobal(ctx, db, func(ctx context.Context, global *ovsdb.Global, ids map[string]string) error {
		drift := observe.SupersededDrift(db, clusters.IDs, clusters.Superseded, ids)
		if len(drift) == 0 {
			return nil
		}
		return global.Put(ctx, drift)
	})
	if err != nil {
		return fmt.Errorf("cannot note the replaced clusters in %s: %w", db, err)
	}
	return nil
}

// onGlobal reads the external_ids of NB_Global or SB_Global on this unit's server, and hands them over.
func (u *Reconciler) onGlobal(
	ctx context.Context, db ovndb.Database, do func(context.Context, *ovsdb.Global, map[string]string) error,
) error {
	global, err := u.Global(ctx, db, "unix:"+u.Paths.Socket(db))
	if err != nil {
		return err
	}
	defer global.Close()
	ctx, cancel := context.WithTimeout(ctx, u.StorePatience(db))
	defer cancel()
	ids, err := global.Read(ctx)
	if err != nil {
		return err
	}
	return do(ctx, global, ids)
}
