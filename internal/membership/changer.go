// Package membership changes the members of the databases' clusters: a unit leaves, kicks another unit's member, or
// takes its own server down for a while. Package raft decides from the observations of package observe whether that is
// safe; this package makes the change under a lock, in small steps, and proves it.
package membership

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// Observer makes the observations from which a change is judged. An [observe.Observer] implements it.
type Observer interface {
	ObserveServer(context.Context, ovndb.Database) observe.ServerState
	ObserveServers(context.Context) map[ovndb.Database]observe.ServerState
	ObserveServersWithin(ctx context.Context, timeout time.Duration) map[ovndb.Database]observe.ServerState
	View(ctx context.Context, l observe.ServerState, names []raft.ID) (raft.View, error)
	RemovedElsewhere(context.Context, observe.ServerState, observe.Cache) bool
	MissingEntries(context.Context, observe.ServerState) (finding.Reason, error)
	Probe(context.Context, observe.ServerState) []raft.ProbeResult
	QuorumWithout(ctx context.Context, m observe.Application, cache observe.Cache, l observe.ServerState,
		log raftfile.Log) (q raft.Quorum, removed bool)
	CountClients() (map[ovndb.Database]ovndb.Clients, error)
}

// Changer changes the membership of one unit's servers.
type Changer struct {
	*observe.Machine
	// Observer is called again before each step.
	Observer Observer
	// Goal asks Juju which units the application will have. It is called again during every wait.
	Goal func(context.Context) (juju.GoalState, error)
	// BeforeLeaving is called before the unit leaves a cluster, or its services are stopped for good; nil does nothing.
	BeforeLeaving func(context.Context)
	// Progress shows a line to a waiting operator.
	Progress func(context.Context, string)
}

// Intervals of waits.
const (
	// lockInterval is the interval at which a lock that another unit holds is read again.
	lockInterval = 250 * time.Millisecond
	// tellInterval is the interval at which a wait shows its progress.
	tellInterval = 5 * time.Second
	// goalInterval is the interval at which a wait asks Juju which units stay.
	goalInterval = 2 * time.Second
)

// progressSince returns a function that shows a line of progress, at most once in each [tellInterval] after last.
func (s *Changer) progressSince(last time.Time) func(ctx context.Context, text string) {
	return func(ctx context.Context, text string) {
		if now := s.Now(); now.After(last.Add(tellInterval)) {
			last = now
			s.Progress(ctx, text)
		}
	}
}

func (s *Changer) socket(d ovndb.Database) string { return "unix:" + s.Control.Paths.Socket(d) }

// withGlobal connects to the first endpoint that serves the database, reads external_ids of its Global row, and calls
// do with them. Together this is limited to twice the time of one write.
func (s *Changer) withGlobal(ctx context.Context, d ovndb.Database, endpoints []string,
	do func(ctx context.Context, g *ovsdb.Global, ids map[string]string) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, 2*s.StorePatience(d))
	defer cancel()
	return s.Dialer.WithGlobal(ctx, d, endpoints, func(g *ovsdb.Global, ids map[string]string) error {
		return do(ctx, g, ids)
	})
}

// externalIDs reads external_ids of the Global row from this unit's own server.
func (s *Changer) externalIDs(ctx context.Context, d ovndb.Database) (ids map[string]string, err error) {
	err = s.withGlobal(ctx, d, []string{s.socket(d)}, func(_ context.Context, _ *ovsdb.Global,
		read map[string]string,
	) error {
		ids = read
		return nil
	})
	return ids, err
}

// operation is a change of one database's cluster: a leave, a kick, a restart, or the stop of an unreadable server.
type operation interface {
	// takeLock takes the database's lock, and observes again: other units may have changed the membership meanwhile. It
	// does nothing if there is nothing left to change.
	takeLock(context.Context) error
	// act judges once more, makes the change, and returns once the change is proved.
	act(context.Context) error
	// release releases the lock and records the change. Without a lock it does nothing.
	release(context.Context)
}

// change makes the operations of one call, in one database or in both. It takes every lock: all operations are
// judged, all locks are taken, all operations are judged again, then they act one after the other, each is proved,
// and finally the locks are released (rules R1, R5, R6).
type change[O operation] struct {
	operations []O
	// judge judges all operations. No database is touched unless all operations pass, without the locks and under them.
	judge func(context.Context) error
	// begin is called after judge, unless it is nil.
	begin func(context.Context)
	// ends reports whether an operation's error prevents the operations after it.
	ends func(error) bool
}

