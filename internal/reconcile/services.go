package reconcile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/startguard"
)

// archive puts away the file of a server that is no member, and keeps the service
// from starting without it: it would make a new cluster.
func (u *Reconciler) archive(ctx context.Context, p pass, db ovndb.Database) error {
	service, l := ovndb.ServiceOf(db), server(p.result, db)
	if len(p.progress.clusters.Superseded[db]) > 0 {
		// It takes the new cluster, whose log begins anew, for one with old data.
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

// start starts services at the same time. What becomes of one does not hinder the
// others. What one that never ran will run is noted before: it may do so although its start
// took too long, and a hook that is killed meanwhile notes nothing afterwards.
func (u *Reconciler) start(ctx context.Context, p pass, services []ovndb.Service) error {
	r := p.record
	version, _, err := r.packages.Installed(ctx)
	if err != nil {
		return err
	}
	for _, service := range services {
		if _, ran := r.restarts.Runs(service); !ran && service != ovndb.Umbrella {
			r.restarts.Started(service, version)
		}
	}
	if err := u.saveRecord(r); err != nil {
		return err
	}
	var wg sync.WaitGroup
	failures := make([]error, len(services))
	for i, service := range services {
		wg.Go(func() { failures[i] = u.startOne(ctx, service) })
	}
	wg.Wait()
	for i, service := range services {
		if failures[i] == nil && service != ovndb.Umbrella {
			r.restarts.Started(service, version)
		}
	}
	return errors.Join(failures...)
}

// startOne starts a service and waits until its server is a member, if it may soon
// be.
func (u *Reconciler) startOne(ctx context.Context, service ovndb.Service) error {
	name := service
	if err := u.Services.Unmask(ctx, name); err != nil {
		return err
	}
	if service == ovndb.Umbrella {
		if err := u.Services.Enable(ctx, name); err != nil {
			return err
		}
	}
	if err := u.forgetRefusal(service); err != nil {
		return err
	}
	if err := u.Services.Start(ctx, name); err != nil {
		return err
	}
	if service == ovndb.Northd {
		u.awaitNorthd(ctx, northdPatience)
	}
	for _, db := range ovndb.Databases() {
		if ovndb.ServiceOf(db) != service {
			continue
		}
		if err := u.awaitMember(ctx, db, joinPatience); err != nil {
			u.Log.InfoContext(ctx, "the server is not a working member yet", "database", db.Short(), "error", err)
		}
	}
	return nil
}

// awaitMember waits until a server that was started is a member. One that the start guard has kept from starting is not
// waited for.
func (u *Reconciler) awaitMember(ctx context.Context, db ovndb.Database, patience time.Duration) error {
	refused, err := observe.RefusedStart(u.Paths, db)
	if err != nil {
		u.Log.WarnContext(ctx, "cannot tell whether the start was refused; waiting for the server", "database", db.Short(), "error", err)
	}
	if refused.Reason != "" {
		return fmt.Errorf("%s: the start guard keeps the server from starting: %s", db.Short(), refused.Reason)
	}
	_, err = u.Observer.AwaitMember(ctx, db, raft.Patience(patience, raftfile.Size(u.Paths.File(db))))
	return err
}

// forgetRefusal has only the start that follows tell whether the start guard refuses it.
func (u *Reconciler) forgetRefusal(service ovndb.Service) error {
	for _, db := range ovndb.Databases() {
		if ovndb.ServiceOf(db) == service {
			return startguard.Forget(u.Paths, db)
		}
	}
	return nil
}

// restart restarts a service; a database's server under the lock, after a
// judgement, and it ends when the server is back.
func (u *Reconciler) restart(ctx context.Context, r *record, o Result, service ovndb.Service) error {
	version, _, err := u.Packages.Installed(ctx) // another process may have changed them since
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
		r.restarts.Started(service, version)
		u.awaitNorthd(ctx, northdPatience)
		return nil
	}
	for _, db := range ovndb.Databases() {
		if ovndb.ServiceOf(db) != service {
			continue
		}
		err := u.Members.WithLock(ctx, o.Snapshot.Application, db, true, func(ctx context.Context, gate membership.Gate) error {
			if err := u.Members.RewriteFile(ctx, db); err != nil {
				return err
			}
			if err := u.forgetRefusal(service); err != nil {
				return err
			}
			if err := u.Control.HandOver(ctx, u.Services, db, gate); err != nil {
				return err
			}
			patience := restartPatience
			if !server(o, db).Member() {
				patience = joinPatience
			}
			return u.awaitMember(ctx, db, patience)
		})
		if err != nil {
			return err
		}
		r.restarts.Started(service, version)
	}
	return nil
}

func (u *Reconciler) setTimer(ctx context.Context, db ovndb.Database, to time.Duration) error {
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

// lockPatience is how long an ovn-northd that has both databases takes to get the lock, if no other has it.
const lockPatience = time.Second

// awaitNorthd gives an ovn-northd that was started, or has found no server, the time that
// it takes to have both databases.
func (u *Reconciler) awaitNorthd(ctx context.Context, patience time.Duration) {
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
