package reconcile

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/restore"
)

// Recovery returns the operations on recoveries that an operator asks for. If one begins, after receives the
// outcome of the reconcile that follows.
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

// judging returns the state of the unit and of both databases, as the judgement of a recovery needs it.
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