// carryOut returns the error of the judgement or of a lock, otherwise those of the operations.
func (c change[O]) carryOut(ctx context.Context) error {
	defer func() {
		for _, o := range c.operations {
			o.release(ctx)
		}
	}()
	if err := c.judge(ctx); err != nil {
		return err
	}
	for _, o := range c.operations {
		if err := o.takeLock(ctx); err != nil {
			return err
		}
	}
	if err := c.judge(ctx); err != nil {
		return err
	}
	if c.begin != nil {
		c.begin(ctx)
	}
	var failures []error
	for _, o := range c.operations {
		err := o.act(ctx)
		if err != nil && c.ends(err) {
			return err
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// always ends a change with the first operation that fails.
func always(error) bool { return true }

// electionPatience bounds the wait for an election that another member's leave
// has caused: a leader that leaves costs one and a half election timers.
const electionPatience = 10 * time.Second

// evaluate judges a change in a view of the cluster. While the cluster has no leader, it observes again for two
// election timers, since an election takes that long at most. It stores the judged state in l. If there is a lock k,
// the changes that the lock records are part of the view.
func (s *Changer) evaluate(ctx context.Context, l *observe.ServerState, m observe.Application, k *lock,
	judge func(raft.View) raft.Plan,
) (raft.View, raft.Plan, error) {
	patience, cancel := context.WithTimeout(ctx, min(2*l.Status.ElectionTimer, electionPatience))
	defer cancel()
	for told := false; ; {
		view, plan, err := s.judge(ctx, l, m, k, judge)
		if err != nil {
			return view, plan, err
		}
		if !plan.NoQuorum() || poll.Wait(patience, lockInterval) != nil {
			return view, plan, ctx.Err()
		}
		if !told {
			told = true
			s.Progress(ctx, fmt.Sprintf("%s: no leader is known; waiting for an election, at most %s", l.Database.Short(),
				min(2*l.Status.ElectionTimer, electionPatience)))
		}
		next := s.Observer.ObserveServer(ctx, l.Database)
		if next.Condition != ovndb.Serving {
			return view, plan, fmt.Errorf("cannot judge %s: %s", l.Database, next.Text())
		}
		*l = next
	}
}

// judge is like [Changer.evaluate], but observes only once.
func (s *Changer) judge(ctx context.Context, l *observe.ServerState, m observe.Application, k *lock,
	judge func(raft.View) raft.Plan,
) (raft.View, raft.Plan, error) {
	view, err := s.Observer.View(ctx, *l, m.Names(l.Database))
	if err != nil {
		return view, raft.Plan{}, err
	}
	l.Status, view.Down = view.Status, k.down()
	if k != nil {
		ids, _, _, err := k.read(ctx)
		if err != nil {
			return view, raft.Plan{}, fmt.Errorf("cannot judge %s: %w", l.Database, err)
		}
		view.Lost = observe.DamagedServers(ids)
	}
	plan := judge(view)
	if plan.Refusal != nil {
		*plan.Refusal = status.Named(m, l.Database, *plan.Refusal)
	}
	return view, plan, nil
}

// judgement is the last judgement of a change of this unit's member of one database, made from view.
type judgement struct {
	server observe.ServerState
	view   raft.View
	plan   raft.Plan
}

// waysOf returns the remedies of the refusals among judgements. One command suffices for both databases.
func (s *Changer) waysOf(ctx context.Context, m observe.Application, judged ...judgement) []finding.Remedy {
	var leaderless []observe.ServerState
	var plans []raft.Plan
	clusters := status.Views{}
	for _, j := range judged {
		if len(j.view.Status.Servers) > 0 {
			clusters[j.server.Database] = j.view
		}
		if j.plan.Refusal != nil {
			plans = append(plans, j.plan)
		}
		if j.plan.NoQuorum() {
			leaderless = append(leaderless, j.server)
		}
	}
	if len(plans) == 0 {
		return nil
	}
	ways := status.Ways(m, plans, s.completed(ctx, m, clusters))
	if len(leaderless) > 0 {
		ways = append(status.WithoutLeader(m, leaderless...), ways...)
	}
	return ways
}

// completed adds the views of those databases that were not judged. If a member is down, its unit's member of the
// other database shows whether the machine is on.
func (s *Changer) completed(ctx context.Context, m observe.Application, clusters status.Views) status.Views {
	for _, d := range ovndb.Databases() {
		if _, seen := clusters[d]; seen {
			continue
		}
		l := s.Observer.ObserveServer(ctx, d)
		if l.Condition != ovndb.Serving {
			continue
		}
		if view, err := s.Observer.View(ctx, l, m.Names(d)); err == nil {
			clusters[d] = view
		}
	}
	return clusters
}

// ClearEndedIntents drops intents that this unit knows to have ended from a lock that no unit holds. It does so only
// if this unit's server is a plain member: then a restart has cancelled its leave, a lost kick is never carried out,
// and the server is back. Until then the other units expect these changes.
func (s *Changer) ClearEndedIntents(ctx context.Context) {
	for _, d := range ovndb.Databases() {
		if err := s.clearEndedIntents(ctx, d); err != nil {
			s.Log.DebugContext(ctx, "cannot remove ended changes from the lock", "database", d.Short(), "error", err)
		}
	}
}

func (s *Changer) clearEndedIntents(ctx context.Context, d ovndb.Database) error {
	return s.withGlobal(ctx, d, []string{s.socket(d)}, func(ctx context.Context, g *ovsdb.Global,
		ids map[string]string,
	) error {
		record, err := lease.Parse(ids[observe.LockKey])
		if err != nil || record.Holder != "" || len(record.Intents) == 0 {
			return err
		}
		l := s.Observer.ObserveServer(ctx, d)
		if !l.MemberWithLeader() {
			return nil
		}
		gone, _ := s.provenRemoved(ctx, d, record, ids, map[string]*raft.RemovalWatcher{})
		next, changed := record.WithoutEnded(lease.LiveOwner{
			Unit: s.Env.Unit, Server: string(l.Status.Server), Gone: gone, Now: s.Now(),
		})
		if !changed {
			return nil
		}
		if err := s.recordRemovals(ctx, d, g, s.unrecorded(record, ids, gone)); err != nil {
			return err
		}
		_, err = g.Swap(ctx, observe.LockKey, ids[observe.LockKey], next.String())
		return err
	})
}
