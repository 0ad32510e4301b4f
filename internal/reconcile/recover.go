package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// RecoverRequest is what an operator asks for.
type RecoverRequest struct {
	// Databases are those that are meant; none is all that know no leader here, and with
	// a Backup both.
	Databases []ovndb.Database
	// GivenUp are names of units, or IDs of members.
	GivenUp []raft.IDArgument
	// Force is as in [recovery.Request].
	Force bool
	// Backup is the directory of a backup; empty recovers from this unit's file.
	Backup string
	// Again permits to replace once more what an earlier request of this unit has replaced.
	Again bool
	// Confirmed is i-really-mean-it; DryRun judges and shows, and changes nothing.
	Confirmed, DryRun bool
}

// command is the command as it was typed, with the names that it gives up and with flags.
func (r RecoverRequest) command(unit string, giveUp []string, flags ...string) command.Command {
	if r.Again {
		flags = append([]string{"again"}, flags...)
	}
	return recovery.Request{GivenUp: giveUp, Force: r.Force, Backup: r.Backup}.Command(unit, r.Databases, flags...)
}

// again is the command that plans to make new clusters once more.
func (r RecoverRequest) again(unit string, states map[ovndb.Database]recovery.State) command.Command {
	var names []string
	for _, given := range r.GivenUp {
		names = append(names, nameOf(given, states))
	}
	r.Again = true
	return r.command(unit, names, planned)
}

// RecoverResult is what is to be said of it.
type RecoverResult struct {
	// Plan is as in [recovery.Verdict].
	Plan []string
	// Findings are what is lacking or waited for, and what came of it, with what to type next.
	Findings []finding.Finding
	// Result is how the unit is afterwards; nil where nothing was begun.
	Result *Result
}

