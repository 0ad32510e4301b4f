package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/restore"
)

// RejoinRequest is what an operator asks for.
type RejoinRequest struct {
	// Databases are those that are meant; none is all whose file is damaged, or data differ.
	Databases []ovndb.Database
	// Confirmed and DryRun are as in [restore.Request].
	Confirmed, DryRun bool
}

// RejoinResult is what is to be said of it: the plan, how the unit is afterwards, nil where
// nothing was begun, and the proofs for databases of which a new member has joined.
type RejoinResult struct {
	Plan   []finding.Statement
	Result *Result
	Proofs []recovery.Proof
}

// Rejoin has new servers join in the place of this unit's that can't be started any more, or have
// other data than the cluster.
// It asks the unit that leads a database, or one that stays if that unit is being removed,
// to remove the old one. That is done as by the action kick, if the others are a quorum
// without it (rule R1); then this unit puts the file away and joins again. Called again once it
// has, it proves that the new one serves.
func (u *Reconciler) Rejoin(ctx context.Context, request RejoinRequest) (RejoinResult, error) {
	var found RejoinResult
	o, err := u.Plan(ctx)
	if err != nil {
		return found, err
	}
	r, err := u.loadRecord()
	if err != nil {
		return found, err
	}
	var refusals []finding.Finding
	no := func(code finding.Code, db ovndb.Database, remedies ...finding.Remedy) {
		refusals = append(refusals, finding.Of(code, db, finding.Args{}, remedies...))
	}
	asked, joined := map[ovndb.Database]raft.ID{}, map[ovndb.Database]raft.ID{}
	for _, db := range ovndb.Databases() {
		x := o.state.Databases[db]
		damaged := x.Replaceable()
		meant := slices.Contains(request.Databases, db)
		switch id := o.Snapshot.Own[db].Server; {
		case !damaged && r.Rejoined[db] != "" && (len(request.Databases) == 0 || meant):
			joined[db] = r.Rejoined[db]
			found.Plan = append(found.Plan, finding.Statement{Database: db, Line: finding.JoinedAnew, Name: joined[db].Short()})
		case !damaged && meant:
			no(finding.RejoinNotNeeded, db)
		case !damaged || len(request.Databases) > 0 && !meant:
		case len(id) < fullID:
			no(finding.RejoinUnknown, db, finding.ByHand(finding.KickElsewhere))
		case len(u.askServing(ctx, o.Snapshot, db, []raft.ID{o.state.Clusters.IDs[db]})) == 0:
			no(finding.RejoinNoCluster, db)
		default:
			asked[db] = id
			found.Plan = append(found.Plan, finding.Statement{Database: db, Line: remover(x), Name: id.Short(), Args: finding.Args{Path: x.File.Path}})
		}
	}
	if len(asked)+len(joined)+len(refusals) == 0 {
		refusals = append(refusals, finding.New(finding.RejoinNotNeeded, finding.Subject{Databases: ovndb.Databases()}, finding.Args{}))
	}
	switch {
	case len(refusals) > 0:
		return found, refuse(refusals...)
	case request.DryRun:
		return found, nil
	case !request.Confirmed:
		return found, refuse(finding.New(finding.Unconfirmed, finding.Subject{}, finding.Args{}, request.again(u.Env.Unit, restore.Planned), request.again(u.Env.Unit, restore.Confirmed)))
	}
	if r.Rejoin == nil {
		r.Rejoin = map[ovndb.Database]raft.ID{}
	}
	maps.Copy(r.Rejoin, asked) // what was asked for the other database continues
	r.Settled = false
	if err := u.saveRecord(r); err != nil {
		return found, err
	}
	after, err := u.Reconcile(ctx, true)
	found.Result = &after
	if err == nil {
		err = u.proveRejoined(ctx, after, joined, &found)
	}
	return found, err
}

// again is the command as it was typed, with a flag.
func (r RejoinRequest) again(unit, flag string) finding.Remedy {
	c := recovery.Request{}.Command(unit, r.Databases, flag)
	c.Action = "rejoin"
	return finding.Do(c)
}

// remover says which unit will remove this unit's member.
func remover(x plan.Database) finding.Line {
	if x.IsRaftLeader() {
		return finding.OthersRemove
	}
	return finding.LeaderRemoves
}

// proveRejoined proves that new members serve, and that the old ones are none any more.
func (u *Reconciler) proveRejoined(ctx context.Context, o Result, joined map[ovndb.Database]raft.ID, found *RejoinResult) error {
	requests, wrong := map[ovndb.Database]recovery.Request{}, []finding.Finding(nil)
	for db, old := range joined {
		if o.Servers[db].Status.HasMember(old) {
			wrong = append(wrong, finding.New(finding.RejoinOldMember, finding.Subject{Databases: []ovndb.Database{db}, Name: old.Short()}, finding.Args{}))
			continue
		}
		requests[db] = recovery.Request{}
	}
	found.Proofs = u.restorer().Prove(ctx, o.state, requests)
	r, err := u.loadRecord()
	if err != nil {
		return err
	}
	for _, p := range found.Proofs {
		wrong = append(wrong, p.Broken(u.Env.Unit)...)
		if p.Complete() {
			delete(r.Rejoined, p.Database)
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%w: %w", errRejoinNotProved, refuse(wrong...))
	}
	return u.saveRecord(r)
}

// errRejoinNotProved is returned if this unit has joined again, but not every member serves.
var errRejoinNotProved = errors.New("this unit has joined as a new member, but not every member serves the database")

// fullID is the length of a full server ID.
const fullID = 36

// errNotRemoved is returned if a member that a unit asked to have removed was not: the
// next hook tries again.
var errNotRemoved = errors.New("not removed")

// removeDamaged kicks the member of a unit that asks for it, with all that a kick takes:
// its judgement, the lock, the proof.
func (u *Reconciler) removeDamaged(ctx context.Context, o Result, s plan.Step) error {
	results, err := u.Members.Kick(ctx, o.Snapshot.Application, membership.KickRequest{
		IDs: map[ovndb.Database]raft.IDArgument{s.Database: {Text: string(s.Server)}}, Confirmed: true, Permit: raft.PermitForce,
	})
	if err != nil {
		return err
	}
	for _, k := range results {
		if !k.Done() {
			return fmt.Errorf("%w: %s: %w", errNotRemoved, s.Unit, finding.Refuse(k.Against))
		}
	}
	return nil
}
