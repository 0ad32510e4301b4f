package steps

import (
	"context"
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/startguard"
)

// PutAwaySuperseded puts away the replaced clusters of a unit that is being removed. The other units don't need them,
// and while `stop` fails, no other hook runs in which [plan.Decide] would put them away. It returns a
// [*finding.RefusedError] if the new cluster is not in place yet.
func (u *Unit) PutAwaySuperseded(ctx context.Context, snapshot observe.Snapshot) (observe.Snapshot, error) {
	unread := u.Leader.ReadForStop(ctx, snapshot.Application)
	if refused := u.refuseUnplaced(ctx, snapshot.Application, unread); refused != nil {
		return snapshot, refused
	}
	archived := false
	for _, db := range ovndb.Databases() {
		l := snapshot.Servers[db]
		own := l.Identity().Cluster
		if l.Condition == ovndb.Hung || l.Condition == ovndb.Unreadable {
			own, _ = raftfile.Cluster(ctx, u.Control.Paths, db) // an unreadable file is not put away
		}
		if own == "" || !u.superseded(ctx, db, own, unread) {
			continue
		}
		if err := u.archive(ctx, l); err != nil {
			return snapshot, err
		}
		archived = true
	}
	if archived {
		snapshot = u.Observer.Refresh(ctx, snapshot)
	}
	return snapshot, nil
}

// refuseUnplaced refuses to leave while units stay and the new cluster's file is not in place: its data exists
// nowhere else (R9). If Juju could not be asked, that may be true of a cluster that was created for a request.
func (u *Unit) refuseUnplaced(ctx context.Context, m observe.Application, unread bool) error {
	if !m.OthersStay() {
		return nil
	}
	var reasons []finding.Finding
	for _, db := range ovndb.Databases() {
		staged, err := u.Files.Staged(ctx, db)
		if err != nil || staged.Cluster == "" {
			continue
		}
		request := u.Recovery.Request(db)
		if staged.Cluster == u.Leader.Clusters.IDs[db] || unread && request != nil && staged.Cluster == request.New {
			file := finding.Reason{Code: finding.BesideFile, Value: u.Control.Paths.File(db)}
			reasons = append(reasons, finding.Of(finding.NewClusterUnplaced, db, file.Args()))
		}
	}
	resume := finding.Do(command.Command{Unit: m.Unit, Action: "resume"})
	return finding.Refuse(reasons, resume, finding.ByHand(finding.AwaitJoin), membership.TakeTheCopy(m))
}

// superseded reports whether another cluster has replaced this unit's own. If Juju can't be asked, it asks the
// other units' servers.
func (u *Unit) superseded(ctx context.Context, db ovndb.Database, own raft.ID, unread bool) bool {
	if slices.Contains(u.Leader.Clusters.Superseded[db], own) {
		return true
	}
	if !unread {
		return false
	}
	refused, err := startguard.Guard{Paths: u.Control.Paths, Dialer: u.Dialer}.Check(ctx, db)
	if refused.Reason == "" && err != nil {
		u.Log.InfoContext(ctx, "cannot find out whether the server's cluster was given up",
			"database", db.Short(), "error", err)
	}
	return refused.Reason != ""
}

// supersededDrift compares the replaced clusters that this unit's server lists with those that the application knows.
// If the server can't be read, it reports no difference.
func (u *Unit) supersededDrift(ctx context.Context, db ovndb.Database) plan.Drift {
	if len(u.Leader.Clusters.Superseded) == 0 {
		return plan.InSync
	}
	drifted, err := u.syncSuperseded(ctx, db, false)
	switch {
	case err != nil:
		u.Log.WarnContext(ctx, "cannot read which clusters were replaced", "database", db.Short(), "error", err)
		return ""
	case drifted:
		return plan.Drifted
	}
	return plan.InSync
}

func (u *Unit) noteSuperseded(ctx context.Context, _ facts.Facts, s plan.Step) error {
	if _, err := u.syncSuperseded(ctx, s.Database, true); err != nil {
		return fmt.Errorf("cannot note the replaced clusters in %s: %w", s.Database, err)
	}
	return nil
}

// syncSuperseded reports whether external_ids of NB_Global or SB_Global on this unit's server lacks replaced clusters.
// If write is set, it adds them.
func (u *Unit) syncSuperseded(ctx context.Context, db ovndb.Database, write bool) (lacked bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, u.StorePatience(db))
	defer cancel()
	socket := []string{"unix:" + u.Control.Paths.Socket(db)}
	err = u.Dialer.WithGlobal(ctx, db, socket, func(global *ovsdb.Global, ids map[string]string) error {
		c := u.Leader.Clusters
		lacks := observe.SupersededDrift(db, c.IDs, c.Superseded, ids)
		if lacked = len(lacks) > 0; lacked && write {
			return global.Put(ctx, lacks)
		}
		return nil
	})
	return lacked, err
}
