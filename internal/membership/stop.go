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
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// LeaveResult is what became of one database of a unit that is going.
type LeaveResult struct {
	Database ovndb.Database
	// Gone reports whether the cluster no longer counts this unit's server: then its file must never be used again.
	Gone bool
	// joining reports whether the server may have become a member since it was observed.
	joining bool
	// Text is for people, one line.
	Text string
}

// errTeardown means that no unit of the application stays, so that no unit would keep the cluster.
var errTeardown = errors.New("every unit of the application is being removed")

// Stop takes this unit out of both clusters, stops the services, and puts away the files that must not be used again
// (rules R1, R2, R5, R6, R8 to R10). It returns a [*finding.RefusedError] without having touched anything if leaving
// would break a quorum, and a [*PendingError] if a leave has not ended in time; try again later after either. It
// needs no data of any relation.
func (s *Changer) Stop(ctx context.Context, m observe.Application, cache observe.Cache) ([]LeaveResult, error) {
	servers := s.retryHung(ctx, s.Observer.ObserveServers(ctx))
	results := map[ovndb.Database]LeaveResult{}
	var going []*leaveOperation
	if m.OthersStay() {
		var err error
		if servers, err = s.mayGo(ctx, m, cache, servers); err != nil {
			return nil, err
		}
	}
	for _, d := range ovndb.Databases() {
		l := servers[d]
		if l.Condition == ovndb.Serving && l.Status.State != raft.JoiningCluster {
			going = append(going, &leaveOperation{
				changer: s, application: m, server: l,
				alreadyRemoved: s.Observer.RemovedElsewhere(ctx, l, cache),
			})
		} else {
			results[d] = s.nothingToLeave(m, l)
		}
	}
	err := s.leaveAll(ctx, m, going)
	for _, d := range going {
		results[d.server.Database] = d.resultSoFar()
	}
	switch {
	case errors.Is(err, errTeardown):
		for _, d := range going {
			if !d.result.Gone {
				results[d.server.Database] = s.keptData(d.server.Database)
			}
		}
	case err != nil:
		return inOrder(results), err
	}
	return s.putAway(ctx, results)
}

// mayGo refuses if units that stay need a server that does not answer, and starts the server if that needs no
// operator. A server that runs and can't be asked is stopped if it is not needed. mayGo returns the servers as they
// are after that.
func (s *Changer) mayGo(ctx context.Context, m observe.Application, cache observe.Cache,
	servers map[ovndb.Database]observe.ServerState,
) (map[ovndb.Database]observe.ServerState, error) {
	silent := s.stoppedServers(ctx, servers)
	n := s.onlyCopies(m, cache, silent)
	if len(n.servers) == 0 {
		n = s.neededMembers(ctx, m, cache, silent)
	}
	if len(n.servers) > 0 {
		return servers, s.startNeeded(ctx, m.Unit, n)
	}
	if s.refuseUnreadable(m, servers) == nil {
		return servers, nil
	}
	if err := s.haltUnreadable(ctx, m, cache, servers); errors.Is(err, errTeardown) {
		return servers, nil
	} else if err != nil {
		return servers, err
	}
	return s.Observer.ObserveServers(ctx), nil
}

func inOrder(results map[ovndb.Database]LeaveResult) []LeaveResult {
	var all []LeaveResult
	for _, d := range ovndb.Databases() {
		if f, found := results[d]; found && f.Text != "" {
			all = append(all, f)
		}
	}
	return all
}

func (s *Changer) keptData(d ovndb.Database) LeaveResult {
	return LeaveResult{Database: d, Text: fmt.Sprintf("no unit stays that could serve the database; its data stay in %s",
		s.Control.Paths.File(d))}
}

// refuseUnreadable is the refusal if a server of this unit may be a member that votes, but nothing can be found out
// about it; nil if there is no such server.
func (s *Changer) refuseUnreadable(m observe.Application, servers map[ovndb.Database]observe.ServerState) error {
	var reasons []finding.Finding
	for _, d := range ovndb.Databases() {
		if l := servers[d]; l.Condition == ovndb.Unreadable {
			reasons = append(reasons, unreadable(m, l))
		}
	}
	return finding.Refuse(reasons, finding.ByHand(finding.AwaitRetry), leaveBehind(m))
}

// unreadable is a server that can't be asked. Restarting it is an
// operator's business: whether the others can do without it can't be seen from here.
func unreadable(m observe.Application, l observe.ServerState) finding.Finding {
	return finding.Of(finding.ServerUnreadable, l.Database, finding.Args{Detail: l.Text()},
		finding.If(finding.IfOthersUp, restartServer(m, l.Database)))
}

// hungPatience is how long a server that has not answered is given before its
// unit goes without it: one that compacts a large database is silent for as long,
// and is a member that votes. Its size adds to it ([raft.Patience]).
const hungPatience = 30 * time.Second

// retryHung asks the servers that hang once more, with more patience.
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

