package membership

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// LeaveResult is the outcome for one database of a unit that is being removed.
type LeaveResult struct {
	Database ovndb.Database
	// Gone reports whether this unit's server is no longer a member. Then its file must never be used again.
	Gone bool
	// joining reports whether the server may have become a member since it was observed.
	joining bool
	// Reasons tell what became of the server and its file.
	Reasons []finding.Reason
}

// errTeardown means that every unit is being removed, so that no unit would keep the cluster.
var errTeardown = errors.New("every unit of the application is being removed")

// removal takes a unit that is being removed out of the clusters.
type removal struct {
	*Changer
	application observe.Application
	cache       observe.Cache
	servers     map[ovndb.Database]observe.ServerState
}

// Stop takes this unit out of both clusters, stops the services, and archives the files that must not be used again
// (rules R1, R2, R5, R6, R8 to R10). If leaving would break a quorum, it changes nothing and returns a
// [*finding.RefusedError]. If a leave has not ended in time, it returns a [*PendingError]. After either error, try
// again later. Stop needs no data of any relation.
func (s *Changer) Stop(ctx context.Context, m observe.Application, cache observe.Cache) ([]LeaveResult, error) {
	r := &removal{s, m, cache, s.retryHung(ctx, s.Observer.ObserveServers(ctx))}
	if m.OthersStay() {
		if err := r.mayGo(ctx); err != nil {
			return nil, err
		}
	}
	results := make([]LeaveResult, len(ovndb.Databases()))
	leaves := map[int]*leaveOperation{}
	var going []*leaveOperation
	for i, d := range ovndb.Databases() {
		l := r.servers[d]
		if l.Condition != ovndb.Serving || l.Status.State == raft.JoiningCluster {
			results[i] = r.nothingToLeave(l)
			continue
		}
		leaves[i] = &leaveOperation{
			changer: s, application: m, judgement: judgement{server: l},
			alreadyRemoved: s.Observer.RemovedElsewhere(ctx, l, cache),
		}
		going = append(going, leaves[i])
	}
	err := s.leaveAll(ctx, m, going)
	tearingDown := errors.Is(err, errTeardown)
	for i, o := range leaves {
		if results[i] = o.resultSoFar(); tearingDown && !o.result.Gone {
			results[i] = s.keptData(o.server.Database)
		}
	}
	if err != nil && !tearingDown {
		return results, err
	}
	return s.putAway(ctx, results)
}

// mayGo refuses if staying units need a stopped server, and starts that server if this needs no operator. It stops an
// unreadable server that is not needed, and observes the servers again.
func (r *removal) mayGo(ctx context.Context) error {
	silent := r.stoppedServers(ctx)
	n := r.onlyCopies(silent)
	if len(n.servers) == 0 {
		n = r.neededMembers(ctx, silent)
	}
	if len(n.servers) > 0 {
		return r.startNeeded(ctx, n)
	}
	if r.refuseUnreadable() == nil {
		return nil
	}
	if err := r.haltUnreadable(ctx); err != nil {
		if errors.Is(err, errTeardown) {
			return nil
		}
		return err
	}
	r.servers = r.Observer.ObserveServers(ctx)
	return nil
}

func (s *Changer) keptData(d ovndb.Database) LeaveResult {
	return LeaveResult{Database: d, Reasons: []finding.Reason{{Code: finding.DataKept, Value: s.Control.Paths.File(d)}}}
}

// refuseUnreadable refuses if a server of this unit can't be read: it may be a voting member.
func (r *removal) refuseUnreadable() error {
	var reasons []finding.Finding
	for _, d := range ovndb.Databases() {
		if l := r.servers[d]; l.Condition == ovndb.Unreadable {
			reasons = append(reasons, unreadable(r.application, l))
		}
	}
	return finding.Refuse(reasons, finding.ByHand(finding.AwaitRetry), leaveBehind(r.application))
}

// unreadable returns the finding of a server that can't be read. Only an operator may restart it: this unit can't
// tell whether the others are a majority without it.
func unreadable(m observe.Application, l observe.ServerState) finding.Finding {
	return finding.Of(finding.ServerUnreadable, l.Database, l.Reason().Args(),
		finding.If(finding.IfOthersUp, restartServer(m, l.Database)))
}

// hungPatience is how long a hung server may take to answer before its unit leaves or stops it as a server that is
// down: while a voting member compacts a large database, it does not answer. The database's size adds to it
// ([raft.Patience]).
const hungPatience = 30 * time.Second

// retryHung asks servers that hang again, with a longer timeout.
func (s *Changer) retryHung(ctx context.Context,
	servers map[ovndb.Database]observe.ServerState,
) map[ovndb.Database]observe.ServerState {
	for d, l := range servers {
		if l.Condition == ovndb.Hung {
			patience := s.Patience(d, hungPatience)
			s.Progress(ctx, fmt.Sprintf("%s: the server does not answer; giving it %s", d.Short(), patience))
			return s.Observer.ObserveServersWithin(ctx, patience)
		}
	}
	return servers
}

