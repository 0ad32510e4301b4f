package restore

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// Request is the command that an operator typed.
type Request struct {
	// Databases are the named databases. If there are none, it means all that know no leader here, or with a Backup
	// both.
	Databases []ovndb.Database
	// GivenUp are names of units, or IDs of members.
	GivenUp []raft.IDArgument
	// Force has the meaning of [recovery.Request].Force.
	Force bool
	// Backup is the directory of a backup; empty recovers from this unit's file.
	Backup string
	// Again is the time of an earlier request of this unit, and permits replacing the clusters that were made by then.
	// So the same command, typed once more, does not replace the clusters that it has made.
	Again time.Time
	// Withdraw ends the requests of this unit whose new cluster is not published yet.
	Withdraw bool
	// Confirmed is the parameter i-really-mean-it. DryRun changes nothing.
	Confirmed, DryRun bool
}

// Found is the judgement of a request.
type Found struct {
	// Plan has the meaning of [recovery.Verdict].Plan.
	Plan []finding.Statement
	// Findings are problems, reasons to wait, and results, with the next commands.
	Findings []finding.Finding
	// Begun reports whether the unit has changed, so that its status must be set.
	Begun bool
	// Proofs are the proofs of databases that a new member has joined.
	Proofs []recovery.Proof
}

// command returns the typed command with these given up names and flags.
func (r Request) command(unit string, giveUp []string, flags ...string) command.Command {
	c := recovery.Request{GivenUp: giveUp, Force: r.Force, Backup: r.Backup}.Command(unit, r.Databases)
	if !r.Again.IsZero() {
		c.Params = append(c.Params, command.Param{Key: "again", Value: r.Again.Format(againLayout)})
	}
	for _, flag := range flags {
		c.Params = append(c.Params, command.Param{Key: flag, Value: "true"})
	}
	return c
}

// againLayout is the layout of the parameter again, the same as of a backup's name. YAML takes it for a text.
const againLayout = "20060102T150405Z"

// ParseAgain reads the parameter again.
func ParseAgain(text string) (time.Time, error) { return time.Parse(againLayout, text) }

// againCommand returns the dry run that makes new clusters once more, although earlier requests have made the present
// ones.
func (r Request) againCommand(
	unit string, states map[ovndb.Database]recovery.State, earlier time.Time,
) command.Command {
	var names []string
	for _, given := range r.GivenUp {
		names = append(names, nameOf(given, states))
	}
	r.Again = earlier
	return r.command(unit, names, planned)
}

// judgement is the judgement of a request for all its databases.
type judgement struct {
	asked map[ovndb.Database]recovery.Request
	// misspelt are refusals of names that no database knows, lacking those that end if their units are given up, and
	// refusals all others.
	misspelt, lacking, refusals []finding.Finding
	// giveUp are the units, and IDs of members, that the request gives up or would have to give up, in order. No name is
	// misspelt.
	giveUp []string
	// unknown maps a name to the number of databases that don't know it.
	unknown map[string]int
	// waiting are events that the request waits for unless it is refused.
	waiting []finding.Finding
}

// judgeAll judges a request for each database; it adds plans and waits to found.
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
		case recovery.Placed: // this is a dry run; other requests were refused earlier
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
			j.misspelt = append(j.misspelt, f)
			j.giveUp = slices.DeleteFunc(j.giveUp, func(given string) bool { return given == name })
		}
	}
	return j
}

// judge judges a request for the database of a state.
func (j *judgement) judge(request Request, state recovery.State, found *Found) {
	db := state.Database
	q := recovery.Request{
		Cluster: state.Cluster, GivenUp: state.Named(request.GivenUp), Force: request.Force, Backup: request.Backup,
	}
	if made := state.Request; made != nil && made.Cluster == state.Cluster && made.New != "" {
		if made.Backup != request.Backup { // this request's cluster would be published, not the typed one's
			goOn := recovery.Request{Backup: made.Backup}.Command(state.Unit, []ovndb.Database{db}, confirmed)
			j.refusals = append(j.refusals, finding.Of(finding.RecoveryUnderWay, db, finding.Args{}, finding.Do(goOn)))
			return
		}
		// The made cluster may be published, so the request continues, and also gives up the units that were lost since.
		q = made.Repeated(q.GivenUp, q.Force)
	}
	if slices.Contains(q.GivenUp, state.Unit) {
		own := finding.Of(finding.RecoveryOfGivenUp, db, finding.Args{})
		own.Subject.Name = state.Unit
		j.refusals = append(j.refusals, own)
		return
	}
	q.Asked = state.AskedAt(q.Backup)
	if f, is := state.Before(q); is {
		j.refusals = append(j.refusals, f)
		return
	}
	v := state.Judge(q)
	found.Plan = append(found.Plan, v.Plan...)
	// Nothing waits for what only a plan has, or a refused request.
	switch {
	case state.Request != nil:
		found.Findings = append(found.Findings, v.Waiting...)
	case request.Confirmed && !request.DryRun && len(v.Refusals) == 0:
		j.waiting = append(j.waiting, v.Waiting...)
	}
	for _, f := range v.Refusals {
		j.refuse(f)
	}
	for _, name := range state.Unknown(q) {
		// The name may be in the pending request although its unit was removed since.
		if state.Request == nil || !slices.Contains(state.Request.GivenUp, name) {
			j.unknown[name]++
		}
	}
	j.asked[db] = state.WithUnits(q)
}

