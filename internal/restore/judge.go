package restore

import (
	"maps"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// Request is what an operator asks for.
type Request struct {
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
	// Withdraw ends the requests of this unit whose new cluster is not published yet.
	Withdraw bool
	// Confirmed is i-really-mean-it; DryRun judges and shows, and changes nothing.
	Confirmed, DryRun bool
}

// Found is the judgement of a request.
type Found struct {
	// Plan is as in [recovery.Verdict].
	Plan []finding.Statement
	// Findings are what is lacking or waited for, and what came of it, with what to type next.
	Findings []finding.Finding
	// Begun reports whether the unit has changed, so that its status has to be set.
	Begun bool
	// Proofs are for databases of which a new member has joined.
	Proofs []recovery.Proof
}

// command is the command as it was typed, with the names that it gives up and with flags.
func (r Request) command(unit string, giveUp []string, flags ...string) command.Command {
	if r.Again {
		flags = append([]string{"again"}, flags...)
	}
	return recovery.Request{GivenUp: giveUp, Force: r.Force, Backup: r.Backup}.Command(unit, r.Databases, flags...)
}

// againCommand is the command that plans to make new clusters once more.
func (r Request) againCommand(unit string, states map[ovndb.Database]recovery.State) command.Command {
	var names []string
	for _, given := range r.GivenUp {
		names = append(names, nameOf(given, states))
	}
	r.Again = true
	return r.command(unit, names, planned)
}

// judgement is what is found of a request for all of its databases.
type judgement struct {
	asked map[ovndb.Database]recovery.Request
	// refusals are but those that end once what they name is given up: these are lacking.
	refusals, lacking []finding.Finding
	// giveUp are the units, and IDs of members, that the request gives up or would have to give up, in their order.
	giveUp []string
	// unknown counts the databases in which a name means nothing.
	unknown map[string]int
}

// judgeAll judges what is asked for of each database; found gets what is planned and waited for.
func (u *Unit) judgeAll(request Request, states map[ovndb.Database]recovery.State, found *Found) judgement {
	j := judgement{asked: map[ovndb.Database]recovery.Request{}, unknown: map[string]int{}}
	for _, db := range request.Databases {
		state := states[db]
		state.Database, state.Unit = db, u.Env.Unit
		switch before := u.Attempts[db].Request; u.stage(request, state, db) {
		case recovery.Served:
			args := finding.Args{Cluster: string(before.Cluster)}
			found.Plan = append(found.Plan, finding.Statement{Database: db, Line: finding.AlreadyReplaced, Args: args})
			continue
		case recovery.Placed: // only a dry run comes here
			args := finding.Args{Time: before.Asked}
			found.Plan = append(found.Plan, finding.Statement{Database: db, Line: finding.AlreadyMade, Args: args})
		}
		j.judge(request, state, found)
	}
	for _, given := range request.GivenUp {
		j.giveUp = append(j.giveUp, nameOf(given, states))
	}
	slices.SortFunc(j.giveUp, unitname.Compare)
	j.giveUp = slices.Compact(j.giveUp)
	for _, name := range slices.Sorted(maps.Keys(j.unknown)) {
		past := func(given raft.IDArgument) bool { return given.Text == name && u.gaveUp(given) }
		if j.unknown[name] == len(j.asked) && !slices.ContainsFunc(request.GivenUp, past) {
			f := finding.New(finding.RecoveryNameUnknown, finding.Subject{Name: name}, finding.Args{})
			j.refusals = append(j.refusals, f)
		}
	}
	return j
}

// judge judges what is asked for of the database of a state.
func (j *judgement) judge(request Request, state recovery.State, found *Found) {
	db := state.Database
	q := recovery.Request{
		Cluster: state.Cluster, GivenUp: state.Named(request.GivenUp), Force: request.Force, Backup: request.Backup,
	}
	if made := state.Request; made != nil && made.Cluster == state.Cluster && made.New != "" {
		if made.Backup != request.Backup { // what is published then is not what was typed
			goOn := recovery.Request{Backup: made.Backup}.Command(state.Unit, []ovndb.Database{db}, confirmed)
			j.refusals = append(j.refusals, finding.Of(finding.RecoveryUnderWay, db, finding.Args{}, finding.Do(goOn)))
			return
		}
		// It may be published: it continues as it was asked for, without what was lost since.
		q = made.Repeated(q.GivenUp, q.Force)
	}
	q.Asked = state.AskedAt(q.Backup)
	if f, is := state.Before(q); is {
		j.refusals = append(j.refusals, f)
		return
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
			j.unknown[name]++
		}
	}
	j.asked[db] = state.WithUnits(q)
}

// Forget forgets that the databases of a request were replaced before.
func (k *Kept) Forget(request Request) {
	for _, db := range ovndb.Databases() {
		if len(request.Databases) == 0 || slices.Contains(request.Databases, db) {
			k.Note(db, k.Attempts[db].Forget())
			if all := k.Restored[db]; len(all) > 0 {
				k.Restored[db] = slices.DeleteFunc(all, func(x restored) bool { return x.Backup == request.Backup })
			}
		}
	}
}

// Done returns a finding for each database for which the same request has come about, and its cluster is served.
// It refuses a request that has come about but whose cluster is not served any more: to do it again is a decision that
// a person must type (R19): the command again.
func (k *Kept) Done(
	request Request, states map[ovndb.Database]recovery.State, again command.Command,
) (done, refusals []finding.Finding) {
	for _, db := range ovndb.Databases() {
		if !slices.Contains(request.Databases, db) {
			continue
		}
		q := k.Attempts[db].Request
		before := slices.IndexFunc(k.Restored[db], func(x restored) bool { return x.Backup == request.Backup })
		next, pending := k.Request(db)
		args := finding.Args{Time: q.Asked, Cluster: q.New.Brief()}
		switch stage := k.stage(request, states[db], db); {
		case stage == recovery.Served:
			f := finding.Of(finding.RecoveryDone, db, args,
				finding.Do(command.Command{Unit: again.Unit, Action: "recovery-status"}))
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
			args.Time = k.Restored[db][before].At
			refusals = append(refusals, finding.Of(finding.RecoveryEnded, db, args, finding.If(finding.IfSinceLost, again)))
		}
	}
	return done, refusals
}

// refuseDying refuses to begin on a unit that is being removed: its hooks make no new cluster, and no other
// unit stops its server for it. Which of those that stay is lost is not known here.
func (u *Unit) refuseDying(s plan.State) []finding.Finding {
	if !s.Dying {
		return nil
	}
	where := finding.RestoreAnew
	for _, state := range s.Recovery {
		if slices.ContainsFunc(state.Peers, func(p recovery.Peer) bool {
			return !p.Dying && p.Copy != nil &&
				p.Copy.Cluster == state.Cluster
		}) {
			where = finding.RestoreThere
		}
	}
	backup := finding.Do(command.Command{Unit: u.Env.Unit, Action: "backup"})
	return []finding.Finding{finding.New(finding.RecoveryDying, finding.Subject{}, finding.Args{}, backup,
		finding.ByHand(where))}
}
