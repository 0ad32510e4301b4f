package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/restore"
)

// RecoveryStatus is what a unit knows of the recoveries and restores of both databases.
type RecoveryStatus struct {
	// Made is how each cluster that is served came about, if a recovery or a restore made it.
	Made []finding.Statement
	// Running are those that are not finished.
	Running []finding.Statement
	// Findings are what is waited for, what was withdrawn, and what of the proofs is not complete; or that all is proved.
	Findings []finding.Finding
	// Proofs are of the clusters that were made, if none is running for the database.
	Proofs []recovery.Proof
}

// errNotProved is returned if a new cluster has replaced the old one and does not serve all units that are its members.
var errNotProved = errors.New("the new cluster is in place, but not every member serves it")

// RecoveryStatus reports how far recoveries and restores are. Of a cluster that one of them made it proves that it
// serves: it writes a key, reads it back from each unit, and deletes it. Nothing else is changed.
func (u *Reconciler) RecoveryStatus(ctx context.Context) (RecoveryStatus, error) {
	var found RecoveryStatus
	r, o, err := u.recoveryResult(ctx)
	if err != nil {
		return found, err
	}
	proved := map[ovndb.Database]recovery.Request{}
	for _, db := range ovndb.Databases() {
		state := o.state.Recovery[db]
		running := state.Progress()
		found.Running = append(found.Running, running...)
		if why, is := state.Next().Waits(); is {
			found.Findings = append(found.Findings, why)
		}
		attempt := r.Attempts[db]
		if attempt.Stage == recovery.Withdrawn && len(running) == 0 {
			found.Findings = append(found.Findings, plan.Withdrawn(db, attempt.Why))
		}
		made, there, err := u.readMark(ctx, o, db)
		switch {
		case err != nil:
			found.Findings = append(found.Findings, finding.Of(finding.RecoveryMarkUnread, db, finding.Args{Detail: firstLine(err.Error())}))
		case there:
			found.Made = append(found.Made, made.Says(db, o.state.Databases[db].Cluster))
		}
		if there && len(running) == 0 {
			proved[db] = recovery.Request{GivenUp: made.GivenUp}
			if attempt.Replaced() {
				proved[db] = recovery.Request{GivenUp: append(made.GivenUp, attempt.Request.GivenUp...)}
			}
		}
	}
	found.Proofs = u.restorer().Prove(ctx, o.state, proved)
	var broken, open []finding.Finding
	for _, p := range found.Proofs {
		broken, open = append(broken, p.Broken(u.Env.Unit)...), append(open, p.Findings(u.Env.Unit)...)
	}
	found.Findings = append(found.Findings, open...)
	waits := slices.ContainsFunc(found.Findings, func(f finding.Finding) bool { return f.Severity == finding.Waiting })
	if len(found.Proofs) > 0 && len(found.Running)+len(open) == 0 && !waits {
		found.Findings = append(found.Findings, recovery.Proved(u.Env.Unit, found.Proofs))
	}
	if len(broken) > 0 {
		return found, fmt.Errorf("%w: %w", errNotProved, refuse(broken...))
	}
	return found, nil
}

// readMark reads how the cluster that this unit's server serves was made.
func (u *Reconciler) readMark(ctx context.Context, o Result, db ovndb.Database) (m restore.Mark, found bool, err error) {
	if x := o.state.Databases[db]; x.Condition != ovndb.Serving {
		return m, false, errors.New("it serves no database")
	}
	ctx, cancel := context.WithTimeout(ctx, restore.ReadBack)
	defer cancel()
	global, err := u.Dialer.Global(ctx, db, "unix:"+u.Paths.Socket(db))
	if err != nil {
		return m, false, err
	}
	defer global.Close()
	ids, err := global.Read(ctx)
	if err != nil {
		return m, false, err
	}
	m, found = restore.ParseMark(ids)
	return m, found, nil
}
