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
			p, err := u.reconcile(ctx, true)
			if *after = p.result; err != nil {
				return restore.Seen{}, err
			}
			return p.seen(), nil
		},
	}
}

// judging determines what is known of the unit and of both databases for the judgement of a recovery.
func (u *Reconciler) judging(ctx context.Context) (restore.Seen, error) {
	r, err := u.loadRecord()
	if err != nil {
		return restore.Seen{}, err
	}
	snapshot := u.Observer.Observe(ctx, u.Tools)
	if err := snapshot.Application.Unread; err != nil {
		return restore.Seen{}, err
	}
	p, err := u.observe(ctx, r, Snapshot{Snapshot: snapshot}, true)
	if err != nil {
		return restore.Seen{}, err
	}
	if err := u.bringUpToDate(ctx, p); err != nil {
		return restore.Seen{}, err
	}
	r.recovery.Judging = true
	p.result.state, err = u.state(ctx, p)
	return p.seen(), err
}

func (p pass) seen() restore.Seen {
	return restore.Seen{Unit: p.record.recovery, Snapshot: p.result.Snapshot.Snapshot, Plan: p.result.state}
}
