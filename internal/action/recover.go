package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/reconcile"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/restore"
)

// recoverQuorum makes new clusters of this unit's databases.
func recoverQuorum(ctx context.Context, u Unit, p *params, r restore.Request) (results, error) {
	r.Backup = ""
	return u.recover(ctx, p, r)
}

// restoreBackup makes new clusters of a backup.
func restoreBackup(ctx context.Context, u Unit, p *params, r restore.Request) (results, error) {
	if !filepath.IsAbs(r.Backup) {
		return nil, u.noBackup(ctx, p, r.Backup)
	}
	r.Backup = filepath.Clean(r.Backup) // the path identifies a restored backup
	return u.recover(ctx, p, r)
}

// recovery reads the parameters of the actions recover and restore.
func (p *params) recovery() restore.Request {
	return restore.Request{
		Backup: p.text("from"), Databases: p.databases(), GivenUp: p.names("give-up"), Force: p.flag("force"),
		Confirmed: p.flag("i-really-mean-it"), DryRun: p.flag("dry-run"), Again: p.again(),
		Withdraw: p.flag("withdraw"),
	}
}

func (u Unit) recover(ctx context.Context, p *params, r restore.Request) (results, error) {
	var after reconcile.Result
	found, err := u.Reconciler.Recovery(&after).Recover(ctx, r)
	if err != nil && r.Backup != "" {
		err = u.orOther(ctx, p, r.Backup, err)
	}
	failure := refused(err)
	shown := results{}
	shown.list("plan", finding.Statements(found.Plan))
	var done, lacking, waiting, next []finding.Finding
	for _, f := range found.Findings {
		switch {
		case f.Severity == finding.Waiting:
			waiting = append(waiting, f)
			continue
		case f.Severity == finding.Error:
			lacking = append(lacking, f)
		case f.Code == finding.RecoveryDone:
			done = append(done, f)
		}
		next = append(next, f)
	}
	if len(done) > 0 {
		shown["result"] = lines(append([]string{"nothing was done"}, present.Messages(done)...))
	}
	shown.list("lacking", present.Messages(lacking))
	shown.list("next", present.Ways(u.Env.Version, next))
	shown.list("waiting", present.Lines(u.Env.Version, waiting))
	failure = errors.Join(failure, u.settle(ctx, shown, found, after))
	return shown, errors.Join(failure, u.addFindings(shown, p, append(found.Findings, finding.Reasons(failure)...)))
}

// refused adds to a refusal that nothing was changed.
func refused(err error) error {
	if _, is := err.(*finding.RefusedError); is { //nolint:errorlint // a wrapped refusal came after a change
		return fmt.Errorf("nothing was done: %w", err)
	}
	return err
}

// settle shows and sets the unit's status if the action has begun a change.
func (u Unit) settle(ctx context.Context, shown results, found restore.Found, after reconcile.Result) (err error) {
	if found.Begun {
		shown["status"], err = u.setStatus(ctx, after)
	}
	return err
}

// prove shows the proofs of clusters.
func (u Unit) prove(shown results, proofs []recovery.Proof) {
	var proof []string
	for _, p := range proofs {
		proof = slices.Concat(proof, present.Messages(p.Findings(u.Env.Unit)), finding.Statements(p.Proved()))
	}
	shown.list("proof", proof)
}

// recoveryStatus shows the progress of recoveries and restores, and proves the clusters that they have made.
func recoveryStatus(ctx context.Context, u Unit, p *params) (results, error) {
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
			"wait until all units that were not given up are active, then run: "+u.command("recovery-status")))
	case len(found.Made)+len(withdrawn) == 0:
		shown["recovery"] = "no recovery or restore has made these clusters, and none is running\n"
	}
	return shown, errors.Join(failure, u.addFindings(shown, p, append(found.Findings, finding.Reasons(failure)...)))
}

func (p *params) rejoin() restore.RejoinRequest {
	return restore.RejoinRequest{
		Databases: p.databases(), Confirmed: p.flag("i-really-mean-it"), DryRun: p.flag("dry-run"),
	}
}

// rejoin replaces a server that can't be started any more with a new one.
func rejoin(ctx context.Context, u Unit, p *params, r restore.RejoinRequest) (results, error) {
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
	return shown, errors.Join(failure, u.addFindings(shown, p, finding.Reasons(failure)))
}

// backupRequest are the parameters of the action backup.
type backupRequest struct {
	dir    string // empty for the default one
	keep   int
	dryRun bool
}

func (p *params) backup() backupRequest {
	return backupRequest{p.text("path"), int(p.number("keep", backup.DefaultKeep, 1, 1<<20)), p.flag("dry-run")}
}

