package membership

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// WithLock runs act while this unit has the database's lock, so that of all units
// only this one changes the membership or takes its server down. Where down is
// set, act takes it down, and it is judged first whether the others are a
// majority without it; the refusal is a [*RefusedError]. Before that its clients get
// some time to settle. A lock that another
// unit held for too long is a [*BusyError]. Where this unit's server is the only
// member, or is none, there is no other member to wait for.
//
// The lock is kept, through the other members, for as long as act runs. That the
// server is taken down stands in it from before act until act has ended well; where
// it has not, until a later hook finds a member that works ([ovndb.Service.ClearEndedIntents]).
func (s *Changer) WithLock(ctx context.Context, m observe.Application, db ovndb.Database, down bool, act func(context.Context, Gate) error) error {
	l := s.Observer.ObserveServer(ctx, db)
	if err := context.Cause(ctx); err != nil {
		return err // what was not answered in time is not known to be no member
	}
	if l.Condition == ovndb.Unreadable && down {
		return &RefusedError{
			Refusals: []*raft.Refusal{{Database: db, Reason: raft.Unreadable, Text: l.Text()}},
			Advice:   []string{unreadableAdvice(m, db)},
		}
	}
	if !l.Member() || len(l.Status.Servers) == 1 {
		return act(ctx, OpenGate)
	}
	r := &restartOperation{service: s, application: m, server: l, takesDown: down, run: act}
	return change[*restartOperation]{operations: []*restartOperation{r}, judge: r.evaluate, ends: always}.carryOut(ctx)
}

// restartOperation is what is done to this unit's server under the lock.
type restartOperation struct {
	service     *Changer
	application observe.Application
	server      observe.ServerState
	takesDown   bool
	run         func(context.Context, Gate) error
	lock        *lock
	// begun: it was permitted to take the server down. done: it has brought it back.
	begun, done bool
}

// evaluate judges whether the others are a majority without this server. Without the lock
// only that there is a leader is judged: there can't be a lock without one.
func (r *restartOperation) evaluate(ctx context.Context) error {
	s, m, db := r.service, r.application, r.server.Database
	switch {
	case !r.takesDown || r.lock == nil && r.server.Status.HasLeader():
		return nil
	case r.lock == nil:
		_, plan, err := s.evaluate(ctx, &r.server, m, nil, func(v raft.View) raft.Plan {
			return raft.PlanRestart(raft.Change{Database: db, View: v})
		})
		if err == nil && plan.Refusal != nil && plan.Refusal.Reason == raft.NoQuorum {
			err = &RefusedError{Refusals: []*raft.Refusal{plan.Refusal}, Advice: status.NoQuorumRemediation(m, r.server)}
		}
		return err
	}
	if err := s.awaitClients(ctx, db, r.lock); err != nil {
		return err
	}
	if r.server = s.Observer.ObserveServer(ctx, db); !r.server.Member() {
		return fmt.Errorf("cannot restart the server of %s: %s", db, r.server.Text())
	}
	view, plan, err := s.evaluateRestart(ctx, &r.server, m, r.lock)
	if err == nil && plan.Refusal != nil {
		err = &RefusedError{Refusals: []*raft.Refusal{plan.Refusal}, Advice: status.Remediation(plan.Refusal, view, m)}
	}
	return err
}

func (r *restartOperation) needsLock() bool { return true }

func (r *restartOperation) takeLock(ctx context.Context) (err error) {
	r.lock, err = r.service.lock(ctx, r.server, r.service.abortIfTearingDown(r.application))
	return err
}

