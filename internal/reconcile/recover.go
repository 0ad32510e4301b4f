package reconcile

import (
	"context"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/restore"
)

// RecoverResult is the result of a recovery for its caller.
type RecoverResult struct {
	restore.Found
	// Result is how the unit is afterwards; nil if nothing was begun.
	Result *Result
}

// restorer judges and proves on this unit.
func (u *Reconciler) restorer() restore.Unit {
	return restore.Unit{Machine: u.Machine}
}

// Recover makes new clusters of the data that this unit has, or of a backup. It plans,
// refuses, begins, and goes as far as it can; all units continue in their hooks. If it is
// called again it continues too, and does nothing if all has come about. If nothing was begun, the error is a
// [*finding.RefusedError].
func (u *Reconciler) Recover(ctx context.Context, request restore.Request) (RecoverResult, error) {
	var found RecoverResult
	typed := request
	u.Members.Progress(ctx, "looking at this unit's servers and at what the other units have published")
	r, state, err := u.recoveryState(ctx)
	if err != nil {
		return found, err
	}
	if request.Withdraw {
		return u.takeBack(ctx, r, request)
	}
	if request.Again {
		r.Forget(request)
	}
	request.Databases = r.Databases(request, state.Recovery)
	if len(request.Databases) == 0 {
		return found, refuse(finding.New(finding.RecoveryHasQuorum, finding.Subject{Databases: ovndb.Databases(), Name: u.Env.Unit}, finding.Args{}))
	}
	if !request.DryRun && slices.ContainsFunc(request.Databases, func(db ovndb.Database) bool { return r.Starts(request, state.Recovery[db], db) }) {
		// An action that was killed after the new cluster replaced the old one continues. A server that it
		// has not started yet has not lost a quorum.
		if _, err = u.Reconcile(ctx, true); err != nil {
			return found, err
		}
		if r, state, err = u.recoveryState(ctx); err != nil {
			return found, err
		}
	}
	if done, refusals := r.Done(request, state.Recovery, typed.AgainCommand(u.Env.Unit, state.Recovery)); len(refusals) > 0 {
		return found, refuse(refusals...)
	} else if len(done) == len(request.Databases) {
		return RecoverResult{Found: restore.Found{Findings: done}}, nil
	}
	var manifest backup.Manifest
	if request.Backup != "" {
		if manifest, err = backup.Read(request.Backup); err != nil {
			return found, err
		}
		found.Plan = append(found.Plan, finding.Statement{Line: finding.BackupTaken, Args: finding.Args{
			Unit: manifest.Unit, Time: manifest.Taken, Duration: u.Now().Sub(manifest.Taken),
		}})
	}
	unit := u.restorer()
	unit.Progress = u.Members.Progress
	asked, refusals := unit.Judge(ctx, &r.Kept, request, typed, state, &found.Found)
	if len(refusals) > 0 || request.DryRun {
		return found, refuse(refusals...)
	}
	for db, q := range asked {
		r.Note(db, r.Attempts[db].AskFor(q))
	}
	r.Settled = false
	if err := u.saveRecord(r); err != nil {
		return found, err
	}
	o, err := u.Reconcile(ctx, true)
	found.Result = &o
	status := finding.If(finding.OnceActive, command.Command{Unit: u.Env.Unit, Action: "recovery-status"})
	found.Findings = []finding.Finding{
		finding.New(finding.RecoveryBegun, finding.Subject{}, finding.Args{}, append([]finding.Remedy{status}, recovery.ClientsAfter()...)...),
	}
	if err != nil {
		return found, err
	}
	return found, u.withdrawn(request)
}

// takeBack ends the requests of this unit. One whose new cluster is published in this moment comes about all the same.
func (u *Reconciler) takeBack(ctx context.Context, r *record, request restore.Request) (found RecoverResult, err error) {
	for _, db := range ovndb.Databases() {
		if q, is := r.Request(db); is && (len(request.Databases) == 0 || slices.Contains(request.Databases, db)) {
			found.Plan = append(found.Plan, finding.Statement{Database: db, Line: finding.TakenBack, Args: finding.Args{Time: q.Asked}})
			r.Note(db, r.Attempts[db].TakeBack())
		}
	}
	if len(found.Plan) == 0 {
		found.Plan = []finding.Statement{{Line: finding.NothingToTakeBack}}
	}
	if request.DryRun {
		return found, nil
	}
	r.Settled = false
	if err := u.saveRecord(r); err != nil {
		return found, err
	}
	o, err := u.Reconcile(ctx, true)
	found.Result = &o
	return found, err
}

// refuse is the error of these reasons; nil if there are none.
func refuse(reasons ...finding.Finding) error {
	if len(reasons) == 0 {
		return nil
	}
	return &finding.RefusedError{Findings: reasons}
}

// withdrawn returns why a request was withdrawn, if it was.
func (u *Reconciler) withdrawn(request restore.Request) error {
	r, err := u.loadRecord()
	if err != nil {
		return err
	}
	var reasons []finding.Finding
	for _, db := range request.Databases {
		if a := r.Attempts[db]; a.Stage == recovery.Withdrawn {
			reasons = append(reasons, a.Why)
		}
	}
	return refuse(reasons...)
}

// recoveryState returns what this unit has recorded, and what is known of it and of both databases for a judgement.
func (u *Reconciler) recoveryState(ctx context.Context) (*record, plan.State, error) {
	r, o, err := u.recoveryResult(ctx)
	return r, o.state, err
}

func (u *Reconciler) recoveryResult(ctx context.Context) (r *record, o Result, err error) {
	if r, err = u.loadRecord(); err != nil {
		return r, o, err
	}
	o.Snapshot.Snapshot = u.Observer.Observe(ctx, u.Tools)
	if err := o.Snapshot.Application.Unread; err != nil {
		return r, o, err
	}
	p, err := u.observe(ctx, r, o.Snapshot, true)
	if err != nil {
		return r, o, err
	}
	if err := u.bringUpToDate(ctx, p); err != nil {
		return r, o, err
	}
	p.judging = true
	o.state, err = u.state(ctx, p)
	return r, o, err
}