// takeBackup copies both databases.
func takeBackup(ctx context.Context, u Unit, _ *params, r backupRequest) (results, error) {
	dir, keep := cmp.Or(r.dir, u.Backup.Files.Paths.Backups), r.keep
	if r.dryRun {
		return planBackup(ctx, u, dir, keep)
	}
	path, manifest, err := u.Backup.Take(ctx, dir, keep)
	if err != nil {
		return nil, err
	}
	found := results{"backup": path, "taken": manifest.Taken.Format(time.RFC3339)}
	for _, x := range manifest.Databases {
		found["ovn"+x.Name.Short()] = fmt.Sprintf("%d bytes from the %s of member %s, cluster %s, term %d, index %d, "+
			"schema %s; loaded, and read back",
			x.Size, x.Source, x.Server.Short(), x.Cluster, x.Term, x.Index, x.Schema)
	}
	warn(found, manifest.Databases)
	found["next"] = lines([]string{"to restore it: " + u.Env.Version.Render(u.planRestore(path))})
	return found, nil
}

// planBackup shows what a backup would copy and remove.
func planBackup(ctx context.Context, u Unit, dir string, keep int) (results, error) {
	p, err := u.Backup.Plan(ctx, dir, keep)
	if err != nil {
		return nil, err
	}
	found := results{}
	for _, x := range p.Databases {
		found["ovn"+x.Name.Short()] = fmt.Sprintf("from the %s of member %s, cluster %s, term %d, index "+
			"%d; its file has %d bytes",
			x.Source, x.Server.Short(), x.Cluster, x.Term, x.Index, x.Size)
	}
	warn(found, p.Databases)
	steps := []string{
		"copy both databases to a new directory in " + dir, "load each copy, compress it and read it back",
	}
	for _, path := range p.Removed {
		steps = append(steps, "remove "+path)
	}
	found["plan"] = lines(steps)
	return found, nil
}

// backups reads the directory of the action backups.
func (p *params) backups() string {
	dir := p.text("path")
	if dir != "" && !filepath.IsAbs(dir) {
		p.refuse("path", finding.Reason{Code: finding.TakesPath})
	} else if _, err := os.Stat(dir); dir != "" && err != nil {
		p.refuse("path", finding.Reason{Code: finding.PathUnread, Value: err.Error()})
	}
	return dir
}

// listBackups shows the backups on this machine.
func listBackups(ctx context.Context, u Unit, p *params, dir string) (results, error) {
	dir = cmp.Or(dir, u.Backup.Files.Paths.Backups)
	all, err := u.Backup.List(ctx, dir)
	if err != nil {
		return nil, err
	}
	text, err := rendered(p.format, all, func(all []backup.Listed) string {
		return document.Backups(dir, all, u.Backup.Now())
	})
	return results{"backups": text}, err
}

// orOther adds the restore of another backup to the refusal of a backup that can't be used.
func (u Unit) orOther(ctx context.Context, p *params, from string, refusal error) error {
	_, unread := backup.Read(from)
	reasons := finding.Reasons(refusal)
	unusable := finding.Has(reasons, finding.RecoveryDataUnusable)
	switch {
	case errors.Is(unread, fs.ErrNotExist), errors.Is(unread, syscall.ENOTDIR):
		return u.noBackup(ctx, p, from)
	case unread == nil && !unusable:
		return refusal
	}
	_, ways, err := u.otherBackup(ctx, from)
	switch {
	case err != nil:
		return errors.Join(refusal, err)
	case unusable:
		return finding.Refuse(reasons, ways...)
	}
	return p.invalid("from", finding.Quote(unread.Error()), ways...)
}

// noBackup refuses a restore from a path that is not a backup, and names the backup with the most similar path.
func (u Unit) noBackup(ctx context.Context, p *params, from string) error {
	nearest, ways, err := u.otherBackup(ctx, from)
	switch {
	case err != nil:
		return err
	case nearest == "":
		return p.invalid("from", takesBackup(finding.NoneIn, u.Backup.Files.Paths.Backups), ways...)
	}
	return p.invalid("from", takesBackup(finding.NearestIs, nearest), ways...)
}

// otherBackup returns the backup whose path is most similar to a path, with the dry run of its restore and the list of
// all. The path is empty if there is no other backup.
func (u Unit) otherBackup(ctx context.Context, from string) (nearest string, ways []finding.Remedy, err error) {
	all, err := u.Backup.List(ctx, u.Backup.Files.Paths.Backups)
	if err != nil {
		return "", nil, err
	}
	if nearest = backup.Nearest(all, from); nearest != "" {
		ways = []finding.Remedy{finding.Do(u.planRestore(nearest))}
	}
	see := finding.If(finding.ToSeeBackups, command.Command{Unit: u.Env.Unit, Action: "backups"})
	return nearest, append(ways, see), nil
}

// planRestore returns the dry run of a restore on this unit.
func (u Unit) planRestore(path string) command.Command {
	return recovery.Request{Backup: path}.Command(u.Env.Unit, nil, "dry-run")
}

func takesBackup(hint finding.ReasonCode, path string) finding.Reason {
	return finding.Reason{Code: finding.TakesBackup, Because: []finding.Reason{{Code: hint, Value: path}}}
}

// warn adds a line for each copy that was made of a file, because the server serves nothing.
func warn(found results, databases []backup.Database) {
	for _, x := range databases {
		if x.Source == backup.FromFile {
			why := finding.Reason{Code: finding.CopyOfFile}
			found["warnings"] += lines([]string{x.Name.Short() + ": " + why.String()})
		}
	}
}
