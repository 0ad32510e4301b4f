package restore

import (
	"context"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// Operation carries out an operator's command on a unit.
type Operation struct {
	// Look observes the unit and both databases for a judgement. Reconcile also makes all steps that are possible now.
	Look, Reconcile func(context.Context) (Seen, error)
	// Progress shows the operator a line.
	Progress func(ctx context.Context, text string)
}

// Seen is an observed unit.
type Seen struct {
	*Unit
	Snapshot observe.Snapshot
	Plan     plan.State
}

// Recover makes new clusters of this unit's data, or of a backup. It judges the request, records it, and makes all
// steps that are possible now; all units continue in their hooks. The same command continues, too, and does nothing if
// the new clusters are served. If nothing was begun, the error is a [*finding.RefusedError].
func (o Operation) Recover(ctx context.Context, request Request) (found Found, err error) {
	typed := request
	o.Progress(ctx, "looking at this unit's servers and at what the other units have published")
	u, err := o.Look(ctx)
	if err != nil {
		return found, err
	}
	if request.Withdraw {
		return o.takeBack(ctx, u, request)
	}
	if request.Again {
		u.Forget(request)
	}
	request.Databases = u.Databases(request, u.Plan.Recovery)
	if len(request.Databases) == 0 {
		subject := finding.Subject{Databases: ovndb.Databases(), Name: u.Env.Unit}
		led := finding.New(finding.RecoveryHasQuorum, subject, finding.Args{})
		return found, finding.Refuse([]finding.Finding{led})
	}
	if u, err = o.continued(ctx, u, request); err != nil {
		return found, err
	}
	again := typed.againCommand(u.Env.Unit, u.Plan.Recovery)
	if done, refusals := u.Done(request, u.Plan.Recovery, again); len(refusals) > 0 {
		return found, finding.Refuse(refusals)
	} else if len(done) == len(request.Databases) {
		return Found{Findings: done}, nil
	}
	if request.Backup != "" {
		manifest, err := backup.Read(request.Backup)
		if err != nil {
			return found, err
		}
		found.Plan = append(found.Plan, finding.Statement{Line: finding.BackupTaken, Args: finding.Args{
			Unit: manifest.Unit, Time: manifest.Taken, Duration: u.Now().Sub(manifest.Taken),
		}})
	}
	asked, refusals := u.judge(ctx, request, typed, u.Plan, &found)
	if len(refusals) > 0 || request.DryRun {
		return found, finding.Refuse(refusals)
	}
	return found, o.begin(ctx, u, request, asked, &found)
}

// continued continues an action that was killed after the new cluster replaced the old one: a server that was not
// started yet has not lost a quorum.
func (o Operation) continued(ctx context.Context, u Seen, request Request) (Seen, error) {
	starts := func(db ovndb.Database) bool { return u.starts(request, u.Plan.Recovery[db], db) }
	if request.DryRun || !slices.ContainsFunc(request.Databases, starts) {
		return u, nil
	}
	if _, err := o.Reconcile(ctx); err != nil {
		return u, err
	}
	return o.Look(ctx)
}

// begin records the requests, and makes all steps that are possible now.
func (o Operation) begin(
	ctx context.Context, u Seen, request Request, asked map[ovndb.Database]recovery.Request, found *Found,
) error {
	for db, q := range asked {
		u.Note(db, u.Attempts[db].AskFor(q))
	}
	u, err := o.saved(ctx, u, found)
	if !found.Begun {
		return err
	}
	status := finding.If(finding.OnceActive, command.Command{Unit: u.Env.Unit, Action: "recovery-status"})
	var givenUp []string
	for _, q := range asked {
		givenUp = append(givenUp, q.GivenUp...)
	}
	if len(givenUp) > 0 {
		slices.SortFunc(givenUp, unitname.Compare)
		status.When = finding.OnceOthers
		status = status.For(strings.Join(slices.Compact(givenUp), ", "))
	}
	remedies := append([]finding.Remedy{status}, recovery.ClientsAfter()...)
	found.Findings = []finding.Finding{finding.New(finding.RecoveryBegun, finding.Subject{}, finding.Args{}, remedies...)}
	if err != nil {
		return err
	}
	var reasons []finding.Finding
	for _, db := range request.Databases {
		if a := u.Attempts[db]; a.Stage == recovery.Withdrawn {
			reasons = append(reasons, a.Why)
		}
	}
	return finding.Refuse(reasons)
}

// saved saves the unit's state, and makes all steps that are possible now.
func (o Operation) saved(ctx context.Context, u Seen, found *Found) (Seen, error) {
	if err := u.Save(); err != nil {
		return u, err
	}
	found.Begun = true
	after, err := o.Reconcile(ctx)
	if err != nil {
		after = u
	}
	return after, err
}

// takeBack ends the requests of this unit. One whose new cluster is being published right now is carried out
// nevertheless.
func (o Operation) takeBack(ctx context.Context, u Seen, request Request) (found Found, err error) {
	for _, db := range ovndb.Databases() {
		if q := u.Request(db); q != nil && (len(request.Databases) == 0 || slices.Contains(request.Databases, db)) {
			taken := finding.Statement{Database: db, Line: finding.TakenBack, Args: finding.Args{Time: q.Asked}}
			found.Plan = append(found.Plan, taken)
			u.Note(db, u.Attempts[db].TakeBack())
		}
	}
	if len(found.Plan) == 0 {
		found.Plan = []finding.Statement{{Line: finding.NothingToTakeBack}}
	}
	if request.DryRun {
		return found, nil
	}
	_, err = o.saved(ctx, u, &found)
	return found, err
}
