package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/command"
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

// RecoverResult is what is to be said of it.
type RecoverResult struct {
	// Plan and Waiting are as in [recovery.Verdict].
	Plan, Waiting []string
	// Lacking are the refusals that end once what they name is given up. In a dry run they are no error.
	Lacking []recovery.Refusal
	// GiveUp are the units, and IDs of members, that the request gives up or would have to give up, in their order.
	GiveUp []string
	// Next is the same command, completed: it gives all of these up, and acts if nothing is lacking. It is the zero
	// command if the request was refused for something else, or was begun.
	Next command.Command
	// Done says of each database that was asked for that the same request has come about before; then nothing was done.
	Done []string
	// Result is how the unit is afterwards; nil where nothing was begun.
	Result *Result
}

// RecoverError says why nothing was begun.
type RecoverError struct{ Reasons []string }

// Error is a line for each reason.
func (e *RecoverError) Error() string {
	if len(e.Reasons) == 1 {
		return "nothing was done: " + e.Reasons[0]
	}
	return "nothing was done\n" + strings.Join(e.Reasons, "\n")
}

// Recover makes new clusters of the data that this unit has, or of a backup. It plans,
// refuses, begins, and goes as far as it can; all units continue in their hooks. If it is
// called again it continues too, and does nothing if all has come about.
func (u *Reconciler) Recover(ctx context.Context, request RecoverRequest) (RecoverResult, error) {
	var found RecoverResult
	typed := request
	u.Members.Progress(ctx, "looking at this unit's servers and at what the other units have published")
	r, state, err := u.recoveryState(ctx)
	if err != nil {
		return found, err
	}
	states := state.Recovery
	if request.Again {
		r.forgetRemade(request)
	}
	request.Databases = r.databases(request, states)
	if len(request.Databases) == 0 {
		return found, &RecoverError{[]string{"this unit's servers know a leader of both databases: no quorum is lost; if the other units have just failed, run it again in a minute"}}
	}
	if !request.DryRun && slices.ContainsFunc(request.Databases, func(db ovndb.Database) bool { return r.unfinished(request, states[db], db) }) {
		// An action that was killed after the new cluster replaced the old one continues. A server that it
		// has not started yet has not lost a quorum.
		if _, err = u.Reconcile(ctx, true); err != nil {
			return found, err
		}
		if r, state, err = u.recoveryState(ctx); err != nil {
			return found, err
		}
		states = state.Recovery
	}
	if done, refusals := r.alreadyDone(request, states); len(refusals) > 0 {
		return found, &RecoverError{refusals}
	} else if len(done) == len(request.Databases) {
		return RecoverResult{Done: done}, nil
	}
	var manifest backup.Manifest
	if request.Backup != "" {
		if manifest, err = backup.Read(request.Backup); err != nil {
			return found, err
		}
		found.Plan = append(found.Plan, fmt.Sprintf("the backup was taken on %s at %s, %s ago", manifest.Unit, manifest.Taken.Format(time.RFC3339), u.Now().Sub(manifest.Taken).Truncate(time.Second)))
	}
	asked, refusals := u.judgeCompletely(ctx, r, request, typed, state, &found)
	switch {
	case len(refusals) > 0:
		return found, &RecoverError{refusals}
	case request.DryRun:
		return found, nil
	case !request.Confirmed:
		return found, &RecoverError{[]string{request.lost() + "; to confirm, add i-really-mean-it=true; to see the plan, add dry-run=true"}}
	}
	found.Next = command.Command{}
	if r.Requests == nil {
		r.Requests = map[ovndb.Database]recovery.Request{}
	}
	for db, q := range asked {
		r.Requests[db] = q
		delete(r.Refused, db)
		delete(r.Remade, db)
	}
	r.Settled = false
	if err := u.saveRecord(r); err != nil {
		return found, err
	}
	o, err := u.Reconcile(ctx, true)
	found.Result = &o
	if err != nil {
		return found, err
	}
	return found, u.withdrawn(request)
}

