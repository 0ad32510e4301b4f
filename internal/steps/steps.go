// Package steps observes a unit for a decision, and makes the step that package plan chooses.
package steps

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/certificates"
	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/firewall"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/jujuleader"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/packages"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/restarts"
	"github.com/ovn-central/ovn-central-operator/internal/restore"
	"github.com/ovn-central/ovn-central-operator/internal/startguard"
)

// Unit makes the steps of a unit, with the managers that take part in them. It is used during one hook.
type Unit struct {
	*observe.Observer
	Juju         *juju.Tools
	Members      *membership.Changer
	Packages     *packages.Manager
	Restarts     *restarts.Manager
	Certificates *certificates.Manager
	Firewall     *firewall.Manager
	Leader       *jujuleader.Manager
	Recovery     *restore.Unit
	// Save writes the unit's state to the disk.
	Save func() error
	// rewriteFailures explains for each server that could not rewrite its file in this hook why it could not.
	rewriteFailures map[ovndb.Database]string
}

// Limits of waits for the effects of a step. No step relies on them: the next hook observes again.
const (
	// joinPatience bounds the time until a started server is a member; joining takes 50 ms, and longer if the database
	// is large.
	joinPatience = 30 * time.Second
	// bootPatience bounds the time until the leader has connected to a member that the machine's boot has started.
	bootPatience = 12 * time.Second
	// restartPatience bounds the time until a restarted server is a member again. Other units must wait meanwhile.
	restartPatience = 2 * time.Minute
	// northdPatience bounds the time until ovn-northd is connected, which takes milliseconds.
	northdPatience = 3 * time.Second
	// northdReturns is the same for an ovn-northd that found no server: it waits up to 8 s before it tries again
	// (max_backoff in OVS's lib/reconnect.c).
	northdReturns = 10 * time.Second
	// timerPatience bounds the time until a change of the election timer is committed; a large database adds to it.
	timerPatience = 2 * time.Second
	// lockPatience bounds the time until an ovn-northd that has both databases gets the lock, if no other ovn-northd has
	// it.
	lockPatience = time.Second
	// lockInterval is the time between two checks whether the lock is free.
	lockInterval = 250 * time.Millisecond
	// pollInterval is the time between two checks.
	pollInterval = 25 * time.Millisecond
)

// archive puts away the file of a server that is not a member, and masks the service, which would create a new
// cluster.
func (u *Unit) archive(ctx context.Context, l observe.ServerState) error {
	db := l.Database
	service := ovndb.ServiceOf(db)
	if len(u.Leader.Clusters.Superseded[db]) > 0 {
		// ovn-northd's cache would mistake the new cluster, whose log begins again, for one with old data.
		if err := u.Services.Stop(ctx, ovndb.Northd); err != nil {
			return err
		}
	}
	if l.Condition == ovndb.Serving && l.Status.State == raft.JoiningCluster {
		if err := u.Members.EndJoin(ctx, db); err != nil {
			return err
		}
	}
	if err := u.Services.Stop(ctx, service); err != nil {
		return err
	}
	if err := u.Services.Mask(ctx, service); err != nil {
		return err
	}
	path, err := u.Files.Archive(db, u.Now())
	if err != nil {
		return err
	}
	u.Log.InfoContext(ctx, "the database's file was put away", "database", db.Short(), "path", path)
	return nil
}

// start starts services at the same time; the failure of one does not stop the others. They run the installed
// version. If a service never ran, its version is recorded before the start: the start may succeed after its timeout,
// and a killed hook records nothing afterwards.
func (u *Unit) start(ctx context.Context, services []ovndb.Service) error {
	installed, _, err := u.Packages.Installed(ctx)
	if err != nil {
		return err
	}
	for _, service := range services {
		if _, ran := u.Restarts.Runs(service); !ran && service != ovndb.Umbrella {
			u.Restarts.Started(service, installed)
		}
	}
	if err := u.Save(); err != nil {
		return err
	}
	failures := observe.AtOnce(services, func(service ovndb.Service) error { return u.StartOne(ctx, service) })
	for i, service := range services {
		if failures[i] == nil && service != ovndb.Umbrella {
			u.Restarts.Started(service, installed)
		}
	}
	return errors.Join(failures...)
}

// StartOne starts a service. If its server may soon be a member, it waits for that.
func (u *Unit) StartOne(ctx context.Context, service ovndb.Service) error {
	if err := u.Services.Unmask(ctx, service); err != nil {
		return err
	}
	if service == ovndb.Umbrella {
		if err := u.Services.Enable(ctx, service); err != nil {
			return err
		}
	}
	db, isServer := restarts.DatabaseOf(service)
	if isServer { // only this start shows whether the start guard refuses it
		if err := startguard.Forget(u.Control.Paths, db); err != nil {
			return err
		}
	}
	if err := u.Services.Start(ctx, service); err != nil {
		return err
	}
	if service == ovndb.Northd {
		u.awaitNorthd(ctx, northdPatience)
	}
	if isServer {
		if err := u.awaitMember(ctx, db, joinPatience); err != nil {
			u.Log.InfoContext(ctx, "the server is not a working member yet", "database", db.Short(), "error", err)
		}
	}
	return nil
}

