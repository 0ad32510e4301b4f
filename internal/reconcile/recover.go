package reconcile

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/restore"
)

// Recovery is for what an operator asks of recoveries on this unit. after becomes what the unit came to, if anything
// was begun.
func (u *Reconciler) Recovery(after *Result) restore.Operation {
	return restore.Operation{
		Look: u.judging, Progress: u.Members.Progress,
		Reconcile: func(ctx context.Context) (restore.Seen, error) {
			r, o, err := u.reconcile(ctx, true)
			*after = o
			return seen(r, o), err
		},
	}
}

// judging determines what is known of the unit and of both databases for the judgement of a recovery.
func (u *Reconciler) judging(ctx context.Context) (found restore.Seen, err error) {
	r, err := u.loadRecord()
	if err != nil {
		return found, err
	}
	var o Result
	o.Thorough = true
	o.Snapshot.Snapshot = u.Observer.Observe(ctx, u.Tools)
	if err := u.askJuju(ctx, r, &o.Snapshot); err != nil {
		return found, err
	}
	r.Recovery.Judging = true
	o.State, err = r.Look(ctx, o.Snapshot)
	return seen(r, o), err
}

func seen(r *record, o Result) restore.Seen {
	return restore.Seen{Unit: r.Recovery, Snapshot: o.Snapshot.Snapshot, Plan: o.State}
}