// leaveBehind returns the operator's override of a refusal.
func leaveBehind(m observe.Application) finding.Remedy {
	return finding.If(finding.ToLeaveBehind, command.Resolved(m.Unit, true))
}

// TakeTheCopy returns the override for a unit with the only copy.
func TakeTheCopy(m observe.Application) finding.Remedy {
	return finding.If(finding.ToTakeTheCopy, command.Resolved(m.Unit, true))
}

// nothingToLeave returns the result for a database of which this unit has no serving member. A refusal would protect
// nothing.
func (r *removal) nothingToLeave(l observe.ServerState) LeaveResult {
	f := LeaveResult{Database: l.Database}
	switch l.Condition {
	case ovndb.Unreadable:
		return r.keptData(l.Database) // it would have been refused before if any unit stayed
	case ovndb.Left:
		f.Gone, f.Reasons = true, finding.Because(finding.LeftBefore)
	case ovndb.Absent:
		f.Reasons = finding.Because(finding.NoDatabase)
	case ovndb.Standalone:
		f.Reasons = []finding.Reason{{Code: finding.StandaloneKept, Value: r.Control.Paths.File(l.Database)}}
	case ovndb.Serving:
		f.joining, f.Reasons = true, finding.Because(finding.NotJoined)
	default:
		if silent(l.Condition) && !r.application.OthersStay() {
			return r.keptData(l.Database)
		}
		f.Reasons = []finding.Reason{l.Reason(), {Code: finding.StaysMember}}
	}
	return f
}

// putAway stops the services, and archives the files of servers that have left.
func (s *Changer) putAway(ctx context.Context, results []LeaveResult) ([]LeaveResult, error) {
	for _, r := range results {
		if !r.joining {
			continue
		}
		if err := s.EndJoin(ctx, r.Database); err != nil {
			return results, err
		}
	}
	if s.BeforeLeaving != nil {
		s.BeforeLeaving(ctx)
	}
	if err := s.Services.StopForGood(ctx); err != nil {
		return results, err
	}
	for i, r := range results {
		if !r.Gone {
			continue
		}
		path, err := s.Files.Archive(r.Database, s.Now())
		if err != nil {
			return results, err
		}
		results[i].Reasons = append(results[i].Reasons, finding.Reason{Code: finding.FileRenamed, Value: path})
	}
	return results, nil
}

// abortIfTearingDown returns a function that ends a wait with errTeardown once all units, including this one, are being
// removed. It asks Juju at most once in each goalInterval.
func (s *Changer) abortIfTearingDown(m observe.Application) func(context.Context) error {
	next := s.Now()
	return func(ctx context.Context) error {
		if s.Now().Before(next) {
			return nil
		}
		next = s.Now().Add(goalInterval)
		goal, err := s.Goal(ctx)
		_, there := goal.Units[m.Unit]
		now := observe.Application{Unit: m.Unit, Goal: goal.Units}
		if goes := !there || goal.Dying(m.Unit); err == nil && goes && !now.OthersStay() {
			return errTeardown
		}
		return nil
	}
}

// leaveAll leaves the clusters one after the other, each under its lock, if no leave is refused.
func (s *Changer) leaveAll(ctx context.Context, m observe.Application, going []*leaveOperation) error {
	if len(going) == 0 {
		return nil
	}
	if !m.OthersStay() {
		return errTeardown
	}
	return change[*leaveOperation]{
		operations: going,
		judge:      func(ctx context.Context) error { return s.evaluateLeaves(ctx, m, going) },
		begin:      s.BeforeLeaving,
		ends:       func(err error) bool { return errors.Is(err, errTeardown) },
	}.carryOut(ctx)
}

func (s *Changer) evaluateLeaves(ctx context.Context, m observe.Application, going []*leaveOperation) error {
	var reasons []finding.Finding
	var judged []judgement
	override := leaveBehind(m)
	for _, d := range going {
		refused, err := d.evaluate(ctx)
		if err != nil {
			return err
		}
		judged = append(judged, d.judgement)
		for _, f := range refused {
			if reasons = append(reasons, f); f.Code == finding.SoleMember || f.Code == finding.SoleMemberLeaves {
				override = TakeTheCopy(m)
			}
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	return finding.Refuse(reasons, append(s.waysOf(ctx, m, judged...), finding.ByHand(finding.AwaitRetry), override)...)
}

// PendingError is returned if a change was begun and has not ended in time.
type PendingError struct {
	Database ovndb.Database
	Reason   finding.Reason
}

func (e *PendingError) Error() string { return e.Database.Short() + ": " + e.Reason.String() }
