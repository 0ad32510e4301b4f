package reconcile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovn"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/startguard"
)

// stopFor stops the server of a database, and ovn-northd with it, which would take a new
// cluster for one with old data. It stays masked, so that a reboot does not start it.
func (u *Reconciler) stopFor(ctx context.Context, r *record, db ovndb.Database, unit string) error {
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
func (u *Reconciler) remake(ctx context.Context, r *record, a *inputs, db ovndb.Database) error {
	request := r.Requests[db]
	contents := u.Paths.File(db) + ".standalone"
	defer os.Remove(contents)
	if err := u.contents(ctx, request, db, contents); err != nil {
		r.withdraw(db, fmt.Sprintf("%s: %v", db.Short(), err))
		return err
	}
	over := a.clusters.Supersede(db, "", "").Superseded[db]
	if err := u.Files.Change(ctx, contents, startguard.Record(db, over)); err != nil {
		return err
	}
	made, err := u.Files.StageFrom(ctx, db, ovndb.RaftAddress(db, a.address.String()), max(a.settings.ElectionTimer, time.Second), contents)
	if err != nil {
		return err
	}
	request.New = made.Cluster
	r.Requests[db] = request
	return u.saveRecord(r)
}

// contents writes what the new cluster is made of to a file, and sees that a server of
// these packages can be started on it.
func (u *Reconciler) contents(ctx context.Context, request recovery.Request, db ovndb.Database, to string) error {
	free, err := ovn.FreeSpace(u.Paths.DB)
	if err != nil {
		return err
	}
	if need := 2*ovn.FileSize(u.Paths, db) + spareSpace; free < need {
		return fmt.Errorf("the disk of %s has %d MiB free, and it takes %d; make space", u.Paths.DB, free>>20, need>>20)
	}
	if request.Backup == "" {
		if err := u.Files.Extract(ctx, db, to); err != nil {
			return err
		}
	} else {
		m, err := backup.Read(request.Backup)
		if err != nil {
			return err
		}
		if err := backup.Unpack(ctx, request.Backup, m, db, to); err != nil {
			return err
		}
	}
	schema, err := u.Files.Load(ctx, db, to)
	if err != nil {
		return err
	}
	brought, err := u.Files.SchemaVersion(ctx, db)
	if err != nil {
		return err
	}
	if newer, err := ovn.Newer(schema, brought); err != nil || newer {
		return errors.Join(err, fmt.Errorf("its schema is %s, newer than that of this unit's packages, %s; upgrade them first, or run it on a unit that has them", schema, brought))
	}
	return nil
}

// spareSpace is what is left free, in bytes, beside two copies of the database.
const spareSpace = 16 << 20

// supersede puts the new cluster in the place of the old one, for all units.
func (u *Reconciler) supersede(ctx context.Context, p pass, s plan.Step) error {
	r, a, o := p.record, p.inputs, p.result
	if u.Now().After(a.at.Add(leadership)) {
		return errStale
	}
	if all := u.askServing(ctx, o.Snapshot, s.Database, []raft.ID{a.clusters.IDs[s.Database]}); len(all) > 0 {
		return fmt.Errorf("the cluster has a quorum again: %s", first(all))
	}
	c := a.clusters.Supersede(s.Database, s.Cluster, s.Unit)
	err := u.Tools.LeaderSet(ctx, c.Settings())
	switch {
	case errors.Is(err, juju.ErrNotLeader):
		a.leader = false
		return nil
	case errors.Is(err, juju.ErrNoTool):
		return u.claimLater(ctx, o, c)
	case err != nil:
		return err
	}
	a.clusters, r.Leader = c, c.Settings()
	r.forget(a.clusters)
	return nil
}

// forget drops the requests that are over, and remembers that they came about.
func (r *record) forget(c relation.Clusters) {
	for _, db := range ovndb.Databases() {
		q := r.Requests[db]
		if q.Cluster == "" || c.IDs[db] == "" || q.Cluster == c.IDs[db] {
			continue
		}
		if r.Remade == nil {
			r.Remade = map[ovndb.Database]recovery.Request{}
		}
		r.Remade[db] = q
		delete(r.Requests, db)
	}
}

// withdraw ends this unit's request, for a reason.
func (r *record) withdraw(db ovndb.Database, reason string) {
	delete(r.Requests, db)
	if r.Refused == nil {
		r.Refused = map[ovndb.Database]string{}
	}
	r.Refused[db] = reason
}