// lost says what can't be brought back.
func (r RecoverRequest) lost() string {
	if r.Backup != "" {
		return "every change since the backup was taken is lost"
	}
	return "what is given up can't be brought back"
}

// judgeRecovery judges what is asked for of each database: what is to be asked of its units,
// what refuses it, and, in found, what is planned and waited for.
func (u *Reconciler) judgeRecovery(r *record, request RecoverRequest, states map[ovndb.Database]recovery.State, found *RecoverResult) (asked map[ovndb.Database]recovery.Request, refusals []string) {
	asked = map[ovndb.Database]recovery.Request{}
	unknown := map[string]int{}
	var judged []recovery.Refusal
	for _, db := range request.Databases {
		state := states[db]
		state.Database, state.Unit = db, u.Env.Unit
		if r.remade(request, state, db) {
			found.Plan = append(found.Plan, fmt.Sprintf("%s: the new cluster has replaced %s; nothing more is done", db.Short(), r.Remade[db].Cluster))
			continue
		}
		if r.inPlace(request, state, db) { // only a dry run comes here
			found.Plan = append(found.Plan, fmt.Sprintf("%s: this unit made this cluster at %s; to make another one, add again=true", db.Short(), r.Remade[db].Asked.Format(time.RFC3339)))
		}
		q := recovery.Request{Cluster: state.Cluster, GivenUp: state.Named(request.GivenUp), Force: request.Force, Backup: request.Backup, Asked: u.Now().UTC().Truncate(time.Second)}
		if made := state.Request; made != nil && made.Cluster == state.Cluster && made.New != "" {
			if made.Backup != request.Backup {
				refusals = append(refusals, u.underWay(db, *made))
				continue
			}
			// It may be published: it goes on as it was asked for, without what was lost since.
			q = made.Repeated(q.GivenUp, q.Force)
		}
		v := state.Judge(q)
		found.Plan, found.Waiting = append(found.Plan, v.Plan...), append(found.Waiting, v.Waiting...)
		judged = append(judged, v.Refusals...)
		for _, name := range state.Unknown(q) {
			if state.Request == nil || !slices.Contains(state.Request.GivenUp, name) { // else its unit was removed since
				unknown[name]++
			}
		}
		asked[db] = state.WithUnits(q)
	}
	for _, refusal := range recovery.Once(judged) {
		if len(refusal.GiveUp) == 0 {
			refusals = append(refusals, refusal.String())
			continue
		}
		found.Lacking = append(found.Lacking, refusal)
		found.GiveUp = append(found.GiveUp, refusal.GiveUp...)
	}
	for _, given := range request.GivenUp {
		found.GiveUp = append(found.GiveUp, nameOf(given, states))
	}
	slices.SortFunc(found.GiveUp, unitname.Compare)
	found.GiveUp = slices.Compact(found.GiveUp)
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		past := func(given raft.IDArgument) bool { return given.Text == name && r.gaveUp(given) }
		if unknown[name] == len(asked) && !slices.ContainsFunc(request.GivenUp, past) {
			refusals = append(refusals, name+" is neither a unit nor an identity of a member")
		}
	}
	return asked, refusals
}

// underWay refuses what is typed while the new cluster of another command is made, and says how that goes on:
// what is published then is not what was typed.
func (u *Reconciler) underWay(db ovndb.Database, made recovery.Request) string {
	command := u.command("recover", "database="+db.Short(), "i-really-mean-it=true")
	if made.Backup != "" {
		command = u.command("restore", "from="+made.Backup, "database="+db.Short(), "i-really-mean-it=true")
	}
	return fmt.Sprintf("%s: another recovery or restore is under way, whose new cluster is made; to go on with it, run: %s", db.Short(), command)
}

