package reconcile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/startguard"
)

// stopFor stops the server of a database, and ovn-northd with it, which would take a new
// cluster for one with old data. It stays masked, so that a reboot does not start it. A
// server whose file lacks entries goes on until it has written it anew: it may be the only
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
	r, a := p.record, p.inputs
	request := r.Attempts[db].Request
	contents := u.standalone(db)
	defer os.Remove(contents)
	note := startguard.Record(db, p.progress.clusters.Supersede(db, "", "").Superseded[db])
	err := u.contents(ctx, request, db, contents, func(ctx context.Context, path string) (string, error) {
		if _, err := u.Files.Change(ctx, path, newMark(u.Env.Unit, request, u.Now()).operation(db)); err != nil {
			return "", err
		}
		return u.Files.Change(ctx, path, note)
	})
	switch {
	case err != nil && (ctx.Err() != nil || run.Terminated(err)):
		return err // this hook ends, and says nothing of the data; the next one makes it again
	case err != nil:
		r.attempt(db, r.Attempts[db].Withdraws(unusable(err, db)))
		return err
	}
	made, err := u.Files.StageFrom(ctx, db, ovndb.RaftAddress(db, a.address.String()), max(a.settings.ElectionTimer, time.Second), contents)
	if err != nil {
		return err
	}
	r.attempt(db, r.Attempts[db].Makes(made.Cluster))
	return u.saveRecord(r)
}

// supersede puts the new cluster in the place of the old one, for all units.
func (u *Reconciler) supersede(ctx context.Context, p pass, s plan.Step) error {
	r, g, o := p.record, p.progress, p.result
	if u.Now().After(g.at.Add(jujuLeadership)) {
		return errStale
	}
	if all := u.askServing(ctx, o.Snapshot, s.Database, []raft.ID{g.clusters.IDs[s.Database]}); len(all) > 0 {
		return fmt.Errorf("the cluster has a quorum again: %s", first(all))
	}
	for _, peer := range o.state.Peers {
		if peer.Unit == s.Unit && !reached(ctx, peer.Address, s.Database) {
			return fmt.Errorf("the machine of %s, which has the new cluster, does not answer", s.Unit)
		}
	}
	c := g.clusters.Supersede(s.Database, s.Cluster, s.Unit)
	err := u.Tools.LeaderSet(ctx, c.Settings())
	switch {
	case errors.Is(err, juju.ErrNotLeader):
		g.jujuLeader = false
		return nil
	case errors.Is(err, juju.ErrNoTool):
		return u.claimLater(ctx, p, c)
	case err != nil:
		return err
	}
	g.clusters, r.LeaderSettings = c, c.Settings()
	r.forget(g.clusters)
	return nil
}

// attempt notes how far this unit's recovery of a database is.
func (r *record) attempt(db ovndb.Database, a recovery.Attempt) {
	if r.Attempts == nil {
		r.Attempts = map[ovndb.Database]recovery.Attempt{}
	}
	if r.Attempts[db] = a; a.Stage == recovery.Idle {
		delete(r.Attempts, db)
	}
}

// request is this unit's request for a database, if one stands.
func (r *record) request(db ovndb.Database) (request recovery.Request, is bool) {
	a := r.Attempts[db]
	return a.Request, a.Pending()
}

// requested reports whether a request for any database stands.
func (r *record) requested() bool {
	for _, a := range r.Attempts {
		if a.Pending() {
			return true
		}
	}
	return false
}

// forget ends the requests whose cluster was replaced, and remembers what came of them.
func (r *record) forget(c relation.Clusters) {
	for db, a := range r.Attempts {
		after := a.Seen(c.IDs[db])
		if q := after.Request; a.Pending() && after.Stage == recovery.Placed && q.Backup != "" {
			r.noteRestored(db, q)
		}
		r.attempt(db, after)
	}
}

// maxRestored is how many restores of a database are remembered.
const maxRestored = 20

// noteRestored remembers that a backup was restored, so that the same command does not do it once more.
func (r *record) noteRestored(db ovndb.Database, q recovery.Request) {
	if r.Restored == nil {
		r.Restored = map[ovndb.Database][]restored{}
	}
	all := slices.DeleteFunc(r.Restored[db], func(x restored) bool { return x.Backup == q.Backup })
	all = append(all, restored{q.Backup, q.Asked})
	r.Restored[db] = all[max(0, len(all)-maxRestored):]
}

// ask notes that the units that were asked for a recovery are asked whether they are there,
// which the peers are told at the end of the hook. The time is what they answer with. Of a unit that is being
// removed the peers may be told nothing any more but by leader settings, which Juju 4 has not.
func (u *Reconciler) ask(ctx context.Context, p pass, db ovndb.Database) error {
	r := p.record
	if r.Asks == nil {
		r.Asks = map[ovndb.Database]time.Time{}
	}
	r.Asks[db] = u.Now().UTC().Truncate(time.Second)
	if !p.result.state.Dying {
		return nil
	}
	err := u.Tools.LeaderSet(ctx, relation.LeaderAsks(u.Env.Unit, r.Asks))
	if errors.Is(err, juju.ErrNotLeader) {
		p.progress.jujuLeader = false
	}
	if errors.Is(err, juju.ErrNotLeader) || errors.Is(err, juju.ErrNoTool) {
		return nil
	}
	return err
}

// databases are those of a request; if it names none, those without a leader and those that the same request has made.
func (r *record) databases(request RecoverRequest, states map[ovndb.Database]recovery.State) []ovndb.Database {
	if len(request.Databases) > 0 {
		return request.Databases
	}
	all := withoutRaftLeader(states, request.Backup != "")
	for _, db := range ovndb.Databases() {
		if r.stage(request, states[db], db) == recovery.Served && !slices.Contains(all, db) {
			all = append(all, db)
		}
	}
	return all
}

// answered are this unit's requests as its peers are told them.
func (r *record) answered(states map[ovndb.Database]recovery.State) map[ovndb.Database]recovery.Request {
	all := map[ovndb.Database]recovery.Request{}
	for db := range r.Attempts {
		if request, is := r.request(db); is {
			all[db] = states[db].Answer(request)
		}
	}
	return all
}
