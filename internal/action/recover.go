package action

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/reconcile"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/restore"
)

// recoverQuorum makes new clusters of what this unit has.
func recoverQuorum(ctx context.Context, u Unit, p params) (results, error) {
	return u.recover(ctx, p, "")
}

// restoreBackup makes new clusters of a backup.
func restoreBackup(ctx context.Context, u Unit, p params) (results, error) {
	from, err := p.text("from")
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(from) {
		return nil, u.noBackup(ctx, p, from)
	}
	from = filepath.Clean(from) // by which a backup that was restored is known
	shown, err := u.recover(ctx, p, from)
	if _, missing := backup.Read(from); err != nil &&
		(errors.Is(missing, fs.ErrNotExist) || errors.Is(missing, syscall.ENOTDIR)) {
		err = u.noBackup(ctx, p, from)
	}
	return shown, err
}

func (u Unit) recover(ctx context.Context, p params, from string) (results, error) {
	r := restore.Request{Backup: from}
	var err error
	if r.Databases, err = p.databases(); err != nil {
		return nil, err
	}
	if r.GivenUp, err = p.names("give-up"); err != nil {
		return nil, err
	}
	if r.Force, err = p.flag("force"); err != nil {
		return nil, err
	}
	if r.Confirmed, err = p.flag("i-really-mean-it"); err != nil {
		return nil, err
	}
	if r.DryRun, err = p.flag("dry-run"); err != nil {
		return nil, err
	}
	if r.Again, err = p.flag("again"); err != nil {
		return nil, err
	}
	if r.Withdraw, err = p.flag("withdraw"); err != nil {
		return nil, err
	}
	format, err := p.format()
	if err != nil {
		return nil, err
	}
	var after reconcile.Result
	found, err := u.Reconciler.Recovery(&after).Recover(ctx, r)
	failure := refused(err)
	shown := results{}
	shown.list("plan", finding.Statements(found.Plan))
	var lacking, waiting, next []finding.Finding
	for _, f := range found.Findings {
		switch {
		case f.Severity == finding.Waiting:
			waiting = append(waiting, f)
			continue
		case f.Severity == finding.Error:
			lacking = append(lacking, f)
		case f.Code == finding.RecoveryDone:
			shown["result"] = lines([]string{"nothing was done", f.Message()})
		}
		next = append(next, f)
	}
	shown.list("lacking", present.Messages(lacking))
	shown.list("next", present.Ways(u.Env.Version, next))
	shown.list("waiting", present.Lines(u.Env.Version, waiting))
	failure = errors.Join(failure, u.settle(ctx, shown, found, after))
	return shown, errors.Join(failure, u.document(shown, format, found.Findings, failure))
}

// refused is an error that says first that nothing was done, if it is no other than a refusal.
func refused(err error) error {
	if _, is := err.(*finding.RefusedError); is { //nolint:errorlint // one that is wrapped says what was done
		return fmt.Errorf("nothing was done: %w", err)
	}
	return err
}

// settle shows and sets the status of a unit that something was begun on.
func (u Unit) settle(ctx context.Context, shown results, found restore.Found, after reconcile.Result) error {
	if !found.Begun {
		return nil
	}
	word, text := u.Reconciler.Status(after)
	shown["status"] = fmt.Sprintf("%s: %s", word, text)
	return u.Tools.StatusSet(ctx, word, text)
}

// document adds the findings for programs, and those that a failure is made of, if the format is theirs.
func (u Unit) document(shown results, format string, all []finding.Finding, failure error) (err error) {
	if format == "json" || format == "yaml" {
		shown["findings"], err = rendered(format, present.Documents(u.Env.Version, append(all, finding.Reasons(failure)...)),
			nil)
	}
	return err
}

// list adds a result of lines, if there are any.
func (r results) list(key string, all []string) {
	if len(all) > 0 {
		r[key] = lines(all)
	}
}

// prove shows what was seen of clusters that were written to.
func (u Unit) prove(shown results, proofs []recovery.Proof) {
	var proof []string
	for _, p := range proofs {
		proof = slices.Concat(proof, present.Messages(p.Findings(u.Env.Unit)), finding.Statements(p.Proved()))
	}
	shown.list("proof", proof)
}

// recoveryStatus shows how far recoveries and restores are, and proves what they have made.
func recoveryStatus(ctx context.Context, u Unit, p params) (results, error) {
	format, err := p.format()
	if err != nil {
		return nil, err
	}
	found, failure := u.Reconciler.Recovery(nil).Status(ctx)
	shown := results{}
	var withdrawn, waiting, next []finding.Finding
	for _, f := range found.Findings {
		switch {
		case f.Code == finding.RecoveryWithdrawn:
			withdrawn = append(withdrawn, f)
		case f.Severity == finding.Waiting:
			waiting = append(waiting, f)
		default:
			next = append(next, f)
		}
	}
	shown.list("recovery", append(finding.Statements(found.Made), present.Lines(u.Env.Version, withdrawn)...))
	shown.list("waiting", append(finding.Statements(found.Running), present.Lines(u.Env.Version, waiting)...))
	u.prove(shown, found.Proofs)
	switch {
	case failure != nil:
	case finding.Has(next, finding.RecoveryProved):
		shown.list("next", append([]string{"it is proved: " + next[len(next)-1].Message()},
			present.Ways(u.Env.Version, next)...))
	case len(found.Running)+len(waiting)+len(found.Proofs) > 0:
		shown.list("next", append(present.Ways(u.Env.Version, next),
			"wait until all units are active, then run: "+u.command("recovery-status")))
	case len(found.Made)+len(withdrawn) == 0:
		shown["recovery"] = "no recovery or restore has made these clusters, and none is running\n"
	}
	return shown, errors.Join(failure, u.document(shown, format, found.Findings, failure))
}

// databases are the named one, or both if none is named.
func (p params) databases() ([]ovndb.Database, error) {
	name, err := p.text("database")
	for _, db := range ovndb.Databases() {
		if db.Short() == name {
			return []ovndb.Database{db}, err
		}
	}
	return nil, err
}

// rejoin has a new server join in the place of one that can't be started any more.
func rejoin(ctx context.Context, u Unit, p params) (results, error) {
	var (
		r   restore.RejoinRequest
		err error
	)
	if r.Databases, err = p.databases(); err != nil {
		return nil, err
	}
	if r.Confirmed, err = p.flag("i-really-mean-it"); err != nil {
		return nil, err
	}
	if r.DryRun, err = p.flag("dry-run"); err != nil {
		return nil, err
	}
	format, err := p.format()
	if err != nil {
		return nil, err
	}
	var after reconcile.Result
	found, err := u.Reconciler.Recovery(&after).Rejoin(ctx, r)
	failure := refused(err)
	shown := results{}
	shown.list("plan", finding.Statements(found.Plan))
	u.prove(shown, found.Proofs)
	if found.Begun && len(found.Proofs) == 0 {
		shown["next"] = lines([]string{"once this unit is active, run the same command again: " +
			"it writes to the database and reads that back from each unit"})
	}
	failure = errors.Join(failure, u.settle(ctx, shown, found, after))
	return shown, errors.Join(failure, u.document(shown, format, nil, failure))
}