// forgetRemade forgets that the databases of a request were replaced before.
func (r *record) forgetRemade(request RecoverRequest) {
	for _, db := range ovndb.Databases() {
		if len(request.Databases) == 0 || slices.Contains(request.Databases, db) {
			delete(r.Remade, db)
			if all := r.Restored[db]; len(all) > 0 {
				r.Restored[db] = slices.DeleteFunc(all, func(x restored) bool { return x.Backup == request.Backup })
			}
		}
	}
}

// alreadyDone returns a line for each database for which the same request has come about, and its cluster is served.
// It refuses a request that has come about but whose cluster is not served any more: to do it again is a decision that
// a person must type (R19).
func (r *record) alreadyDone(request RecoverRequest, states map[ovndb.Database]recovery.State) (done, refusals []string) {
	for _, db := range ovndb.Databases() {
		if !slices.Contains(request.Databases, db) {
			continue
		}
		q, remade := r.Remade[db]
		before := slices.IndexFunc(r.Restored[db], func(x restored) bool { return x.Backup == request.Backup })
		next, pending := r.Requests[db]
		switch {
		case remade && q.Backup == request.Backup && q.New == states[db].Cluster:
			when := q.Asked.Format(time.RFC3339)
			if own := states[db].Own; own == nil || own.HasRaftLeader {
				done = append(done, fmt.Sprintf("%s: this was asked for at %s and is done: the new cluster is %s", db.Short(), when, q.New))
			} else if !request.DryRun {
				refusals = append(refusals, fmt.Sprintf("%s: this was asked for at %s, and this unit's server knows no leader of the new cluster %s; wait for it, or, if its quorum is lost too, add again=true",
					db.Short(), when, q.New))
			}
		case remade && q.Backup == request.Backup && request.Backup != "":
			refusals = append(refusals, fmt.Sprintf("%s: another recovery or restore went first or followed, so that the cluster of this backup, asked for at %s, is not the one that is served; to restore it, and lose what was written since, add again=true",
				db.Short(), q.Asked.Format(time.RFC3339)))
		case before >= 0 && !(pending && next.Backup == request.Backup):
			refusals = append(refusals, fmt.Sprintf("%s: this backup was restored at %s; to restore it again, and lose what was written since, add again=true",
				db.Short(), r.Restored[db][before].At.Format(time.RFC3339)))
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
	var reasons []string
	for _, db := range request.Databases {
		if reason := r.Refused[db]; reason != "" {
			reasons = append(reasons, reason)
		}
	}
	if len(reasons) > 0 {
		return &RecoverError{reasons}
	}
	return nil
}

// gaveUp reports whether a request that has come about gives up what is named. An identity belongs to no member
// once its cluster was given up, and the command that names it continues with the other database.
func (r *record) gaveUp(name raft.IDArgument) bool {
	var peers []raft.Peer
	for _, q := range r.Remade {
		for _, given := range q.GivenUp {
			if given == name.Text {
				return true
			}
			peers = append(peers, raft.Peer{ID: raft.ID(given)})
		}
	}
	found, _ := raft.Resolve(name, peers)
	return len(found.Peers) > 0
}

// inPlace says whether the application's cluster is the one that was made for what is asked for.
func (r *record) inPlace(request RecoverRequest, state recovery.State, db ovndb.Database) bool {
	q, there := r.Remade[db]
	return there && q.Backup == request.Backup && q.New == state.Cluster
}

// remade reports whether what is asked for has come about. A server that was started and knows no leader may have
// lost its quorum once more.
func (r *record) remade(request RecoverRequest, state recovery.State, db ovndb.Database) bool {
	return r.inPlace(request, state, db) && (state.Own == nil || state.Own.HasRaftLeader)
}

// unfinished says whether the new cluster may not have been started here yet.
func (r *record) unfinished(request RecoverRequest, state recovery.State, db ovndb.Database) bool {
	return r.inPlace(request, state, db) && (state.Own == nil || !state.Own.HasRaftLeader)
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
