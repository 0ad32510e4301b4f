package reconcile

import (
	"context"
	"sync"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// FinishRecoveries does in the `stop` of a unit what [plan.Decide] leaves to one that is being removed, where a recovery is
// under way: while its `stop` fails no other hook runs. It returns what is waited for. Where Juju does not say all that
// is needed, nothing is done: `stop` needs no relation.
func (u *Reconciler) FinishRecoveries(ctx context.Context, snapshot observe.Snapshot) (after observe.Snapshot, waiting []string) {
	r, err := u.loadRecord()
	m := snapshot.Application
	if err != nil || m.Unread != nil || !m.OthersStay() || !r.recovery.Involved(ctx, m) {
		return snapshot, nil
	}
	p, err := u.observe(ctx, r, Snapshot{Snapshot: snapshot}, true)
	if err == nil {
		_, err = u.converge(ctx, &p)
	}
	if err != nil {
		u.Log.WarnContext(ctx, "cannot do this unit's part of the recovery; continuing", "error", err)
		return p.result.Snapshot.Snapshot, nil
	}
	for _, f := range p.result.Decision.Findings {
		if f.Severity == finding.Waiting {
			waiting = append(waiting, f.Message())
		}
	}
	return p.result.Snapshot.Snapshot, waiting
}

// ResumeToLeave starts the servers of a paused unit that is being removed while others stay: a server that doesn't run
// can't leave, and a removal is to leave no member behind (rule R9). It is one attempt, within a bounded time;
// what a server is then is judged as ever.
func (u *Reconciler) ResumeToLeave(ctx context.Context, snapshot observe.Snapshot) observe.Snapshot {
	r, err := u.loadRecord()
	if err != nil || !r.Paused || !snapshot.Application.OthersStay() {
		return snapshot
	}
	if err := u.notePaused(r, false); err != nil {
		u.Log.WarnContext(ctx, "cannot note that the unit is resumed; leaving its servers stopped", "error", err)
		return snapshot
	}
	var wg sync.WaitGroup
	for _, db := range ovndb.Databases() {
		if l := snapshot.Servers[db]; l.Condition != ovndb.Down || r.recovery.Held[db] != "" {
			continue
		}
		wg.Go(func() {
			log := u.Log.With("database", db.Short())
			log.InfoContext(ctx, "starting the server that a pause has stopped, so that it can leave")
			if err := r.steps.StartOne(ctx, ovndb.ServiceOf(db)); err != nil {
				log.WarnContext(ctx, "cannot start the server; continuing without it", "error", err)
			}
		})
	}
	wg.Wait()
	return u.Observer.Refresh(ctx, snapshot)
}

// refuseUnplaced is the refusal where units stay while the new cluster's file is still to be put in its place here: its
// data are nowhere else (rule R9). Where Juju could not be asked, so may be those of one that was made for a request.
func (u *Reconciler) refuseUnplaced(ctx context.Context, p pass, unread bool) error {
	m, clusters := p.result.Snapshot.Application, p.record.leader.Clusters
	if !m.OthersStay() {
		return nil
	}
	var reasons []finding.Finding
	for _, db := range ovndb.Databases() {
		staged, err := u.Files.Staged(ctx, db)
		published := staged.Cluster == clusters.IDs[db]
		if err != nil || staged.Cluster == "" || !published && !(unread && p.record.recovery.Attempts[db].Pending() && staged.Cluster == p.record.recovery.Attempts[db].Request.New) {
			continue
		}
		reasons = append(reasons, finding.Of(finding.NewClusterUnplaced, db, finding.Args{Detail: "beside " + u.Paths.File(db)}))
	}
	return finding.Refuse(reasons, finding.Do(command.Command{Unit: m.Unit, Action: "resume"}), finding.ByHand(finding.AwaitJoin), membership.TakeTheCopy(m))
}
