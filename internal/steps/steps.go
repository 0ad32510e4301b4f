// Package steps looks at a unit, and makes the step that package plan chooses.
package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/certificates"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/firewall"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/jujuleader"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/restarts"
	"github.com/ovn-central/ovn-central-operator/internal/restore"
	"github.com/ovn-central/ovn-central-operator/internal/startguard"
)

// Juju has the tools of Juju that steps need.
type Juju interface {
	StatusSet(ctx context.Context, word juju.StatusWord, message string) error
}

// Unit is the unit whose steps are made, with the managers that have a part in them. It lives for one hook.
type Unit struct {
	*observe.Machine
	Juju         Juju
	Observer     *observe.Observer
	Members      *membership.Changer
	Paths        ovndb.Paths
	Packages     *apt.Manager
	Restarts     *restarts.Manager
	Certificates *certificates.Manager
	Firewall     *firewall.Manager
	Schemas      *Schemas
	Leader       *jujuleader.Manager
	Recovery     *restore.Unit
	// Save writes the unit's state to the disk.
	Save func() error
	// unmended is why a server could not rewrite its file in this hook.
	unmended map[ovndb.Database]string
}

// Waits for the effects of a step. All end early, and none is relied on: the next
// hook looks again.
const (
	// joinPatience is how long a server that was started may take to become a
	// member; it takes 50 ms, and longer if the database is large.
	joinPatience = 30 * time.Second
	// leaderConnectionPatience is the same for one that this hook did not start, and is a
	// member that its leader has yet to reach.
	leaderConnectionPatience = 12 * time.Second
	// restartPatience is the same for a member that was restarted, during which no
	// other unit may have its turn.
	restartPatience = 2 * time.Minute
	// northdPatience is the same for ovn-northd, which connects within milliseconds.
	northdPatience = 3 * time.Second
	// northdReturns is the same for one that has found no server, and waits up to 8 s before
	// it tries again (max_backoff in OVS's lib/reconnect.c).
	northdReturns = 10 * time.Second
	// timerPatience is the same for a change of the election timer, which is
	// committed like any other entry; a large database adds to it.
	timerPatience = 2 * time.Second
	// lockPatience is how long an ovn-northd that has both databases takes to get the lock, if no other has it.
	lockPatience = time.Second
	// pollInterval is the time between two looks.
	pollInterval = 25 * time.Millisecond
)

// await is [poll.Until] with a time limit.
func await(ctx context.Context, patience time.Duration, look func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return poll.Until(ctx, pollInterval, look)
}

