package reconcile

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/restore"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/startguard"
)

// stopFor stops the server of a database, and ovn-northd with it, which would take a new
// cluster for one with old data. It stays masked, so that a reboot does not start it. A
// server whose file lacks entries continues until it has written it again: it may be the only
// one that has them.
func (u *Reconciler) stopFor(ctx context.Context, r *record, db ovndb.Database, unit string) error {
	if err := u.Members.RewriteFile(ctx, db); err != nil {
		return err
	}
	service := ovndb.ServiceOf(db)
	if err := u.Services.Stop(ctx, ovndb.Northd, service); err != nil {
		return err
	}
	if err := u.Services.Mask(ctx, service); err != nil {
		return err
	}
	if r.Held == nil {
		r.Held = map[ovndb.Database]string{}
	}
	r.Held[db] = unit
	return u.saveRecord(r)
}

// remake makes the new cluster beside the file of the old one, and notes its ID.
func (u *Reconciler) remake(ctx context.Context, p pass, db ovndb.Database) error {
	r, o := p.record, p.result
	request := r.Attempts[db].Request
	contents := u.restorer().Standalone(db)
	defer os.Remove(contents)
	note := startguard.Record(db, r.leader.Clusters.Supersede(db, "", "").Superseded[db])
	err := u.restorer().Contents(ctx, request, db, contents, func(ctx context.Context, path string) (string, error) {
		if _, err := u.Files.Change(ctx, path, restore.NewMark(u.Env.Unit, request, u.Now()).Operation(db)); err != nil {
			return "", err
		}
		return u.Files.Change(ctx, path, note)
	})
	switch {
	case err != nil && (ctx.Err() != nil || run.Terminated(err)):
		return err // this hook ends, which is no fault of the data; the next one makes it again
	case err != nil:
		r.Note(db, r.Attempts[db].Withdraws(restore.Unusable(err, db)))
		return err
	}
	made, err := u.Files.StageFrom(ctx, db, ovndb.RaftAddress(db, o.Addresses.Own.String()), max(o.fromJuju.Settings.ElectionTimer, time.Second), contents)
	if err != nil {
		return err
	}
	r.Note(db, r.Attempts[db].Makes(made.Cluster))
	return u.saveRecord(r)
}

// supersede puts the new cluster in the place of the old one, for all units.
func (u *Reconciler) supersede(ctx context.Context, p pass, s plan.Step) error {
	leader := p.record.leader
	if err := leader.Confirm(ctx); err != nil {
		return err
	}
	if all := u.askServing(ctx, p.result.Snapshot, s.Database, []raft.ID{leader.Clusters.IDs[s.Database]}); len(all) > 0 {
		return fmt.Errorf("the cluster has a quorum again: %s", first(all))
	}
	for _, peer := range p.result.state.Peers {
		if peer.Unit == s.Unit && !reached(ctx, peer.Address, s.Database) {
			return fmt.Errorf("the machine of %s, which has the new cluster, does not answer", s.Unit)
		}
	}
	return leader.Supersede(ctx, s.Database, s.Cluster, s.Unit)
}
