package restore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
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

// Seen is the observed state of a unit.
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
	u.Forget(request)
	request.Databases = u.Databases(request, u.Plan.Recovery)
	if len(request.Databases) == 0 {
		subject := finding.Subject{Databases: ovndb.Databases(), Name: u.Env.Unit}
		led := []finding.Finding{finding.New(finding.RecoveryHasQuorum, subject, finding.Args{})}
		return found, finding.Refuse(withQuorum(u.Env.Unit, led, resumes(request, u.Plan)))
	}
	if u, err = o.continued(ctx, u, request); err != nil {
		return found, err
	}
	again := typed.againCommand(u.Env.Unit, u.Plan.Recovery, u.earlier(typed))
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
		found.Plan = append(found.Plan, ofOtherCluster(request, manifest, u.Plan.Recovery)...)
	}
	asked, refusals := u.judge(ctx, request, typed, u.Plan, &found)
	if len(refusals) > 0 || request.DryRun {
		return found, finding.Refuse(refusals)
	}
	return found, o.begin(ctx, u, request, asked, &found)
}

// ofOtherCluster names the databases whose backup is of another cluster than the application's: one that was replaced
// since, or that of another application.
func ofOtherCluster(
	request Request, manifest backup.Manifest, states map[ovndb.Database]recovery.State,
) (plan []finding.Statement) {
	for _, x := range manifest.Databases {
		served := states[x.Name].Cluster
		if slices.Contains(request.Databases, x.Name) && served != "" && x.Cluster != served {
			plan = append(plan, finding.Statement{
				Database: x.Name, Line: finding.BackupOfOther,
				Args: finding.Args{Cluster: string(served), Other: string(x.Cluster)},
			})
		}
	}
	return plan
}

// continued continues an action that was killed after the new cluster replaced the old one: if the new server was not
// started yet, no quorum was lost.
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

// takeBack ends the requests of this unit. A request is still carried out if its new cluster is being published right
// now.
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

// RejoinRequest is the command that an operator typed.
type RejoinRequest struct {
	// Databases are the named databases. If there are none, it means all whose file is damaged, or whose data is not the
	// cluster's.
	Databases []ovndb.Database
	// Confirmed and DryRun have the meanings of [Request]'s fields.
	Confirmed, DryRun bool
}

// Rejoin replaces servers of this unit that can't be started any more, or whose data differs from the cluster's. It
// asks the unit that leads a database, or a staying one if that unit is being removed, to remove the old server. That
// unit removes it like the action kick, if the others are a quorum without it (R1). Then this unit puts the file away
// and joins again. If it is called again after that, Rejoin proves that the new server serves.
func (o Operation) Rejoin(ctx context.Context, request RejoinRequest) (found Found, err error) {
	u, err := o.Look(ctx)
	if err != nil {
		return found, err
	}
	asked, joined, refusals := u.judgeRejoin(ctx, request, &found)
	if len(asked)+len(joined)+len(refusals) == 0 {
		both := finding.Subject{Databases: ovndb.Databases()}
		refusals = append(refusals, finding.New(finding.RejoinNotNeeded, both, finding.Args{}))
	}
	if len(refusals) == 0 && !request.DryRun && !request.Confirmed {
		ways := []finding.Remedy{request.again(u.Env.Unit, planned), request.again(u.Env.Unit, confirmed)}
		refusals = append(refusals, finding.New(finding.Unconfirmed, finding.Subject{}, finding.Args{}, ways...))
	}
	if len(refusals) > 0 || request.DryRun {
		return found, finding.Refuse(refusals)
	}
	if u.Kept.Rejoin == nil {
		u.Kept.Rejoin = map[ovndb.Database]raft.ID{}
	}
	maps.Copy(u.Kept.Rejoin, asked) // an earlier request for the other database continues
	if u, err = o.saved(ctx, u, &found); err != nil {
		return found, err
	}
	return found, u.proveRejoined(ctx, joined, &found)
}

// judgeRejoin returns the servers to remove, the replaced ones, and the refusals; it adds the plan to found.
func (u Seen) judgeRejoin(
	ctx context.Context, request RejoinRequest, found *Found,
) (asked, joined map[ovndb.Database]raft.ID, refusals []finding.Finding) {
	asked, joined = map[ovndb.Database]raft.ID{}, map[ovndb.Database]raft.ID{}
	for _, db := range ovndb.Databases() {
		meant := slices.Contains(request.Databases, db)
		if len(request.Databases) > 0 && !meant {
			continue
		}
		x := u.Plan.Databases[db]
		switch id := u.Snapshot.Own[db].Server; {
		case !x.Replaceable() && u.Rejoined[db] != "":
			joined[db] = u.Rejoined[db]
			found.Plan = append(found.Plan, finding.Statement{Database: db, Line: finding.JoinedAnew, Name: joined[db].Short()})
		case !x.Replaceable() && meant:
			refusals = append(refusals, finding.Of(finding.RejoinNotNeeded, db, finding.Args{}))
		case !x.Replaceable():
		case len(id) < fullID:
			refusals = append(refusals, finding.Of(finding.RejoinUnknown, db, finding.Args{},
				finding.ByHand(finding.KickElsewhere)))
		case len(u.askServers(ctx, u.Snapshot, db, []raft.ID{u.Plan.Clusters.IDs[db]}).connected) == 0:
			refusals = append(refusals, finding.Of(finding.RejoinNoCluster, db, finding.Args{}))
		default:
			asked[db] = id
			removes := finding.Statement{
				Database: db, Line: finding.LeaderRemoves, Name: id.Short(), Args: finding.Args{Path: x.File.Path},
			}
			if x.IsRaftLeader() { // a leader can't remove itself
				removes.Line = finding.OthersRemove
			}
			found.Plan = append(found.Plan, removes)
		}
	}
	return asked, joined, refusals
}

func (r RejoinRequest) again(unit, flag string) finding.Remedy {
	c := recovery.Request{}.Command(unit, r.Databases, flag)
	c.Action = "rejoin"
	return finding.Do(c)
}

// proveRejoined proves that new members serve, and that the old ones were removed.
func (u Seen) proveRejoined(ctx context.Context, joined map[ovndb.Database]raft.ID, found *Found) error {
	requests, wrong := map[ovndb.Database]recovery.Request{}, []finding.Finding(nil)
	for db, old := range joined {
		if u.Snapshot.Servers[db].Status.HasMember(old) {
			subject := finding.Subject{Databases: []ovndb.Database{db}, Name: old.Short()}
			wrong = append(wrong, finding.New(finding.RejoinOldMember, subject, finding.Args{}))
			continue
		}
		requests[db] = recovery.Request{}
	}
	found.Proofs = u.prove(ctx, u.Plan, requests)
	for _, p := range found.Proofs {
		wrong = append(wrong, p.Broken(u.Env.Unit)...)
		if p.Complete() {
			delete(u.Rejoined, p.Database)
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%w: %w", errRejoinNotProved, finding.Refuse(wrong))
	}
	return u.Save()
}

// errRejoinNotProved is returned if this unit has joined again, but not every member serves.
var errRejoinNotProved = finding.Reason{Code: finding.RejoinNotProved}.Err()

const fullID = 36