// archive puts away the file of a server that is no member, and keeps the service from starting without it: it would
// create a new cluster.
func (u *Unit) archive(ctx context.Context, l observe.ServerState) error {
	db := l.Database
	service := ovndb.ServiceOf(db)
	if len(u.Leader.Clusters.Superseded[db]) > 0 {
		// It takes the new cluster, whose log begins again, for one with old data.
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

// start starts services at the same time; the failure of one does not hinder the others. They run the installed
// version. Of one that never ran that is noted before: it may do so although its start took too long, and a hook that
// is killed meanwhile notes nothing afterwards.
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
	var wg sync.WaitGroup
	failures := make([]error, len(services))
	for i, service := range services {
		wg.Go(func() { failures[i] = u.StartOne(ctx, service) })
	}
	wg.Wait()
	for i, service := range services {
		if failures[i] == nil && service != ovndb.Umbrella {
			u.Restarts.Started(service, installed)
		}
	}
	return errors.Join(failures...)
}

// StartOne starts a service and waits until its server is a member, if it may soon be.
func (u *Unit) StartOne(ctx context.Context, service ovndb.Service) error {
	if err := u.Services.Unmask(ctx, service); err != nil {
		return err
	}
	if service == ovndb.Umbrella {
		if err := u.Services.Enable(ctx, service); err != nil {
			return err
		}
	}
	i := slices.IndexFunc(ovndb.Databases(), func(db ovndb.Database) bool { return ovndb.ServiceOf(db) == service })
	if i >= 0 { // only this start shows whether the start guard refuses it
		if err := startguard.Forget(u.Paths, ovndb.Databases()[i]); err != nil {
			return err
		}
	}
	if err := u.Services.Start(ctx, service); err != nil {
		return err
	}
	if service == ovndb.Northd {
		u.awaitNorthd(ctx, northdPatience)
	}
	if i >= 0 {
		if err := u.awaitMember(ctx, ovndb.Databases()[i], joinPatience); err != nil {
			u.Log.InfoContext(ctx, "the server is not a working member yet",
				"database", ovndb.Databases()[i].Short(), "error", err)
		}
	}
	return nil
}

// awaitMember waits until a server that was started is a member. One that the start guard has kept from starting is not
// waited for.
func (u *Unit) awaitMember(ctx context.Context, db ovndb.Database, patience time.Duration) error {
	refused, err := observe.RefusedStart(u.Paths, db)
	if err != nil {
		u.Log.WarnContext(ctx, "cannot tell whether the start was refused; waiting for the server",
			"database", db.Short(), "error", err)
	}
	if refused.Reason != "" {
		return fmt.Errorf("%s: the start guard keeps the server from starting: %s", db.Short(), refused.Reason)
	}
	_, err = u.Observer.AwaitMember(ctx, db, raft.Patience(patience, raftfile.Size(u.Paths.File(db))))
	return err
}

// Restart restarts a service, which then runs the installed version; a database's server under the lock, after a
// judgement, and it ends when the server is back. Another process may have changed the packages since they were looked
// at.
func (u *Unit) Restart(ctx context.Context, snapshot observe.Snapshot, service ovndb.Service) error {
	installed, _, err := u.Packages.Packages.Installed(ctx)
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
	for _, db := range ovndb.Databases() {
		if ovndb.ServiceOf(db) != service {
			continue
		}
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
		if err := startguard.Forget(u.Paths, db); err != nil {
			return err
		}
		if err := u.Control.HandOver(ctx, u.Services, db, gate); err != nil {
			return err
		}
		return u.awaitMember(ctx, db, patience)
	}
	return u.Members.WithLock(ctx, snapshot.Application, db, true, restart)
}

// ErrNotRemoved is returned if a member that a unit asked to have removed was not: the next hook tries again.
var ErrNotRemoved = errors.New("not removed")

// removeMember kicks the member of a unit that asks for it, with all that a kick takes: its judgement, the lock, the
// proof.
func (u *Unit) removeMember(ctx context.Context, m observe.Application, s plan.Step) error {
	results, err := u.Members.Kick(ctx, m, membership.KickRequest{
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

// setTimer changes the election timer of a database.
func (u *Unit) setTimer(ctx context.Context, db ovndb.Database, to time.Duration) error {
	if err := u.Control.ChangeElectionTimer(ctx, db, to); err != nil {
		return err
	}
	err := await(ctx, raft.Patience(timerPatience, raftfile.Size(u.Paths.File(db))), func() error {
		l := u.Observer.ObserveServer(ctx, db)
		if l.Condition == ovndb.Serving && l.Status.ElectionTimer == to {
			return nil
		}
		return fmt.Errorf("%s: the election timer is not %s yet", db.Short(), to)
	})
	if err != nil {
		u.Log.InfoContext(ctx, "the election timer is not changed yet", "database", db.Short(), "error", err)
	}
	return nil
}

// awaitNorthd gives an ovn-northd that was started, or has found no server, the time that
// it takes to have both databases.
func (u *Unit) awaitNorthd(ctx context.Context, patience time.Duration) {
	err := await(ctx, patience, func() error {
		connected, err := u.Control.NorthdConnected(ctx)
		if err == nil && !connected {
			err = errors.New("ovn-northd is not connected to both databases yet")
		}
		return err
	})
	if err != nil {
		u.Log.InfoContext(ctx, "ovn-northd is not connected to both databases yet", "error", err)
		return
	}
	_ = await(ctx, lockPatience, func() error { // it is active right away if no other has the lock
		if state, err := u.Control.NorthdStatus(ctx); err != nil || state != ovsctl.NorthdActive {
			return errors.New("it stands by")
		}
		return nil
	})
}

// AwaitServers gives the servers of a machine that has just been turned on the time to read
// their files, and to hear their leaders: their state would otherwise be the unit's status until the next hook. It is
// for the hooks that run then, since some stay so for as long as another server has their address. It reports whether
// it has waited.
func (u *Unit) AwaitServers(ctx context.Context, servers map[ovndb.Database]observe.ServerState) (awaited bool) {
	var wg sync.WaitGroup
	for _, db := range ovndb.Databases() {
		patience := leaderConnectionPatience
		switch l := servers[db]; {
		case l.Starting:
			patience = raft.Patience(joinPatience, raftfile.Size(u.Paths.File(db)))
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