// awaitMember waits until a started server is a member. It does not wait for a server that the start guard has stopped.
func (u *Unit) awaitMember(ctx context.Context, db ovndb.Database, patience time.Duration) error {
	refused, err := observe.RefusedStart(u.Control.Paths, db)
	if err != nil {
		u.Log.WarnContext(ctx, "cannot tell whether the start was refused; waiting for the server",
			"database", db.Short(), "error", err)
	}
	if refused.Reason != "" {
		return fmt.Errorf("%s: the start guard keeps the server from starting: %s", db.Short(), refused.Reason)
	}
	_, err = u.Observer.AwaitMember(ctx, db, u.Patience(db, patience))
	return err
}

// Restart restarts a service, which then runs the installed version. It judges and restarts a database's server under
// the lock, and returns when the server is back.
func (u *Unit) Restart(ctx context.Context, snapshot observe.Snapshot, service ovndb.Service) error {
	installed, _, err := u.Packages.Packages.Installed(ctx) // another process may have changed them since
	if err != nil {
		return err
	}
	if service == ovndb.Northd {
		if err := u.Services.MakeStartable(ctx, service); err != nil {
			return err
		}
		if err := u.Services.Restart(ctx, service); err != nil {
			return err
		}
		u.Restarts.Started(service, installed)
		u.awaitNorthd(ctx, northdPatience)
		return nil
	}
	if db, isServer := restarts.DatabaseOf(service); isServer {
		if err := u.restartServer(ctx, snapshot, db); err != nil {
			return err
		}
		u.Restarts.Started(service, installed)
	}
	return nil
}

func (u *Unit) restartServer(ctx context.Context, snapshot observe.Snapshot, db ovndb.Database) error {
	patience := restartPatience
	if !snapshot.Servers[db].Member() {
		patience = joinPatience
	}
	restart := func(ctx context.Context, gate membership.Gate) error {
		if err := u.Members.RewriteFile(ctx, db); err != nil {
			return err
		}
		if err := startguard.Forget(u.Control.Paths, db); err != nil {
			return err
		}
		if err := u.Control.HandOver(ctx, u.Services, db, gate); err != nil {
			return err
		}
		return u.awaitMember(ctx, db, patience)
	}
	return u.Members.WithLock(ctx, snapshot.Application, db, true, restart)
}

// ErrNotRemoved is returned if the removal of a member, requested by its unit, failed; the next hook tries again.
var ErrNotRemoved = errors.New("not removed")

// removeMember kicks the member of a unit that requests it, with the judgement, the lock and the proof of every kick.
func (u *Unit) removeMember(ctx context.Context, o facts.Facts, s plan.Step) error {
	results, err := u.Members.Kick(ctx, o.Application, membership.KickRequest{
		IDs:       map[ovndb.Database]raft.IDArgument{s.Database: {Text: string(s.Server)}},
		Confirmed: true, Permit: raft.PermitForce,
	})
	if err != nil {
		return err
	}
	for _, k := range results {
		if !k.Done() {
			return fmt.Errorf("%w: %s: %w", ErrNotRemoved, s.Unit, finding.Refuse(k.Against))
		}
	}
	return nil
}

func (u *Unit) setTimer(ctx context.Context, _ facts.Facts, s plan.Step) error {
	db, to := s.Database, s.Timer
	if err := u.Control.ChangeElectionTimer(ctx, db, to); err != nil {
		return err
	}
	changed := poll.Await(ctx, u.Patience(db, timerPatience), pollInterval, nil, func() bool {
		l := u.Observer.ObserveServer(ctx, db)
		return l.Condition == ovndb.Serving && l.Status.ElectionTimer == to
	})
	if !changed {
		u.Log.InfoContext(ctx, "the election timer is not changed yet", "database", db.Short())
	}
	return nil
}

// awaitNorthd waits until an ovn-northd that was started, or that found no server, has both databases.
func (u *Unit) awaitNorthd(ctx context.Context, patience time.Duration) {
	if !poll.Await(ctx, patience, pollInterval, nil, func() bool {
		connected, err := u.Control.NorthdConnected(ctx)
		return err == nil && connected
	}) {
		u.Log.InfoContext(ctx, "ovn-northd is not connected to both databases yet")
		return
	}
	poll.Await(ctx, lockPatience, pollInterval, nil, func() bool { // it is active at once if no other has the lock
		state, err := u.Control.NorthdStatus(ctx)
		return err == nil && state == ovndb.NorthdActive
	})
}

// AwaitServers gives the servers of a machine that has just booted the time to read their files and to find their
// leaders; otherwise the unit's status would show until the next hook that they are starting. Call it in the first
// hooks after a boot. It reports whether it has waited.
func (u *Unit) AwaitServers(ctx context.Context, servers map[ovndb.Database]observe.ServerState) (awaited bool) {
	var wg sync.WaitGroup
	for _, db := range ovndb.Databases() {
		patience := bootPatience
		switch l := servers[db]; {
		case l.Starting:
			patience = u.Patience(db, joinPatience)
		case !l.LeaderUnreachable():
			continue
		}
		awaited = true
		wg.Go(func() {
			if _, err := u.Observer.AwaitMember(ctx, db, patience); err != nil {
				u.Log.InfoContext(ctx, "the server is not a working member yet", "database", db.Short(), "error", err)
			}
		})
	}
	if wg.Wait(); awaited {
		if states, err := u.Services.States(ctx); err == nil && states[ovndb.Northd].Running() {
			u.awaitNorthd(ctx, northdReturns)
		}
	}
	return awaited
}

func raftAddress(o facts.Facts, db ovndb.Database) string {
	return ovndb.RaftAddress(db, o.Addresses.Own.String())
}
