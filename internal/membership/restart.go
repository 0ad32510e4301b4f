package membership

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// WithLock calls [Changer.WithLocks] for one database.
func (s *Changer) WithLock(ctx context.Context, m observe.Application, db ovndb.Database, down bool,
	act func(context.Context, Gate) error,
) error {
	return s.WithLocks(ctx, m, []ovndb.Database{db}, down, act)
}

// WithLocks runs act while this unit has the locks of the databases, so that of all units only this one changes the
// memberships or takes its servers down. Set down if act takes them down. WithLocks then judges whether the other
// members are a majority without this unit's server, gives the clients of each database some time to settle, and
// judges again. It returns a [*finding.RefusedError] that names every database that refuses (rule R7), or if another
// unit held a lock for too long. If this unit's server is the only member, or no member, there is no other member to
// wait for. A server that hangs for longer than [hungPatience] counts as down.
//
// The locks are kept, through the other members, for as long as act runs. The lock of a server that is taken down
// records this before act begins and until act has succeeded. If act fails, the record remains until a later hook
// finds a member that works ([Changer.ClearEndedIntents]).
func (s *Changer) WithLocks(ctx context.Context, m observe.Application, databases []ovndb.Database, down bool,
	act func(context.Context, Gate) error,
) error {
	o := &restartOperation{run: act}
	for _, db := range databases {
		l := s.Observer.ObserveServer(ctx, db)
		if l.Condition == ovndb.Hung && down {
			l = s.retryHung(ctx, map[ovndb.Database]observe.ServerState{db: l})[db]
		}
		if err := context.Cause(ctx); err != nil {
			return err // a server that did not answer in time may be a member
		}
		if l.Condition == ovndb.Unreadable && down || l.Member() && len(l.Status.Servers) > 1 {
			o.servers = append(o.servers, &lockedServer{
				changer: s, application: m, judgement: judgement{server: l}, takesDown: down,
			})
		}
	}
	if len(o.servers) == 0 {
		return act(ctx, openGate)
	}
	return change[*restartOperation]{operations: []*restartOperation{o}, judge: o.evaluate, ends: always}.carryOut(ctx)
}

// restartOperation runs a function under the locks of all databases whose servers it affects.
type restartOperation struct {
	servers []*lockedServer
	run     func(context.Context, Gate) error
}

// evaluate judges all servers before it waits for the clients of any: a refusal needs no wait.
func (o *restartOperation) evaluate(ctx context.Context) error {
	if err := o.each(ctx, (*lockedServer).evaluate); err != nil {
		return err
	}
	return o.each(ctx, (*lockedServer).settle)
}

// each calls judge for all servers, so that a refusal names each database that refuses.
func (o *restartOperation) each(ctx context.Context,
	judge func(r *lockedServer, ctx context.Context, renew func(context.Context) error) error,
) error {
	var reasons []finding.Finding
	var judged []judgement
	for _, r := range o.servers {
		err := judge(r, ctx, o.renew)
		refused := finding.Reasons(err)
		if err != nil && len(refused) == 0 {
			return err
		}
		reasons = append(reasons, refused...)
		judged = append(judged, r.judgement)
	}
	if len(reasons) == 0 {
		return nil
	}
	first := o.servers[0]
	return finding.Refuse(reasons, first.changer.waysOf(ctx, first.application, judged...)...)
}

// renew renews all taken locks: the wait for each server may be long.
func (o *restartOperation) renew(ctx context.Context) error {
	for _, r := range o.servers {
		if err := r.lock.renew(ctx); err != nil {
			return err
		}
	}
	return nil
}

// takeLock takes the locks in the order of the databases, which is the same for every unit.
func (o *restartOperation) takeLock(ctx context.Context) error {
	for _, r := range o.servers {
		var err error
		if r.lock, err = r.changer.lock(ctx, r.server, r.changer.abortIfTearingDown(r.application)); err != nil {
			return err
		}
	}
	return nil
}

// act judges all servers but the last one once more: the wait for the clients of each may take half a minute and
// more. Then it runs the function, and keeps the locks meanwhile.
func (o *restartOperation) act(ctx context.Context) error {
	again := restartOperation{servers: o.servers[:len(o.servers)-1]}
	err := again.each(ctx, func(r *lockedServer, ctx context.Context, _ func(context.Context) error) error {
		return r.evaluateAgain(ctx)
	})
	if err != nil {
		return err
	}
	var renewals sync.WaitGroup
	running, end := context.WithCancel(ctx)
	defer renewals.Wait()
	defer end()
	for _, r := range o.servers {
		if err := r.prepare(ctx); err != nil {
			return err
		}
		renewals.Go(func() { r.lock.keep(ctx, running) })
	}
	err = o.run(ctx, o.mayAct)
	for _, r := range o.servers {
		r.done = err == nil
	}
	return err
}