// dropServed drops what a recovery lacks of databases that other servers serve: there is no quorum to recover.
func (j *judgement) dropServed(request Request, states map[ovndb.Database]recovery.State) {
	served := func(db ovndb.Database) bool { return request.Backup == "" && len(states[db].Serving) > 0 }
	j.lacking = slices.DeleteFunc(j.lacking, func(f finding.Finding) bool {
		return slices.ContainsFunc(f.Subject.Databases, served)
	})
}

// refuse adds a refusal, with the units that the request would have to give up.
func (j *judgement) refuse(f finding.Finding) {
	if giveUp := recovery.Lacking(f); len(giveUp) > 0 {
		j.lacking, j.giveUp = append(j.lacking, f), append(j.giveUp, giveUp...)
	} else {
		j.refusals = append(j.refusals, f)
	}
}

// Forget permits replacing the clusters of the request's databases once more, if its Again is the time of the last
// earlier request.
func (k *Kept) Forget(request Request) {
	if request.Again.IsZero() || !request.Again.Equal(k.earlier(request)) {
		return
	}
	for _, db := range request.included() {
		k.Note(db, k.Attempts[db].Forget())
		if all := k.Restored[db]; len(all) > 0 {
			k.Restored[db] = slices.DeleteFunc(all, func(x restored) bool { return x.Backup == request.Backup })
		}
	}
}

// earlier returns the time of this unit's last finished request for the same data; zero if there was none.
func (k *Kept) earlier(request Request) (last time.Time) {
	see := func(at time.Time) {
		if at.After(last) {
			last = at
		}
	}
	for _, db := range request.included() {
		if a := k.Attempts[db]; a.Of(request.Backup) != recovery.Idle {
			see(a.Request.Asked)
		}
		for _, x := range k.Restored[db] {
			if x.Backup == request.Backup {
				see(x.At)
			}
		}
	}
	return last
}

// included returns the named databases, or all if none is named.
func (r Request) included() []ovndb.Database {
	if len(r.Databases) > 0 {
		return r.Databases
	}
	return ovndb.Databases()
}

// Done returns a finding for each database whose cluster the same request has replaced, and whose new cluster is
// served. If the new cluster is no longer served, Done refuses the request: a person must decide to repeat it (R19),
// with the command that it names.
func (k *Kept) Done(
	request Request, states map[ovndb.Database]recovery.State, again command.Command,
) (done, refusals []finding.Finding) {
	for _, db := range ovndb.Databases() {
		if !slices.Contains(request.Databases, db) {
			continue
		}
		q := k.Attempts[db].Request
		before := slices.IndexFunc(k.Restored[db], func(x restored) bool { return x.Backup == request.Backup })
		next := k.Request(db)
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
		case before >= 0 && (next == nil || next.Backup != request.Backup):
			args.Time = k.Restored[db][before].At
			refusals = append(refusals, finding.Of(finding.RecoveryEnded, db, args, finding.If(finding.IfSinceLost, again)))
		}
	}
	return done, refusals
}

// refuseDying refuses to begin on a unit that is being removed: its hooks make no new cluster, and no other unit
// stops its server for it. It can't know which of the staying units are lost.
func (u *Unit) refuseDying(s plan.State) []finding.Finding {
	if !s.Dying {
		return nil
	}
	place := finding.RestoreAnew
	for _, state := range s.Recovery {
		stays := func(p recovery.Peer) bool { return !p.Dying && p.Copy != nil && p.Copy.Cluster == state.Cluster }
		if slices.ContainsFunc(state.Peers, stays) {
			place = finding.RestoreThere
		}
	}
	backup := finding.Do(command.Command{Unit: u.Env.Unit, Action: "backup"})
	return []finding.Finding{finding.New(finding.RecoveryDying, finding.Subject{}, finding.Args{}, backup,
		finding.ByHand(place))}
}