// Recover makes new clusters of the data that this unit has, or of a backup. It plans,
// refuses, begins, and goes as far as it can; all units continue in their hooks. If it is
// called again it continues too, and does nothing if all has come about. If nothing was begun, the error is a
// [*finding.RefusedError].
func (u *Reconciler) Recover(ctx context.Context, request RecoverRequest) (RecoverResult, error) {
	var found RecoverResult
	typed := request
	u.Members.Progress(ctx, "looking at this unit's servers and at what the other units have published")
	r, state, err := u.recoveryState(ctx)
	if err != nil {
		return found, err
	}
	if request.Again {
		r.forgetRemade(request)
	}
	request.Databases = r.databases(request, state.Recovery)
	if len(request.Databases) == 0 {
		return found, refuse(finding.New(finding.RecoveryHasQuorum, finding.Subject{Databases: ovndb.Databases(), Name: u.Env.Unit}, finding.Args{}))
	}
	if !request.DryRun && slices.ContainsFunc(request.Databases, func(db ovndb.Database) bool { return r.starts(request, state.Recovery[db], db) }) {
		// An action that was killed after the new cluster replaced the old one continues. A server that it
		// has not started yet has not lost a quorum.
		if _, err = u.Reconcile(ctx, true); err != nil {
			return found, err
		}
		if r, state, err = u.recoveryState(ctx); err != nil {
			return found, err
		}
	}
	if done, refusals := r.alreadyDone(request, state.Recovery, typed.again(u.Env.Unit, state.Recovery)); len(refusals) > 0 {
		return found, refuse(refusals...)
	} else if len(done) == len(request.Databases) {
		return RecoverResult{Findings: done}, nil
	}
	var manifest backup.Manifest
	if request.Backup != "" {
		if manifest, err = backup.Read(request.Backup); err != nil {
			return found, err
		}
		found.Plan = append(found.Plan, fmt.Sprintf("the backup was taken on %s at %s, %s ago", manifest.Unit, manifest.Taken.Format(time.RFC3339), u.Now().Sub(manifest.Taken).Truncate(time.Second)))
	}
	asked, refusals := u.judgeCompletely(ctx, r, request, typed, state, &found)
	if len(refusals) > 0 || request.DryRun {
		return found, refuse(refusals...)
	}
	for db, q := range asked {
		r.attempt(db, r.Attempts[db].AskFor(q))
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

// refuse is the error of these reasons; nil if there are none.
func refuse(reasons ...finding.Finding) error {
	if len(reasons) == 0 {
		return nil
	}
	return &finding.RefusedError{Findings: reasons}
}

// judgement is what is found of a request for all of its databases.
type judgement struct {
	asked map[ovndb.Database]recovery.Request
	// refusals are but those that end once what they name is given up: these are lacking.
	refusals, lacking []finding.Finding
	// giveUp are the units, and IDs of members, that the request gives up or would have to give up, in their order.
	giveUp []string
}

// judgeRecovery judges what is asked for of each database; found gets what is planned and waited for.
func (u *Reconciler) judgeRecovery(r *record, request RecoverRequest, states map[ovndb.Database]recovery.State, found *RecoverResult) judgement {
	j := judgement{asked: map[ovndb.Database]recovery.Request{}}
	unknown := map[string]int{}
	for _, db := range request.Databases {
		state := states[db]
		state.Database, state.Unit = db, u.Env.Unit
		switch before := r.Attempts[db].Request; r.stage(request, state, db) {
		case recovery.Served:
			found.Plan = append(found.Plan, fmt.Sprintf("%s: the new cluster has replaced %s; nothing more is done", db.Short(), before.Cluster))
			continue
		case recovery.Placed: // only a dry run comes here
			found.Plan = append(found.Plan, fmt.Sprintf("%s: this unit made this cluster at %s; to make another one, add again=true", db.Short(), before.Asked.Format(time.RFC3339)))
		}
		q := recovery.Request{Cluster: state.Cluster, GivenUp: state.Named(request.GivenUp), Force: request.Force, Backup: request.Backup, Asked: u.Now().UTC().Truncate(time.Second)}
		if made := state.Request; made != nil && made.Cluster == state.Cluster && made.New != "" {
			if made.Backup != request.Backup {
				// What is published then is not what was typed.
				goOn := recovery.Request{Backup: made.Backup}.Command(u.Env.Unit, []ovndb.Database{db}, confirmed)
				j.refusals = append(j.refusals, finding.Of(finding.RecoveryUnderWay, db, finding.Args{}, finding.Do(goOn)))
				continue
			}
			// It may be published: it goes on as it was asked for, without what was lost since.
			q = made.Repeated(q.GivenUp, q.Force)
		}
		v := state.Judge(q)
		found.Plan, found.Findings = append(found.Plan, v.Plan...), append(found.Findings, v.Waiting...)
		for _, f := range v.Refusals {
			if giveUp := recovery.Lacking(f); len(giveUp) > 0 {
				j.lacking, j.giveUp = append(j.lacking, f), append(j.giveUp, giveUp...)
			} else {
				j.refusals = append(j.refusals, f)
			}
		}
		for _, name := range state.Unknown(q) {
			if state.Request == nil || !slices.Contains(state.Request.GivenUp, name) { // else its unit was removed since
				unknown[name]++
			}
		}
		j.asked[db] = state.WithUnits(q)
	}
	for _, given := range request.GivenUp {
		j.giveUp = append(j.giveUp, nameOf(given, states))
	}
	slices.SortFunc(j.giveUp, unitname.Compare)
	j.giveUp = slices.Compact(j.giveUp)
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		past := func(given raft.IDArgument) bool { return given.Text == name && r.gaveUp(given) }
		if unknown[name] == len(j.asked) && !slices.ContainsFunc(request.GivenUp, past) {
			j.refusals = append(j.refusals, finding.New(finding.RecoveryNameUnknown, finding.Subject{Name: name}, finding.Args{}))
		}
	}
	return j
}

// forgetRemade forgets that the databases of a request were replaced before.
func (r *record) forgetRemade(request RecoverRequest) {
	for _, db := range ovndb.Databases() {
		if len(request.Databases) == 0 || slices.Contains(request.Databases, db) {
			r.attempt(db, r.Attempts[db].Forget())
			if all := r.Restored[db]; len(all) > 0 {
				r.Restored[db] = slices.DeleteFunc(all, func(x restored) bool { return x.Backup == request.Backup })
			}
		}
	}
}

// alreadyDone returns a finding for each database for which the same request has come about, and its cluster is served.
// It refuses a request that has come about but whose cluster is not served any more: to do it again is a decision that
// a person must type (R19): the command again.
func (r *record) alreadyDone(request RecoverRequest, states map[ovndb.Database]recovery.State, again command.Command) (done, refusals []finding.Finding) {
	for _, db := range ovndb.Databases() {
		if !slices.Contains(request.Databases, db) {
			continue
		}
		q := r.Attempts[db].Request
		before := slices.IndexFunc(r.Restored[db], func(x restored) bool { return x.Backup == request.Backup })
		next, pending := r.request(db)
		args := finding.Args{Time: q.Asked, Cluster: q.New.Brief()}
		switch stage := r.stage(request, states[db], db); {
		case stage == recovery.Served:
			f := finding.Of(finding.RecoveryDone, db, args, finding.Do(command.Command{Unit: again.Unit, Action: "recovery-status"}))
			if request.Backup != "" {
				f.Remedies = append(f.Remedies, finding.If(finding.IfSinceLost, again))
			}
			done = append(done, f)
		case stage == recovery.Placed && request.DryRun:
		case stage == recovery.Placed:
			refusals = append(refusals, finding.Of(finding.RecoveryNotLed, db, args, finding.If(finding.IfQuorumLost, again)))
		case stage == recovery.Overtaken && request.Backup != "":
			refusals = append(refusals, finding.Of(finding.RecoveryEnded, db, args, finding.If(finding.IfSinceLost, again)))
		case before >= 0 && !(pending && next.Backup == request.Backup):
			args.Time = r.Restored[db][before].At
			refusals = append(refusals, finding.Of(finding.RecoveryEnded, db, args, finding.If(finding.IfSinceLost, again)))
		}
	}
	return done, refusals
}

// withdrawn returns why a request was withdrawn, if it was.
func (u *Reconciler) withdrawn(request RecoverRequest) error {
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

// gaveUp reports whether a request that has come about gives up what is named. An identity belongs to no member
// once its cluster was given up, and the command that names it continues with the other database.
func (r *record) gaveUp(name raft.IDArgument) bool {
	var peers []raft.Peer
	for _, a := range r.Attempts {
		if !a.Replaced() {
			continue
		}
		for _, given := range a.Request.GivenUp {
			if given == name.Text {
				return true
			}
			peers = append(peers, raft.Peer{ID: raft.ID(given)})
		}
	}
	found, _ := raft.Resolve(name, peers)
	return len(found.Peers) > 0
}

// stage is how far what is asked for is, if the old cluster was replaced for it. A server that was started and knows no
// leader may have lost its quorum once more.
func (r *record) stage(request RecoverRequest, state recovery.State, db ovndb.Database) recovery.Stage {
	return r.Attempts[db].Seen(state.Cluster).Led(state.Own == nil || state.Own.HasRaftLeader).Of(request.Backup)
}

// starts reports whether what is asked for has come about, and its new cluster may not have been started here yet.
func (r *record) starts(request RecoverRequest, state recovery.State, db ovndb.Database) bool {
	stage := r.stage(request, state, db)
	return stage == recovery.Placed || stage == recovery.Served && state.Own == nil
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
	o.Snapshot = u.Observer.Observe(ctx, u.Tools)
	if err := o.Snapshot.Application.Unread; err != nil {
		return r, o, err
	}
	p, err := u.observe(ctx, r, o, true)
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

// withoutRaftLeader are the databases whose server here knows no leader, or all.
func withoutRaftLeader(states map[ovndb.Database]recovery.State, all bool) (databases []ovndb.Database) {
	for _, db := range ovndb.Databases() {
		if s, known := states[db]; known && (all || s.Own != nil && !s.Own.HasRaftLeader) {
			databases = append(databases, db)
		}
	}
	return databases
}
