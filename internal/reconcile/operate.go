package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/firewall"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// Pause stops this unit's services until [Reconciler.Resume]; they don't start at boot
// either. The unit stays a member, so that the others must be a majority without
// it: if they aren't, or it knows no leader, the error is a
// [*finding.RefusedError] that names each database, and nothing was stopped. recovery permits
// a pause without a leader, with which the recovery of a lost quorum begins.
func (u *Reconciler) Pause(ctx context.Context, recovery bool) error {
	r, err := u.loadRecord()
	if err != nil {
		return err
	}
	snapshot := u.Observer.Observe(ctx, u.Tools)
	all := u.allServices()
	halt := func(ctx context.Context, gate membership.Gate) error {
		if err := u.rewriteFiles(ctx); err != nil {
			return err
		}
		if err := u.notePaused(r, true); err != nil {
			return err
		}
		if _, err := gate(); err != nil {
			return errors.Join(err, u.notePaused(r, false))
		}
		if err := errors.Join(r.agent.Halt(ctx), u.saveRecord(r)); err != nil {
			return err
		}
		if err := u.Services.Stop(ctx, all...); err != nil {
			return err
		}
		return u.Services.Mask(ctx, all...)
	}
	var turns []ovndb.Database
	for db, l := range snapshot.Servers {
		// A server without a leader votes: it may be the one that elects one.
		if l.Member() && (l.Status.HasLeader() || !recovery) || l.Condition == ovndb.Unreadable {
			turns = append(turns, db)
		}
	}
	slices.Sort(turns)
	return u.Members.WithLocks(ctx, snapshot.Application, turns, true, halt)
}

// notePaused puts into the unit's record whether it is paused.
func (u *Reconciler) notePaused(r *record, paused bool) error {
	r.Paused, r.Settled = paused, false
	return u.saveRecord(r)
}

// Resume ends a pause. The services are started as the unit converges.
func (u *Reconciler) Resume() error {
	r, err := u.loadRecord()
	if err != nil {
		return err
	}
	return u.notePaused(r, false)
}

// Paused reports whether the unit is paused.
func (u *Reconciler) Paused() (bool, error) {
	r, err := u.loadRecord()
	return r.Paused, err
}

// Deferred lists the restarts that are held back, each with its reason.
func (u *Reconciler) Deferred(ctx context.Context) (map[ovndb.Service]string, error) {
	r, err := u.loadRecord()
	if err != nil {
		return nil, err
	}
	return u.deferred(ctx, r)
}

func (u *Reconciler) deferred(ctx context.Context, r *record) (map[ovndb.Service]string, error) {
	version, _, err := r.packages.Installed(ctx)
	if err != nil {
		return nil, err
	}
	pending, err := r.restarts.Pending(version)
	if err != nil {
		return nil, err
	}
	return u.withLost(ctx, pending)
}

// HoldNorthd stops this unit's ovn-northd and keeps it from running, through hooks,
// upgrades and restarts of the machine, until [Reconciler.ReleaseNorthd]: in the
// fail-safe order of an upgrade it is stopped before all else, and the new one is started
// once the databases are upgraded (ovn-upgrades, "Fail-safe upgrade").
func (u *Reconciler) HoldNorthd(ctx context.Context) error {
	if err := u.noteNorthdHeld(true); err != nil {
		return err
	}
	if err := u.Services.Stop(ctx, ovndb.Northd); err != nil {
		return err
	}
	return u.Services.Mask(ctx, ovndb.Northd)
}

// ReleaseNorthd ends what [Reconciler.HoldNorthd] has begun. The service is started as the unit
// converges.
func (u *Reconciler) ReleaseNorthd() error { return u.noteNorthdHeld(false) }

// NorthdHeld reports whether this unit's ovn-northd is kept from running.
func (u *Reconciler) NorthdHeld() (bool, error) {
	r, err := u.loadRecord()
	return r.NorthdHeld, err
}

func (u *Reconciler) noteNorthdHeld(held bool) error {
	r, err := u.loadRecord()
	if err != nil {
		return err
	}
	r.NorthdHeld, r.Settled = held, false
	return u.saveRecord(r)
}

// ErrNoService is wrapped for a name that is not one of the package's services.
var ErrNoService = errors.New("no such service")

// Restart restarts services one after the other, each as carefully as the unit
// itself would. Without names it restarts those that are held back. It returns
// what it has restarted. What was stopped by a pause, or is held, is refused.
func (u *Reconciler) Restart(ctx context.Context, names ...string) ([]ovndb.Service, error) {
	r, err := u.loadRecord()
	if err != nil {
		return nil, err
	}
	r.restarts.KeepRefused(ctx, func() error { return u.saveRecord(r) })
	pending, err := u.deferred(ctx, r)
	if err != nil {
		return nil, err
	}
	wanted, err := r.restartTargets(u.Env.Unit, pending, names)
	if err != nil {
		return nil, fmt.Errorf("cannot restart services: %w", err)
	}
	o := u.Observer.Observe(ctx, u.Tools)
	var done []ovndb.Service
	for _, service := range plan.RestartOrder() {
		if !wanted[service] {
			continue
		}
		if err := u.restart(ctx, r, o, service); err != nil {
			return done, errors.Join(fmt.Errorf("cannot restart %s: %w", service, err), u.saveRecord(r))
		}
		done = append(done, service)
	}
	return done, u.saveRecord(r)
}