// mayAct implements [Gate] for all locks.
func (o *restartOperation) mayAct() (until time.Time, err error) {
	for i, r := range o.servers {
		next, err := r.lock.mayAct()
		if err != nil {
			return time.Time{}, err
		}
		if r.begun = true; i == 0 || next.Before(until) {
			until = next
		}
	}
	return until, nil
}

func (o *restartOperation) release(ctx context.Context) {
	for _, r := range o.servers {
		r.lock.releaseDown(ctx, r.done || !r.begun)
	}
}

// lockedServer is a server whose database is locked for a [restartOperation].
type lockedServer struct {
	changer     *Changer
	application observe.Application
	judgement
	takesDown bool
	lock      *lock
	// begun reports whether taking the server down was permitted, done whether the server is back.
	begun, done bool
}

// evaluate judges whether the other members are a majority without this server. Without the lock it only checks that
// there is a leader, which the lock needs. It renews the locks meanwhile.
func (r *lockedServer) evaluate(ctx context.Context, renew func(context.Context) error) error {
	s, m, db := r.changer, r.application, r.server.Database
	switch {
	case r.takesDown && r.server.Condition == ovndb.Unreadable:
		return finding.Refuse([]finding.Finding{unreadable(m, r.server)})
	case !r.takesDown || r.lock == nil && r.server.Status.HasLeader():
		return nil
	case r.lock == nil:
		view, plan, err := s.evaluate(ctx, &r.server, m, nil, func(v raft.View) raft.Plan {
			return raft.PlanRestart(raft.Change{Database: db, View: v})
		})
		if err != nil || !plan.NoQuorum() {
			return err
		}
		return r.refused(view, plan, nil)
	}
	return r.evaluateMajority(ctx, renew)
}

// settle waits for the clients of a server that will be taken down, and judges again.
func (r *lockedServer) settle(ctx context.Context, renew func(context.Context) error) error {
	if !r.takesDown || r.lock == nil {
		return nil
	}
	if err := r.changer.awaitClients(ctx, r.server.Database, renew); err != nil {
		return err
	}
	return r.evaluateMajority(ctx, renew)
}

func (r *lockedServer) evaluateMajority(ctx context.Context, renew func(context.Context) error) error {
	if err := r.refresh(ctx); err != nil {
		return err
	}
	return r.refused(r.changer.evaluateRestart(ctx, &r.server, r.application, r.lock, renew))
}

// evaluateAgain judges once more under the lock, without waiting.
func (r *lockedServer) evaluateAgain(ctx context.Context) error {
	if !r.takesDown {
		return nil
	}
	if err := r.refresh(ctx); err != nil {
		return err
	}
	return r.refused(r.changer.judge(ctx, &r.server, r.application, r.lock, r.lock.planRestart))
}

func (r *lockedServer) refresh(ctx context.Context) error {
	db := r.server.Database
	if r.server = r.changer.Observer.ObserveServer(ctx, db); !r.server.Member() {
		return fmt.Errorf("cannot restart the server of %s: %s", db, r.server.Text())
	}
	return nil
}

// refused keeps the judgement. The refusal lacks the remedies, which depend on both databases.
func (r *lockedServer) refused(view raft.View, plan raft.Plan, err error) error {
	if r.view, r.plan = view, plan; err == nil && plan.Refusal != nil {
		err = finding.Refuse([]finding.Finding{*plan.Refusal})
	}
	return err
}

// planRestart judges a restart from a view that was made under the lock.
func (k *lock) planRestart(v raft.View) raft.Plan {
	return raft.PlanRestart(raft.Change{Database: k.database, View: v, Pending: k.pending()})
}

// prepare proves that this unit still has the lock. If the server will be taken down, it records that, and continues
// through the other members.
func (r *lockedServer) prepare(ctx context.Context) error {
	k := r.lock
	next := k.held.Renewed()
	if r.takesDown {
		if err := k.switchEndpoints(ctx, observe.OtherAddresses(r.server.Status)); err != nil {
			return fmt.Errorf("cannot keep the lock of %s while this unit's server is down: %w", k.database, err)
		}
		next = k.held.WithIntent(k.intent(lease.Down, string(k.server)))
	} else {
		k.others = []string{r.changer.socket(k.database)} // a conversion drops its clients
	}
	return k.renewTo(ctx, next)
}

