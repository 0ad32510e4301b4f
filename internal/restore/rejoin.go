package restore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// RejoinRequest is the command of an operator.
type RejoinRequest struct {
	// Databases are the named databases. None means all with a damaged file or other data than the cluster's.
	Databases []ovndb.Database
	// Confirmed and DryRun are as in [Request].
	Confirmed, DryRun bool
}

// Rejoin replaces servers of this unit that can't be started any more, or whose data differ from the cluster's. It asks
// the unit that leads a database, or a staying one if that unit is being removed, to remove the old server. That unit
// does so as the action kick does, if the others are a quorum without it (R1). Then this unit puts the file away and
// joins again. Called again after that, Rejoin proves that the new server serves.
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
			if x.IsRaftLeader() { // it can't remove itself
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
var errRejoinNotProved = errors.New("this unit has joined as a new member, but not every member serves the database")

const fullID = 36