// restartTargets are the services that a restart is for: those that are named, by themselves or
// all together, or without names those that are held back.
func (r *record) restartTargets(unit string, pending map[ovndb.Service]string, names []string) (map[ovndb.Service]bool, error) {
	wanted := map[ovndb.Service]bool{}
	for service := range pending {
		wanted[service] = len(names) == 0
	}
	for _, name := range names {
		services := []ovndb.Service{ovndb.Service(name)}
		if services[0] == ovndb.Umbrella {
			services = plan.RestartOrder()
		}
		for _, service := range services {
			if !slices.Contains(plan.RestartOrder(), service) {
				return nil, fmt.Errorf("%w: %q; there are %s, %s", ErrNoService, name, Names(plan.RestartOrder()), ovndb.Umbrella)
			}
			wanted[service] = true
		}
	}
	switch {
	case r.NorthdHeld && wanted[ovndb.Northd] && len(names) > 0:
		return nil, stopped(finding.NorthdHeld, unit, "release-northd")
	case r.NorthdHeld:
		delete(wanted, ovndb.Northd)
	}
	if r.Paused && slices.Contains(slices.Collect(maps.Values(wanted)), true) {
		return nil, stopped(finding.Paused, unit, "resume")
	}
	return wanted, nil
}

// stopped refuses what an action ends.
func stopped(code finding.Code, unit, action string) error {
	end := finding.Do(command.Command{Unit: unit, Action: action})
	return finding.Refuse([]finding.Finding{finding.New(code, finding.Subject{}, finding.Args{}, end)})
}

func (u *Reconciler) allServices() []ovndb.Service {
	all := []ovndb.Service{ovndb.Umbrella}
	all = append(all, plan.RestartOrder()...)
	return all
}

// Remove takes from the machine what would hinder, or endanger, a unit that comes
// after: the key, the package sources, the firewall's rules, the options of the services, which stay
// masked, what this one remembers, a cluster that was never put into its place. The
// databases' files were put away by `stop`.
func (u *Reconciler) Remove(ctx context.Context) error {
	r, err := u.loadRecord()
	if err != nil {
		u.Log.WarnContext(ctx, "cannot read this unit's own record; continuing without it", "error", err)
	}
	var failures []error
	for _, remove := range []func(context.Context) error{
		r.firewall.Remove, r.guard.Remove, r.backups.Remove, r.agent.Remove, r.packages.Remove,
	} {
		failures = append(failures, remove(ctx))
	}
	failures = append(failures, r.recovery.PutAwayStaged(ctx, nil))
	if err := u.Services.Mask(ctx, u.allServices()...); err != nil {
		failures = append(failures, err)
	}
	c := u.Paths.Credentials()
	for _, path := range []string{c.Key, c.Certificate, c.CA, u.Paths.Defaults(), u.Paths.NorthdParams(), u.recordPath(), u.Observer.CachePath()} {
		if err := atomicfile.Remove(path); err != nil {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// HaltAgent stops the agent, so that another unit's takes over at once. Where it can't be
// stopped, that comes later: the others see that this unit doesn't act.
func (u *Reconciler) HaltAgent(ctx context.Context) {
	r, err := u.loadRecord()
	if err == nil {
		err = errors.Join(r.agent.Halt(ctx), u.saveRecord(r))
	}
	if err != nil {
		u.Log.WarnContext(ctx, "cannot stop the agent", "error", err)
	}
}

// Admit lets the other units in, beside those that may connect already: while this
// unit waits to leave with the only copy, no hook of it but `stop` sees those that
// come to take it over. Which clients there are it can't know any more.
func (u *Reconciler) Admit(ctx context.Context, m observe.Application) {
	peers := m.PeerAddresses()
	if len(peers) == 0 {
		return
	}
	_, err := u.Firewall.Admit(ctx, peers)
	if err != nil && !errors.Is(err, firewall.ErrAbsent) && !errors.Is(err, firewall.ErrInactive) {
		u.Log.WarnContext(ctx, "cannot let the other units in", "error", err)
	}
}

// rewriteFiles makes sure of the files of all servers that are about to be stopped.
func (u *Reconciler) rewriteFiles(ctx context.Context) error {
	for _, db := range ovndb.Databases() {
		if err := u.Members.RewriteFile(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

// withLost adds to the reasons of restarts that are due why they can't be done yet.
func (u *Reconciler) withLost(ctx context.Context, pending map[ovndb.Service]string) (map[ovndb.Service]string, error) {
	for _, db := range ovndb.Databases() {
		reason, due := pending[ovndb.ServiceOf(db)]
		if !due {
			continue
		}
		lost, err := u.Observer.MissingEntries(ctx, u.Observer.ObserveServer(ctx, db))
		if err != nil {
			return nil, err
		}
		if lost != "" {
			pending[ovndb.ServiceOf(db)] = reason + "; its file lacks entries and must be rewritten first"
		}
	}
	return pending, nil
}

// Names joins services for people.
func Names(services []ovndb.Service) string {
	all := make([]string, len(services))
	for i, s := range services {
		all[i] = string(s)
	}
	return strings.Join(all, ", ")
}
