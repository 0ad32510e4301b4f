package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
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
	// Confirmed is i-really-mean-it; DryRun judges and shows, and changes nothing.
	Confirmed, DryRun bool
}

// RecoverResult is what is to be said of it.
type RecoverResult struct {
	// Plan and Waiting are as in [recovery.Verdict].
	Plan, Waiting []string
	// Proofs are of the databases whose new cluster has taken the old one's place; Proven
	// says that all that were asked for have, and that each proof is complete.
	Proofs []recovery.Proof
	Proven bool
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
// refuses, begins, and goes as far as it can; other units, and this one, go on in their
// hooks. Called again it goes on too.
func (u *Reconciler) Recover(ctx context.Context, request RecoverRequest) (RecoverResult, error) {
	var found RecoverResult
	r, state, err := u.recoveryState(ctx)
	if err != nil {
		return found, err
	}
	states := state.Recovery
	if len(request.Databases) == 0 {
		request.Databases = withoutRaftLeader(states, request.Backup != "")
		for _, db := range ovndb.Databases() {
			if r.remade(request, states[db], db) && !slices.Contains(request.Databases, db) {
				request.Databases = append(request.Databases, db)
			}
		}
	}
	if len(request.Databases) == 0 {
		return found, &RecoverError{[]string{"this unit's servers know a leader of both databases: no quorum is lost; if the other units have just failed, run it again in a minute"}}
	}
	if !request.DryRun && slices.ContainsFunc(request.Databases, func(db ovndb.Database) bool { return r.unfinished(request, states[db], db) }) {
		// An action that was killed after the new cluster took the old one's place goes on; a
		// server that it has not started is no quorum that was lost anew.
		if _, err = u.Reconcile(ctx, true); err != nil {
			return found, err
		}
		if r, state, err = u.recoveryState(ctx); err != nil {
			return found, err
		}
		states = state.Recovery
	}
	var manifest backup.Manifest
	if request.Backup != "" {
		if manifest, err = backup.Read(request.Backup); err != nil {
			return found, err
		}
		found.Plan = append(found.Plan, fmt.Sprintf("the backup was taken on %s at %s, %s ago", manifest.Unit, manifest.Taken.Format(time.RFC3339), u.Now().Sub(manifest.Taken).Truncate(time.Second)))
	}
	asked, refusals := u.judgeRecovery(r, request, states, &found)
	if overtaken := r.overtaken(request, states); len(overtaken) > 0 {
		return found, u.forgetOvertaken(r, request, overtaken)
	}
	if len(refusals) == 0 && len(asked) > 0 {
		refusals = append(u.refuseDying(state), u.refuseContents(ctx, asked)...)
	}
	slices.Sort(refusals)
	switch {
	case len(refusals) > 0:
		return found, &RecoverError{refusals}
	case request.DryRun:
		return found, nil
	case !request.Confirmed:
		lost := "what is given up can't be brought back"
		if request.Backup != "" {
			lost = "every change since the backup was taken is lost"
		}
		return found, &RecoverError{[]string{lost + "; to confirm, add i-really-mean-it=true; to see the plan, add dry-run=true"}}
	}
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
	return found, u.conclude(ctx, o, request, &found)
}

// judgeRecovery judges what is asked for of each database: what is to be asked of its units,
// what refuses it, and, in found, what is planned and waited for.
func (u *Reconciler) judgeRecovery(r *record, request RecoverRequest, states map[ovndb.Database]recovery.State, found *RecoverResult) (asked map[ovndb.Database]recovery.Request, refusals []string) {
	asked = map[ovndb.Database]recovery.Request{}
	unknown := map[string]int{}
	for _, db := range request.Databases {
		state := states[db]
		state.Database, state.Unit = db, u.Env.Unit
		if r.remade(request, state, db) {
			found.Plan = append(found.Plan, fmt.Sprintf("%s: the new cluster has replaced %s; to prove that it works, a write to it is read back from each unit", db.Short(), r.Remade[db].Cluster))
			continue
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
		refusals = append(refusals, v.Refusals...)
		for _, name := range state.Unknown(q) {
			if state.Request == nil || !slices.Contains(state.Request.GivenUp, name) { // else its unit was removed since
				unknown[name]++
			}
		}
		asked[db] = state.WithUnits(q)
	}
	for name, databases := range unknown {
		if databases == len(asked) && !slices.ContainsFunc(request.GivenUp, func(given raft.IDArgument) bool { return given.Text == name && r.gaveUp(given) }) {
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

// overtaken are the databases whose clusters were made anew by another command than the restore that is typed
// again: what is served is not its backup, and a proof would say that it is.
func (r *record) overtaken(request RecoverRequest, states map[ovndb.Database]recovery.State) (all []ovndb.Database) {
	for _, db := range request.Databases {
		if q, there := r.Remade[db]; there && request.Backup != "" && q.Backup == request.Backup && q.New != states[db].Cluster {
			all = append(all, db)
		}
	}
	return all
}

// forgetOvertaken says so, once: what an operator then types again restores the backup anew.
func (u *Reconciler) forgetOvertaken(r *record, request RecoverRequest, overtaken []ovndb.Database) error {
	var reasons []string
	for _, db := range overtaken {
		reasons = append(reasons, fmt.Sprintf("%s: another recovery or restore went first, so this backup's cluster is not the one that is served; to restore this backup, run the same command again", db.Short()))
		delete(r.Remade, db)
	}
	if !request.DryRun {
		if err := u.saveRecord(r); err != nil {
			return err
		}
	}
	return &RecoverError{reasons}
}

// conclude says what has become of a request, and proves what came about. A unit may be lost after
// the new cluster was made: whatever the command names now is given up.
func (u *Reconciler) conclude(ctx context.Context, o Result, request RecoverRequest, found *RecoverResult) error {
	r, err := u.loadRecord()
	if err != nil {
		return err
	}
	var withdrawn []string
	remade := map[ovndb.Database]recovery.Request{}
	for _, db := range request.Databases {
		if reason := r.Refused[db]; reason != "" {
			withdrawn = append(withdrawn, reason)
		} else if q, there := r.Remade[db]; there {
			q.GivenUp = slices.Clone(q.GivenUp)
			for _, given := range request.GivenUp {
				q.GivenUp = append(q.GivenUp, given.Text)
			}
			remade[db] = q
		}
	}
	found.Proofs = u.prove(ctx, o, remade)
	if found.Proven = proven(request.Databases, found.Proofs); found.Proven {
		r.forgetProven(found.Proofs)
	}
	var broken []string
	for _, p := range found.Proofs {
		broken = append(broken, p.Broken()...)
	}
	if err := u.saveRecord(r); err != nil {
		return err
	}
	switch {
	case len(withdrawn) > 0:
		return &RecoverError{withdrawn}
	case len(broken) > 0:
		return fmt.Errorf("%w: %s", errNotProved, strings.Join(append(broken, u.unitsToKick(found.Proofs)...), "; "))
	}
	return nil
}

// unitsToKick says what is to be typed for units that have become members, and were lost then: starting them
// comes first, so that it is the plan of a kick and no more.
func (u *Reconciler) unitsToKick(proofs []recovery.Proof) (ways []string) {
	for _, p := range proofs {
		for _, unit := range p.Units {
			way := fmt.Sprintf("if %s is lost for good: %s", unit.Unit, u.command("kick", "unit="+unit.Unit, "dry-run=true"))
			if unit.Failure != "" && unit.Unit != u.Env.Unit && !slices.Contains(ways, way) {
				ways = append(ways, way)
			}
		}
	}
	return ways
}

// proven says whether all databases that were asked for are proved.
func proven(asked []ovndb.Database, proofs []recovery.Proof) bool {
	return len(proofs) == len(asked) && !slices.ContainsFunc(proofs, func(p recovery.Proof) bool { return !p.Complete() })
}

// forgetProven has the same command begin anew from now on. It is for requests of which all databases are
// proved: if one alone were forgotten, it would be made anew each time that the command goes on with the other.
func (r *record) forgetProven(proofs []recovery.Proof) {
	for _, p := range proofs {
		if p.Everywhere() || r.Remade[p.Database].Backup != "" {
			delete(r.Remade, p.Database)
		}
	}
}

// gaveUp says whether a request that has come about gives up what is named. An identity is no member's
// any more once its cluster was given up, and the command that names it goes on with the other database.
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

// errNotProved is returned where the new cluster has taken the old one's place, and does not
// serve all units that are its members.
var errNotProved = errors.New("the new cluster is in place, but not every member serves it; repair that member's server, then run the same command again")

// inPlace says whether the application's cluster is the one that was made for what is asked for.
func (r *record) inPlace(request RecoverRequest, state recovery.State, db ovndb.Database) bool {
	q, there := r.Remade[db]
	return there && q.Backup == request.Backup && q.New == state.Cluster
}

// remade says whether what is asked for has come about, so that only the proof is left. A
// server that was started and knows no leader may have lost its quorum anew.
func (r *record) remade(request RecoverRequest, state recovery.State, db ovndb.Database) bool {
	return r.inPlace(request, state, db) && (request.DryRun || state.Own == nil || state.Own.HasRaftLeader)
}

// unfinished says whether the new cluster may not have been started here yet.
func (r *record) unfinished(request RecoverRequest, state recovery.State, db ovndb.Database) bool {
	return r.inPlace(request, state, db) && (state.Own == nil || !state.Own.HasRaftLeader)
}

// recoveryState is what this unit has recorded, and what is known of it, and of both databases
// for a judgement.
func (u *Reconciler) recoveryState(ctx context.Context) (r *record, s plan.State, err error) {
	if r, err = u.loadRecord(); err != nil {
		return r, s, err
	}
	snapshot := u.Observer.Observe(ctx, u.Tools)
	if err := snapshot.Application.Unread; err != nil {
		return r, s, err
	}
	p, err := u.observe(ctx, r, Result{Snapshot: snapshot}, true)
	if err != nil {
		return r, s, err
	}
	if err := u.bringUpToDate(ctx, p); err != nil {
		return r, s, err
	}
	p.judging = true
	s, err = u.state(ctx, p)
	return r, s, err
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
