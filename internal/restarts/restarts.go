// Package restarts records the versions that a unit's services run, and the restarts that are due: after an upgrade,
// after a change of an option, or because a package was not allowed to restart a service.
package restarts

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// Refusals are the notes about restarts that were refused to packages, by the path of the note.
type Refusals interface {
	Deferred() (map[string]ovndb.Service, error)
	Forget(notes map[string]ovndb.Service) error
}

// Servers reports the version of Open vSwitch that a database's server runs, without the package's revision.
type Servers interface {
	Version(ctx context.Context, db ovndb.Database) (string, error)
}

// Manager maintains the restarts of a unit's services.
type Manager struct {
	Refusals Refusals
	Servers  Servers
	State    *unitstate.State
	Log      *slog.Logger
}

// kept is the stored state.
type kept struct {
	// Pending are the due restarts, each with its reason.
	Pending map[ovndb.Service]string `json:"pending,omitempty"`
	// Running is the version that each service was started with.
	Running map[ovndb.Service]ovndb.Version `json:"running,omitempty"`
	// Invocations are systemd's invocation IDs of the services when they were last seen. A service has none if a restart
	// was recorded since, perhaps after the service's start.
	Invocations map[ovndb.Service]string `json:"invocations,omitempty"`
}

var section = unitstate.NewSection[kept]("services")

func (m *Manager) get() kept {
	k := section.Get(m.State)
	for _, each := range []*map[ovndb.Service]string{&k.Pending, &k.Invocations} {
		if *each == nil {
			*each = map[ovndb.Service]string{}
		}
	}
	if k.Running == nil {
		k.Running = map[ovndb.Service]ovndb.Version{}
	}
	return k
}

// update changes the stored state.
func (m *Manager) update(change func(kept)) {
	k := m.get()
	change(k)
	_ = section.Set(m.State, k) // this can't fail for texts
}

// Runs returns the version with which a service was started; started is false if it never was.
func (m *Manager) Runs(service ovndb.Service) (version ovndb.Version, started bool) {
	version, started = section.Get(m.State).Running[service]
	return version, started
}

// Started records that a service runs the installed version.
func (m *Manager) Started(service ovndb.Service, installed ovndb.Version) {
	m.update(func(k kept) { k.started(service, installed) })
}

func (k kept) started(service ovndb.Service, installed ovndb.Version) {
	k.Running[service] = installed
	delete(k.Pending, service)
}

// Due records that a service must be restarted.
func (m *Manager) Due(service ovndb.Service, reason string) {
	m.update(func(k kept) {
		k.Pending[service] = cmp.Or(k.Pending[service], reason)
		delete(k.Invocations, service)
	})
}

// packageUpdate is the reason that charm-helpers' policy-rc.d gives (policy_rc_d_script.py).
const packageUpdate = "Package update"

// KeepRefused records the restarts that were refused to packages, and then removes their notes. Before that, save
// writes the state to the disk, so that a killed hook loses no restart.
func (m *Manager) KeepRefused(ctx context.Context, save func() error) {
	refused, err := m.Refusals.Deferred()
	if err == nil && len(refused) > 0 {
		for service := range withRefused(nil, refused) {
			m.Due(service, packageUpdate)
		}
		if err = save(); err == nil {
			err = m.Refusals.Forget(refused)
		}
	}
	if err != nil {
		m.Log.WarnContext(ctx, "cannot note what packages wanted to restart", "error", err)
	}
}

// withRefused adds restarts that were refused to packages to the due restarts.
func withRefused(pending map[ovndb.Service]string, refused map[string]ovndb.Service) map[ovndb.Service]string {
	all := maps.Clone(pending)
	for _, service := range refused {
		for _, due := range plan.RestartOrder() {
			if (service == due || service == ovndb.Umbrella) && all[due] == "" {
				if all == nil {
					all = map[ovndb.Service]string{}
				}
				all[due] = packageUpdate
			}
		}
	}
	return all
}

// pending returns the due restarts: the recorded ones, and restarts of services whose version is not the installed
// one.
func (k kept) pending(installed ovndb.Version) map[ovndb.Service]string {
	all := maps.Clone(k.Pending)
	for service, running := range k.Running {
		if !running.Is(installed) && installed.OVN != "" {
			all[service] = running.Change(installed)
		}
	}
	return all
}

