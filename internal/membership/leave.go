package membership

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// leaveBase and the election timer bound how long a leave may take: a follower is gone in milliseconds, a leader in
// one election timer; an election in between takes two more.
const leaveBase = 10 * time.Second

func leaveTimeout(electionTimer time.Duration) time.Duration { return leaveBase + 4*electionTimer }

// alreadyRemovedTimeout is how long a server may take to learn that the others have removed it.
const alreadyRemovedTimeout = 10 * time.Second

type leaveOperation struct {
	changer     *Changer
	application observe.Application
	judgement
	// alreadyRemoved reports whether the others have removed this server.
	alreadyRemoved bool
	lock           *lock
	// begun: the server got the command to leave, or may have got it. queued: it did not answer the command; a hung
	// server executes queued commands once it continues.
	begun, queued bool
	result        LeaveResult
}

// resultSoFar returns the result for the database, finished or not.
func (d *leaveOperation) resultSoFar() LeaveResult {
	switch {
	case len(d.result.Reasons) > 0:
		return d.result
	case d.queued:
		return LeaveResult{Database: d.server.Database, Reasons: finding.Because(finding.LeaveQueued)}
	case d.begun:
		return LeaveResult{Database: d.server.Database, Reasons: finding.Because(finding.LeaveBegun)}
	}
	return LeaveResult{Database: d.server.Database, Reasons: finding.Because(finding.LeaveNotBegun)}
}

// needsEvaluation reports whether this server is still a member that is not leaving yet.
func (d *leaveOperation) needsEvaluation() bool {
	return !d.result.Gone && !d.alreadyRemoved && d.server.Member()
}

// evaluate judges the leave. The reasons against it lack the remedies that depend on both databases.
func (d *leaveOperation) evaluate(ctx context.Context) ([]finding.Finding, error) {
	if isSole := len(d.server.Status.Servers) == 1; isSole && !d.alreadyRemoved && !d.result.Gone {
		return d.refuseSole(), nil
	}
	if !d.needsEvaluation() {
		return nil, nil
	}
	var err error
	d.view, d.plan, err = d.changer.evaluate(ctx, &d.server, d.application, d.lock, func(v raft.View) raft.Plan {
		return raft.PlanLeave(raft.Change{
			Database: d.server.Database, View: v, Target: string(v.Status.Server), Pending: d.lock.pending(),
		})
	})
	if err != nil || d.plan.Refusal == nil {
		return nil, err
	}
	return []finding.Finding{*d.plan.Refusal}, nil
}

// refuseSole refuses the leave of the only member while other units stay.
func (d *leaveOperation) refuseSole() []finding.Finding {
	if d.server.Status.State != raft.LeavingCluster {
		return []finding.Finding{finding.Of(finding.SoleMember, d.server.Database, finding.Args{})}
	}
	return []finding.Finding{finding.Of(finding.SoleMemberLeaves, d.server.Database, finding.Args{},
		finding.Do(restartServer(d.application, d.server.Database)))}
}

func restartServer(m observe.Application, db ovndb.Database) command.Command {
	return command.OnMachine(m.Unit, "sudo", "systemctl", "restart", string(ovndb.ServiceOf(db)))
}

func (d *leaveOperation) takeLock(ctx context.Context) (err error) {
	if !d.needsEvaluation() {
		return nil
	}
	if d.lock, err = d.changer.lock(ctx, d.server, d.changer.abortIfTearingDown(d.application)); err != nil {
		return err
	}
	return d.refresh(ctx)
}

// refresh observes the server again: another unit may have kicked it.
func (d *leaveOperation) refresh(ctx context.Context) error {
	db := d.server.Database
	switch next := d.changer.Observer.ObserveServer(ctx, db); next.Condition {
	case ovndb.Serving:
		d.server = next
	case ovndb.Left:
		d.gone(finding.KickedMeanwhile)
	default:
		return fmt.Errorf("cannot leave %s: %s", db, next.Text())
	}
	return nil
}

// gone records how the server ceased to be a member.
func (d *leaveOperation) gone(how finding.ReasonCode) {
	d.result = LeaveResult{
		Database: d.server.Database, Gone: true,
		Reasons: []finding.Reason{{Code: how, Name: d.server.Status.Server.Short()}},
	}
}

func (d *leaveOperation) act(ctx context.Context) error {
	s, db := d.changer, d.server.Database
	switch {
	case d.result.Gone:
		return nil
	case d.alreadyRemoved:
		return d.leaveAlreadyRemoved(ctx)
	case d.server.Status.State == raft.LeavingCluster:
		s.Progress(ctx, db.Short()+": waiting for the leave that began earlier")
	default:
		if err := d.begin(ctx); err != nil || d.result.Gone {
			return err
		}
	}
	d.begun = true
	if err := d.await(ctx, s.Patience(db, leaveTimeout(d.server.Status.ElectionTimer))); err != nil {
		return err
	}
	d.gone(finding.LeftAs)
	return nil
}