// leaveBehind and TakeTheCopy are the operator's override of a refusal: with the latter the unit takes the only copy
// along.
func leaveBehind(m observe.Application) finding.Remedy {
	return finding.If(finding.ToLeaveBehind, command.Resolved(m.Unit, true))
}

// TakeTheCopy is the remedy that lets a unit with the only copy go.
func TakeTheCopy(m observe.Application) finding.Remedy {
	return finding.If(finding.ToTakeTheCopy, command.Resolved(m.Unit, true))
}

// nothingToLeave is the result of a database that no server of this unit serves as
// a member: there, failing would protect nothing.
func (s *Changer) nothingToLeave(m observe.Application, l observe.ServerState) LeaveResult {
	f := LeaveResult{Database: l.Database}
	if !m.OthersStay() && (l.Condition == ovndb.Down || l.Condition == ovndb.Hung || l.Condition == ovndb.Failed) {
		return s.keptData(l.Database)
	}
	switch l.Condition {
	case ovndb.Unreadable:
		return s.keptData(l.Database) // refused before, if any unit stayed
	case ovndb.Left:
		f.Gone, f.Text = true, "the server has left already"
	case ovndb.Absent:
		f.Text = "there is no database"
	case ovndb.Standalone:
		f.Text = "the database is standalone; it stays in " + s.Control.Paths.File(l.Database)
	case ovndb.Serving:
		f.joining, f.Text = true, "the server had not joined yet"
	default:
		f.Text = l.Text() +
			"; it stays a member until another unit kicks it: the action cluster-status there prints the command"
	}
	return f
}

// putAway stops the services, then renames the files of servers that are gone.
func (s *Changer) putAway(ctx context.Context, results map[ovndb.Database]LeaveResult) ([]LeaveResult, error) {
	for _, d := range ovndb.Databases() {
		if !results[d].joining {
			continue
		}
		if err := s.EndJoin(ctx, d); err != nil {
			return inOrder(results), err
		}
	}
	s.beforeLeaving(ctx)
	if err := s.Services.StopForGood(ctx); err != nil {
		return inOrder(results), err
	}
	for _, d := range ovndb.Databases() {
		f := results[d]
		if !f.Gone {
			continue
		}
		path, err := s.Files.Archive(d, s.Now())
		if err != nil {
			return inOrder(results), err
		}
		f.Text += "; its file is now " + path
		results[d] = f
	}
	return inOrder(results), nil
}

// abortIfTearingDown returns a function that ends a wait with errTeardown once no unit stays, this one included. It
// asks Juju no more often than goalInterval.
func (s *Changer) abortIfTearingDown(m observe.Application) func(context.Context) error {
	next := s.Now()
	return func(ctx context.Context) error {
		if s.Now().Before(next) {
			return nil
		}
		next = s.Now().Add(goalInterval)
		goal, err := s.Goal(ctx)
		if _, there := goal.Units[m.Unit]; there && !goal.Dying(m.Unit) {
			return nil
		}
		if err == nil && !observe.OthersStay(goal.Units, m.Unit) {
			return errTeardown
		}
		return nil
	}
}

// leaveAll judges every database, and only if none is refused leaves one after
// the other, each under its lock.
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
		begin:      s.beforeLeaving,
		ends:       func(err error) bool { return errors.Is(err, errTeardown) },
	}.carryOut(ctx)
}

func (s *Changer) evaluateLeaves(ctx context.Context, m observe.Application, going []*leaveOperation) error {
	var reasons []finding.Finding
	override := leaveBehind(m)
	for _, d := range going {
		refused, err := d.evaluate(ctx)
		if err != nil {
			return err
		}
		for _, f := range refused {
			if reasons = append(reasons, f); f.Code == finding.SoleMember || f.Code == finding.SoleMemberLeaves {
				override = TakeTheCopy(m)
			}
		}
	}
	return finding.Refuse(reasons, append(waysToLeave(m, going...), finding.ByHand(finding.AwaitRetry), override)...)
}

// waysToLeave are what ends the refusal of these leaves.
func waysToLeave(m observe.Application, going ...*leaveOperation) []finding.Remedy {
	var leaderless []observe.ServerState
	var plans []raft.Plan
	clusters := status.Views{}
	for _, d := range going {
		if len(d.view.Status.Servers) > 0 {
			clusters[d.server.Database], plans = d.view, append(plans, d.plan)
		}
		if d.plan.NoQuorum() {
			leaderless = append(leaderless, d.server)
		}
	}
	ways := status.Ways(m, plans, clusters)
	if len(leaderless) > 0 {
		ways = append(status.WithoutLeader(m, leaderless...), ways...)
	}
	return ways
}

// PendingError means that a change was begun and has not ended in time.
type PendingError struct {
	Database ovndb.Database
	Text     string
}

// Error is one line.
func (e *PendingError) Error() string { return e.Database.Short() + ": " + e.Text }
