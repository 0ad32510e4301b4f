package hook

import (
	"context"
	"errors"
	"maps"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/reconcile"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// stop is a finalizer (R9): it fails while leaving would break a quorum. Then the servers continue to serve, and Juju
// retries.
func stop(ctx context.Context, u *reconcile.Reconciler) error {
	return finalize(ctx, u, u.Observer.Observe(ctx, u.Tools))
}

// errNotKnownToStay means that Juju did not tell whether this unit is being removed.
var errNotKnownToStay = errors.New("cannot find out whether this unit is being removed; Juju tries again")

// peerBroken does the work of `stop` in a unit that is being removed. Juju 4 doesn't wait for `stop` once the unit is
// in no relation, which is so after this hook if the unit's agent has restarted; while this hook fails, the unit stays
// in the relation. `stop` then has nothing left to do, or does everything if this hook did not run. In a unit that
// stays, the relation can't be used any more, and nothing depends on it.
func peerBroken(ctx context.Context, u *reconcile.Reconciler) error {
	snapshot := u.Observer.Observe(ctx, u.Tools)
	switch {
	case snapshot.Application.Goal == nil:
		return errNotKnownToStay
	case !snapshot.Application.Dying(u.Env.Unit):
		return nil
	}
	err := finalize(ctx, u, snapshot)
	if reasons := finding.Reasons(err); len(reasons) > 0 {
		return finding.Refuse(reasons, finding.Remedy{When: finding.IfHookSkipped, Deed: finding.SkipStopToo})
	}
	return err
}

// finalize removes the unit from both clusters, or fails.
func finalize(ctx context.Context, u *reconcile.Reconciler, snapshot observe.Snapshot) error {
	if snapshot.Application.OthersStay() {
		u.Admit(ctx, snapshot.Application)
	}
	snapshot, waiting, err := u.PrepareToLeave(ctx, snapshot)
	var results []membership.LeaveResult
	if err == nil {
		results, err = u.Members.Stop(ctx, snapshot.Application, snapshot.Cache)
	}
	for _, f := range results {
		u.Log.InfoContext(ctx, f.Database.Short()+": "+f.Text) //nolint:sloglint // for people, as the hook's result
	}
	if err != nil {
		reasons, args := finding.Reasons(err), finding.Args{}
		if len(waiting) > 0 { // the stop of its server ends by itself, or by the remedy in its finding
			args.Detail = waiting[0]
		} else if len(reasons) == 0 {
			args.Detail = err.Error()
		}
		blocked := finding.New(finding.LeaveBlocked, finding.Subject{Name: u.Env.Unit},
			args).As(finding.Error).Because(reasons...)
		word, text := present.Workload(u.Env.Version, []finding.Finding{blocked})
		if failed := u.Tools.StatusSet(ctx, word, text); failed != nil {
			u.Log.WarnContext(ctx, "cannot set the status", "error", failed)
		}
		return err
	}
	own := remaining(snapshot.Own, results)
	u.Observer.ForgetServers(ctx, snapshot.Cache, own)
	// The servers are gone; if the relation still exists, so are the identities.
	for _, id := range snapshot.Application.Relations {
		if err := u.Tools.RelationSet(ctx, id, own.Databag()); err != nil {
			u.Log.WarnContext(ctx, "cannot remove what this unit has published", "error", err)
		}
	}
	return nil
}

// remaining are the identities of the servers that have not left.
func remaining(own relation.Identities, results []membership.LeaveResult) relation.Identities {
	kept := maps.Clone(own)
	for _, f := range results {
		if f.Gone {
			delete(kept, f.Database)
		}
	}
	return kept
}