func (d *leaveOperation) begin(ctx context.Context) error {
	s, db := d.changer, d.server.Database
	if err := d.refresh(ctx); err != nil || d.result.Gone {
		return err
	}
	reasons, err := d.evaluate(ctx)
	if err != nil {
		return err
	}
	if len(reasons) > 0 {
		return finding.Refuse(reasons, s.waysOf(ctx, d.application, d.judgement)...)
	}
	for _, w := range d.plan.Warnings {
		s.Log.WarnContext(ctx, "the leave is permitted", "warning", w.Message())
	}
	short := d.server.Status.Server.Short()
	s.Progress(ctx, fmt.Sprintf("%s: leaving as %s, %s", db.Short(), short, d.server.Status.Role))
	limited, cancel, err := d.lock.recordIntent(ctx, lease.Leave, string(d.server.Status.Server))
	if err != nil {
		return err
	}
	defer cancel()
	d.begun = true
	switch err := s.Control.Leave(limited, db); {
	case notSent(err):
		d.begun = false
		return err
	case errors.Is(err, ovsctl.ErrHung):
		d.queued = true
		s.Progress(ctx, db.Short()+": the server does not answer; it leaves when it does")
	case err != nil && !errors.Is(err, ovsctl.ErrLeaving) && !errors.Is(err, ovsctl.ErrUnknownCluster):
		return &PendingError{db, finding.Reason{Code: finding.LeaveMaySent, Name: short, Value: err.Error()}}
	}
	return nil
}

// notSent reports whether an error of the command means that the server never got it.
func notSent(err error) bool {
	return isAny(err, ovsctl.ErrNotRunning, ovsctl.ErrDenied, ovsctl.ErrNotClustered, ovsctl.ErrJoining)
}

// leaveAlreadyRemoved lets a server learn that it is no longer a member. If it can't, the record still proves it.
func (d *leaveOperation) leaveAlreadyRemoved(ctx context.Context) error {
	s, db := d.changer, d.server.Database
	err := s.Control.Leave(ctx, db)
	if err == nil || errors.Is(err, ovsctl.ErrLeaving) {
		err = d.await(ctx, s.Patience(db, alreadyRemovedTimeout))
	}
	if errors.Is(err, errTeardown) {
		return err
	}
	if err != nil && !errors.Is(err, ovsctl.ErrUnknownCluster) {
		s.Log.InfoContext(ctx, "the server can't find out that it was removed; trusting the record", "database", db.Short(),
			"error", err)
	}
	d.gone(finding.RemovedByOthers)
	return nil
}

// await returns when the server has left: it no longer serves the database, and its file records that.
func (d *leaveOperation) await(ctx context.Context, timeout time.Duration) error {
	s, db := d.changer, d.server.Database
	tearingDown := s.abortIfTearingDown(d.application)
	for until := s.Now().Add(timeout); ; {
		now := s.Observer.ObserveServer(ctx, db)
		switch {
		case now.Condition == ovndb.Left:
			return nil
		case now.Condition == ovndb.Serving && now.Status.State != raft.LeavingCluster:
			return &PendingError{db, finding.Reason{Code: finding.LeaveCancelled}}
		case s.Now().After(until):
			return &PendingError{db, finding.Reason{
				Code: finding.NotLeftWithin, Name: d.server.Status.Server.Short(), Age: timeout,
				Because: []finding.Reason{now.Reason()},
			}}
		case now.Condition != ovndb.Serving && now.Condition != ovndb.Hung:
			return fmt.Errorf("cannot see %s leave: %s", db, now.Text())
		}
		if err := tearingDown(ctx); err != nil {
			return err
		}
		if err := poll.Wait(ctx, observe.PollInterval); err != nil {
			return &PendingError{db, finding.Reason{Code: finding.LeaveUnseen, Value: err.Error()}}
		}
	}
}

// release releases the lock. After a leave it does so through the remaining members: this proves that they store the
// record.
func (d *leaveOperation) release(ctx context.Context) {
	s, removed := d.changer, map[raft.ID]string{}
	if d.lock != nil && d.result.Gone {
		removed[d.server.Status.Server] = s.removedText(d.application.Unit, "gone")
		if err := d.lock.switchEndpoints(ctx, observe.OtherAddresses(d.server.Status)); err != nil {
			s.Log.WarnContext(ctx, "cannot reach a remaining member after the leave", "database", d.server.Database.Short(),
				"error", err)
		}
	}
	d.lock.release(ctx, removed, nil)
}
