// Package operate carries out an operator's requests on a unit's services: pause, resume, hold of ovn-northd,
// restart.
package operate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/agentservice"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/steps"
)

// Asked records an operator's lasting requests.
type Asked struct {
	Paused bool `json:"paused,omitempty"`
	// NorthdHeld reports whether ovn-northd must not run here.
	NorthdHeld bool `json:"northd-held,omitempty"`
}

// Unit operates on the services of a unit.
type Unit struct {
	*steps.Unit
	*Asked
	Agent *agentservice.Manager
}

// Services returns all services of a unit.
func Services() []ovndb.Service {
	return append([]ovndb.Service{ovndb.Umbrella}, plan.RestartOrder()...)
}

// Pause stops the services until [Unit.Resume]; they don't start at boot either. The unit stays a member, so the
// other members must be a majority without it. If they aren't, or the unit knows no leader, the error is a
// [*finding.RefusedError] that names each database, and nothing was stopped. recovery permits a pause without a
// leader, the first step of the recovery of a lost quorum.
func (u Unit) Pause(ctx context.Context, recovery bool) error {
	snapshot := u.Observer.Observe(ctx, u.Juju)
	var turns []ovndb.Database
	for db, l := range snapshot.Servers {
		// A server without a leader can still vote in the next election.
		voting := l.Member() && (l.Status.HasLeader() || !recovery)
		if voting || l.Condition == ovndb.Unreadable || l.Condition == ovndb.Hung {
			turns = append(turns, db)
		}
	}
	slices.Sort(turns)
	return u.Members.WithLocks(ctx, snapshot.Application, turns, true, u.halt)
}

// halt stops the services, under the locks.
func (u Unit) halt(ctx context.Context, gate membership.Gate) error {
	for _, db := range ovndb.Databases() { // no file may lack entries after its server has stopped
		if err := u.Members.RewriteFile(ctx, db); err != nil {
			return err
		}
	}
	u.Paused = true
	if err := u.Save(); err != nil {
		return err
	}
	if _, err := gate(); err != nil {
		return errors.Join(err, u.Resume())
	}
	if err := errors.Join(u.Agent.Halt(ctx), u.Save()); err != nil {
		return err
	}
	return u.stop(ctx, Services()...)
}

func (u Unit) stop(ctx context.Context, services ...ovndb.Service) error {
	if err := u.Services.Stop(ctx, services...); err != nil {
		return err
	}
	return u.Services.Mask(ctx, services...)
}

// Resume ends a pause. The next reconcile starts the services.
func (u Unit) Resume() error {
	u.Paused = false
	return u.Save()
}

// HoldNorthd stops ovn-northd and keeps it from running, through hooks, upgrades and restarts of the machine, until
// [Unit.ReleaseNorthd]. In the fail-safe order of an upgrade, ovn-northd is stopped before everything else, and the
// new one is started once the databases are upgraded (ovn-upgrades, "Fail-safe upgrade").
func (u Unit) HoldNorthd(ctx context.Context) error {
	u.NorthdHeld = true
	if err := u.Save(); err != nil {
		return err
	}
	return u.stop(ctx, ovndb.Northd)
}

// ReleaseNorthd ends [Unit.HoldNorthd]. The next reconcile starts the service.
func (u Unit) ReleaseNorthd() error {
	u.NorthdHeld = false
	return u.Save()
}

// Deferred returns the deferred restarts, each with its reason and obstacle.
func (u Unit) Deferred(ctx context.Context) (map[ovndb.Service]string, error) {
	version, _, err := u.Packages.Installed(ctx)
	if err != nil {
		return nil, err
	}
	pending, err := u.Restarts.Pending(version)
	if err != nil {
		return nil, err
	}
	for _, db := range ovndb.Databases() {
		reason, due := pending[ovndb.ServiceOf(db)]
		if !due {
			continue
		}
		lost, err := u.Observer.MissingEntries(ctx, u.Observer.ObserveServer(ctx, db))
		if err != nil {
			return nil, err
		}
		if !lost.IsZero() {
			pending[ovndb.ServiceOf(db)] = reason + "; " + finding.Reason{Code: finding.RewrittenFirst}.String()
		}
	}
	return pending, nil
}

var errNoService = errors.New("no such service")

// Restart restarts services one after the other, with the same checks as the unit's own restarts. Without names it
// restarts the services with a deferred restart. It returns the restarted services. It refuses services that a pause
// or a hold has stopped.
func (u Unit) Restart(ctx context.Context, names ...string) ([]ovndb.Service, error) {
	u.Restarts.KeepRefused(ctx, u.Save)
	pending, err := u.Deferred(ctx)
	if err != nil {
		return nil, err
	}
	wanted, err := u.restartTargets(u.Env.Unit, pending, names)
	if err != nil {
		return nil, fmt.Errorf("cannot restart services: %w", err)
	}
	snapshot := u.Observer.Observe(ctx, u.Juju)
	var done []ovndb.Service
	for _, service := range plan.RestartOrder() {
		if !wanted[service] {
			continue
		}
		if err := u.Unit.Restart(ctx, snapshot, service); err != nil {
			return done, errors.Join(fmt.Errorf("cannot restart %s: %w", service, err), u.Save())
		}
		done = append(done, service)
	}
	return done, u.Save()
}

// restartTargets returns the services to restart: the named ones (the umbrella service names all), or without names
// those with a deferred restart.
func (a Asked) restartTargets(
	unit string, pending map[ovndb.Service]string, names []string,
) (map[ovndb.Service]bool, error) {
	wanted := map[ovndb.Service]bool{}
	for service := range pending {
		wanted[service] = len(names) == 0
	}
	for _, name := range names {
		services := []ovndb.Service{ovndb.Service(name)}
		if services[0] == ovndb.Umbrella {
			services = plan.RestartOrder()
		} else if !slices.Contains(plan.RestartOrder(), services[0]) {
			all := ovndb.JoinServices(plan.RestartOrder())
			return nil, fmt.Errorf("%w: %q; there are %s, %s", errNoService, name, all, ovndb.Umbrella)
		}
		for _, service := range services {
			wanted[service] = true
		}
	}
	switch {
	case a.NorthdHeld && wanted[ovndb.Northd] && len(names) > 0:
		return nil, stopped(finding.NorthdHeld, unit, "release-northd")
	case a.NorthdHeld:
		delete(wanted, ovndb.Northd)
	}
	if a.Paused && slices.Contains(slices.Collect(maps.Values(wanted)), true) {
		return nil, stopped(finding.Paused, unit, "resume")
	}
	return wanted, nil
}

// stopped returns a refusal, with the action that ends its cause.
func stopped(code finding.Code, unit, action string) error {
	end := finding.Do(command.Command{Unit: unit, Action: action})
	return finding.Refuse([]finding.Finding{finding.New(code, finding.Subject{}, finding.Args{}, end)})
}