// The flags of commands: planned for a dry run, confirmed to act.
const (
	planned   = "dry-run"
	confirmed = "i-really-mean-it"
)

// judge judges a request, including the space on the disk and the packages, and completes the typed command. If a
// unit or the confirmation is missing, it refuses all but a dry run.
func (u *Unit) judge(
	ctx context.Context, request, typed Request, state plan.State, found *Found,
) (asked map[ovndb.Database]recovery.Request, refusals []finding.Finding) {
	j := u.judgeAll(request, state.Recovery, found)
	if slices.ContainsFunc(request.Databases, func(db ovndb.Database) bool {
		return u.stage(request, state.Recovery[db], db) == recovery.Placed
	}) {
		typed.Again = u.earlier(typed)
	}
	first := resumes(request, state)
	j.dropServed(request, state.Recovery)
	for i, f := range j.lacking {
		j.lacking[i].Remedies = slices.Concat(first, recovery.Ways(f, u.completed(typed, j, planned)))
	}
	if len(j.misspelt) > 0 { // the remedies of other refusals have the misspelt name
		return j.asked, append(j.misspelt, j.lacking...)
	}
	refusals = j.refusals
	if len(refusals) == 0 && len(j.asked) > 0 {
		refusals = u.refuseDying(state)
	}
	if len(refusals) == 0 && len(j.lacking) == 0 && len(j.asked) > 0 {
		u.telling(ctx, "checking the data and the space on the disk", func() { refusals = u.refuseContents(ctx, j.asked) })
	}
	switch {
	case len(refusals) > 0:
		return j.asked, append(withQuorum(u.Env.Unit, refusals, first), j.lacking...)
	case len(j.lacking) > 0:
		if !request.DryRun {
			return j.asked, j.lacking
		}
		found.Findings = append(found.Findings, j.lacking...)
	case request.DryRun && len(j.asked) > 0:
		found.Findings = append(found.Findings, finding.New(finding.RecoveryPlanned, finding.Subject{}, finding.Args{},
			slices.Concat(first, []finding.Remedy{u.completed(typed, j, confirmed)})...))
	case !request.DryRun && !request.Confirmed:
		ways := slices.Concat(first, []finding.Remedy{u.completed(typed, j, planned), u.completed(typed, j, confirmed)})
		return j.asked, []finding.Finding{finding.New(finding.Unconfirmed, finding.Subject{}, finding.Args{}, ways...)}
	}
	found.Findings = append(found.Findings, j.waiting...)
	return j.asked, nil
}

// resumes returns the remedies that end the pauses of the units that a recovery does not give up: their votes may bring
// the quorum back. A restore needs no votes.
func resumes(request Request, s plan.State) (ways []finding.Remedy) {
	if request.Backup != "" {
		return nil
	}
	if s.Paused {
		ways = append(ways, finding.Do(command.RunHook(s.Unit)))
	}
	for _, p := range s.Peers {
		given := func(name raft.IDArgument) bool { return name.Text == p.Unit }
		if p.Paused && !slices.ContainsFunc(request.GivenUp, given) {
			ways = append(ways, finding.Do(command.RunHook(p.Unit)))
		}
	}
	return ways
}

// withQuorum adds remedies to the refusals because of a quorum: the ends of pauses, since a paused unit does not take
// part in it; if there is no other remedy, the status of this unit, which shows the members.
func withQuorum(unit string, refusals []finding.Finding, resumes []finding.Remedy) []finding.Finding {
	for i, f := range refusals {
		if f.Code != finding.RecoveryHasQuorum {
			continue
		}
		refusals[i].Remedies = slices.Concat(resumes, f.Remedies)
		if len(refusals[i].Remedies) == 0 {
			see := command.Command{Unit: unit, Action: "cluster-status"}
			refusals[i].Remedies = []finding.Remedy{finding.If(finding.ToSeeMembers, see)}
		}
	}
	return refusals
}

// completed returns the typed command with all given up units, under the condition that they are lost.
func (u *Unit) completed(typed Request, j judgement, flag string) finding.Remedy {
	c := typed.command(u.Env.Unit, j.giveUp, flag)
	if len(j.giveUp) == 0 {
		return finding.Do(c)
	}
	return recovery.Without(c, j.giveUp...)
}

// nameOf returns a given up name in a form that can be typed again: Juju may have taken a member's ID for a number.
func nameOf(given raft.IDArgument, states map[ovndb.Database]recovery.State) string {
	for _, db := range ovndb.Databases() {
		if names := states[db].Named([]raft.IDArgument{given}); names[0] != given.Text {
			return names[0]
		}
	}
	return given.Text
}