// Pending returns the due restarts, each with its reason, including restarts that were refused to packages.
func (m *Manager) Pending(installed ovndb.Version) (map[ovndb.Service]string, error) {
	refused, err := m.Refusals.Deferred()
	return withRefused(m.get().pending(installed), refused), err
}

// Planned returns the restarts to make, without those that have happened since the services were last seen. If
// northdHeld is set, ovn-northd is not restarted.
func (m *Manager) Planned(
	ctx context.Context, installed ovndb.Version, services map[ovndb.Service]plan.ServiceState, northdHeld bool,
) map[ovndb.Service]string {
	refused, err := m.Refusals.Deferred()
	if err != nil {
		m.Log.WarnContext(ctx, "cannot read what packages wanted to restart", "error", err)
	}
	k := m.get()
	all := k.pending(installed)
	for _, service := range k.restarted(services) {
		delete(all, service)
	}
	all = withRefused(all, refused)
	if northdHeld {
		delete(all, ovndb.Northd)
	}
	return all
}

// restarted returns the services that were started since they were last seen, by a reboot, systemd or an operator,
// and run the installed program: their restarts are no longer due.
func (k kept) restarted(services map[ovndb.Service]plan.ServiceState) (all []ovndb.Service) {
	for _, service := range plan.RestartOrder() {
		x, seen := services[service], k.Invocations[service]
		if x.Active && x.Invocation != "" && seen != "" && x.Invocation != seen && x.Installed {
			all = append(all, service)
		}
	}
	return all
}

// Seen records the restarts that have happened, and the services' invocation IDs.
func (m *Manager) Seen(services map[ovndb.Service]plan.ServiceState, installed ovndb.Version) {
	if installed.OVN == "" {
		return
	}
	m.update(func(k kept) {
		for _, service := range k.restarted(services) {
			k.started(service, installed)
		}
		for _, service := range plan.RestartOrder() {
			if x := services[service]; x.Active && x.Invocation != "" {
				k.Invocations[service] = x.Invocation
			}
		}
	})
}

// Running returns the versions that this unit's services run, each once, the installed one last. It returns none if
// one of the unit's servers was never started.
func (m *Manager) Running(installed ovndb.Version) (all []ovndb.Version) {
	k := m.get()
	for _, service := range plan.RestartOrder() {
		version, started := k.Running[service]
		switch {
		case !started && service != ovndb.Northd:
			return nil
		case started && !slices.Contains(all, version):
			all = append(all, version)
		}
	}
	slices.SortFunc(all, func(a, b ovndb.Version) int { return strings.Compare(a.String(), b.String()) })
	if i := slices.Index(all, installed); i >= 0 {
		all = append(slices.Delete(all, i, i+1), installed)
	}
	return all
}

// Complete adds the version of Open vSwitch to the services whose recorded version lacks it. The servers report it,
// without the package's revision. ovn-northd contains the installed version.
func (m *Manager) Complete(ctx context.Context, installed ovndb.Version) {
	k := m.get()
	for service, version := range k.Running {
		if version.OVS != "" || installed.OVS == "" {
			continue
		}
		version.OVS = installed.OVS
		if db, is := DatabaseOf(service); is {
			runs, err := m.Servers.Version(ctx, db)
			if err != nil {
				m.Log.InfoContext(ctx, "cannot tell which Open vSwitch runs", "service", service, "error", err)
				continue
			}
			// A snapshot before a release reports the version of the previous release.
			if was := ovndb.Upstream(installed.OVS); runs != was && !strings.Contains(was, "~") {
				version.OVS = runs
			}
		}
		k.Running[service] = version
	}
	_ = section.Set(m.State, k) // this can't fail for texts
}

// DatabaseOf returns the database of a server's service; is reports whether the service is a server.
func DatabaseOf(service ovndb.Service) (db ovndb.Database, is bool) {
	i := slices.IndexFunc(ovndb.Databases(), func(db ovndb.Database) bool { return ovndb.ServiceOf(db) == service })
	if i < 0 {
		return "", false
	}
	return ovndb.Databases()[i], true
}