// act keeps the lock, through the other members where this one goes down, while run runs.
func (r *restartOperation) act(ctx context.Context) error {
	k := r.lock
	next := k.held.Renewed()
	if r.takesDown {
		if err := k.switchEndpoints(ctx, observe.OtherAddresses(r.server.Status)); err != nil {
			return fmt.Errorf("cannot keep the lock of %s while this unit's server is down: %w", k.database, err)
		}
		next = k.held.WithIntent(lease.Intent{ID: string(k.server), Kind: lease.Down, By: r.service.Env.Unit, From: string(k.server)})
	} else {
		k.others = []string{"unix:" + r.service.Control.Paths.Socket(k.database)} // a conversion drops its clients
	}
	if err := k.renewTo(ctx, next); err != nil { // it is still this unit's
		return err
	}
	err := k.keep(ctx, func(ctx context.Context) error {
		return r.run(ctx, func() (time.Time, error) {
			until, err := k.mayAct()
			r.begun = r.begun || err == nil
			return until, err
		})
	})
	r.done = err == nil
	return err
}

// release takes back what was noted, unless the server may not be back.
func (r *restartOperation) release(ctx context.Context) {
	if k := r.lock; k != nil {
		ended := r.done || !r.begun
		k.releaseWith(ctx, nil, func(m lease.Intent) bool { return ended && m.Kind == lease.Down && m.ID == string(k.server) })
	}
}

// Gate is asked right before a server is taken down: a process that was stopped meanwhile may
// have lost the lock. It returns the moment until which that may be begun, or why it
// may not. What does not ask has taken nothing down.
type Gate func() (until time.Time, err error)

// OpenGate is for a server that needs no lock.
func OpenGate() (until time.Time, err error) { return time.Now().Add(lockBase), nil }

// And is open where both are.
func (g Gate) And(other Gate) Gate {
	return func() (time.Time, error) {
		until, err := g()
		if err != nil {
			return until, err
		}
		earlier, err := other()
		if err != nil || earlier.Before(until) {
			until = earlier
		}
		return until, err
	}
}

// returnPatience is how long a member that was restarted may take until the others
// hear it: their connections to it come back up to 2.3 s after it has caught up.
const returnPatience = 10 * time.Second

// evaluateRestart judges a restart, and for a while goes on doing so where others
// are down: the unit that had its turn just before may be on its way back.
func (s *Changer) evaluateRestart(ctx context.Context, l *observe.ServerState, m observe.Application, k *lock) (raft.View, raft.Plan, error) {
	patience, cancel := context.WithTimeout(ctx, s.Patience(l.Database, returnPatience))
	defer cancel()
	for {
		view, plan, err := s.evaluate(ctx, l, m, k, func(v raft.View) raft.Plan {
			return raft.PlanRestart(raft.Change{Database: l.Database, View: v, Pending: k.pending()})
		})
		if err != nil || plan.Refusal == nil || plan.Refusal.Reason != raft.WouldLoseQuorum || poll.Wait(patience, lockInterval) != nil {
			return view, plan, err
		}
		if err := k.renew(ctx); err != nil {
			return view, plan, err
		}
		if next := s.Observer.ObserveServer(ctx, l.Database); next.Condition == ovndb.Serving {
			*l = next
		}
	}
}

// keep renews the lock while act runs. act is not interrupted where that fails:
// what it has taken down it is to bring back.
func (k *lock) keep(ctx context.Context, act func(context.Context) error) error {
	done := make(chan error, 1)
	go func() { done <- act(ctx) }()
	ticker := time.NewTicker(k.held.TTL() / 5)
	defer ticker.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-ticker.C:
			if err := k.renew(ctx); err != nil {
				k.service.Log.WarnContext(ctx, "cannot renew the lock; going on with what was begun under it", "database", k.database.Short(), "error", err)
			}
		}
	}
}

// LeaveRemoved lets a server that others have removed drop the database, so that
// its file says that it has left. It returns when it has.
func (s *Changer) LeaveRemoved(ctx context.Context, m observe.Application, l observe.ServerState) error {
	d := &leaveOperation{service: s, application: m, server: l, alreadyRemoved: true}
	if err := d.leaveAlreadyRemoved(ctx); err != nil && !errors.Is(err, errTeardown) {
		return err
	}
	return nil
}