// Gate is called right before a server is taken down: a process that was stopped meanwhile may have lost the lock. It
// returns the time until which that may begin, or an error if it may not. An operation that does not call it has
// stopped nothing.
type Gate func() (until time.Time, err error)

func openGate() (until time.Time, err error) { return time.Now().Add(lockBase), nil }

// returnPatience is how long the others may take to connect to a restarted member: their connections to it come back
// up to 2.3 s after it has caught up.
const returnPatience = 10 * time.Second

// evaluateRestart judges a restart. If other members are down, it judges again for a while: a server that another
// unit has just restarted may still be starting.
func (s *Changer) evaluateRestart(ctx context.Context, l *observe.ServerState, m observe.Application, k *lock,
	renew func(context.Context) error,
) (raft.View, raft.Plan, error) {
	patience, cancel := context.WithTimeout(ctx, s.Patience(l.Database, returnPatience))
	defer cancel()
	for {
		view, plan, err := s.evaluate(ctx, l, m, k, k.planRestart)
		if err != nil || plan.Refusal == nil || plan.Refusal.Code != finding.QuorumWouldBeLost ||
			poll.Wait(patience, lockInterval) != nil {
			return view, plan, err
		}
		if err := renew(ctx); err != nil {
			return view, plan, err
		}
		if next := s.Observer.ObserveServer(ctx, l.Database); next.Condition == ovndb.Serving {
			*l = next
		}
	}
}

// keep renews the lock until running ends. If that fails, it does not interrupt the operation, which must start the
// server that it has stopped.
func (k *lock) keep(ctx, running context.Context) {
	for poll.Wait(running, k.held.TTL()/5) == nil {
		if err := k.renew(ctx); err != nil {
			k.changer.Log.WarnContext(ctx, "cannot renew the lock; finishing the change that was begun under it",
				"database", k.database.Short(), "error", err)
		}
	}
}

// LeaveRemoved lets a server that other units have removed drop the database, so that its file records that it has
// left. It returns once the server has left.
func (s *Changer) LeaveRemoved(ctx context.Context, m observe.Application, l observe.ServerState) error {
	d := &leaveOperation{changer: s, application: m, judgement: judgement{server: l}, alreadyRemoved: true}
	if err := d.leaveAlreadyRemoved(ctx); err != nil && !errors.Is(err, errTeardown) {
		return err
	}
	return nil
}

// clientsPatience bounds the wait for clients before a server is taken down; the time to send a large database adds
// to it ([raft.Patience]). Some clients never settle, and a due restart must happen.
const clientsPatience = 30 * time.Second

const clientsInterval = 250 * time.Millisecond

// awaitClients returns once the clients of this unit's server have settled, or after a while. They may come from the
// server that was restarted before. If this server went down while it sends them the database, all of them would
// fetch it once more from the remaining server. It renews the locks meanwhile.
func (s *Changer) awaitClients(ctx context.Context, db ovndb.Database, renew func(context.Context) error) error {
	patience := s.Patience(db, clientsPatience)
	until, progress := s.Now().Add(patience), s.progressSince(time.Time{})
	for looks := []ovndb.Clients{}; ; {
		clients, err := s.Observer.CountClients()
		if err != nil {
			s.Log.WarnContext(ctx, "cannot count the clients; not waiting for them", "database", db.Short(), "error", err)
			return nil
		}
		now := clients[db]
		if looks = append(looks, now); plan.ClientsSettled(looks) {
			return nil
		}
		state := fmt.Sprintf("%s: clients that are being served: %d of %d", db.Short(), now.Busy, now.Connected)
		if !s.Now().Before(until) {
			s.Log.InfoContext(ctx, "not waiting for clients any longer", "state", state, "waited", patience.String())
			return nil
		}
		if len(looks) > plan.SettledObservations {
			left := until.Sub(s.Now()).Round(time.Second)
			progress(ctx, fmt.Sprintf("%s; waiting for them, at most %s more", state, left))
		}
		if err := poll.Wait(ctx, clientsInterval); err != nil {
			return err
		}
		if err := renew(ctx); err != nil {
			return err
		}
	}
}
