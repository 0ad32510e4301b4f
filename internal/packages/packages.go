// Package packages keeps a unit's packages: their sources, their versions, and whether they may restart services.
package packages

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// Manager keeps the packages of a unit. A Manager is used for one hook.
type Manager struct {
	Packages apt.Packages
	Policy   apt.Policy
	OS       apt.OS
	// Mask keeps the services from starting.
	Mask  func(ctx context.Context, services ...ovndb.Service) error
	State *unitstate.State
	Log   *slog.Logger
	// asked reports whether version and complete hold dpkg's answer in this hook.
	asked, complete bool
	version         ovndb.Version
	// unavailable is set if newer packages could not be fetched.
	unavailable bool
}

type kept struct {
	// Adopted reports whether another charm had installed the packages.
	Adopted bool `json:"adopted,omitempty"`
	// Source is the last used source.
	Source string `json:"source,omitempty"`
	// PolicyFailure is why the last attempt to permit or forbid restarts failed; it is a text for people.
	PolicyFailure string `json:"policy-failure,omitempty"`
}

var section = unitstate.NewSection[kept]("packages")

// Adopted reports whether another charm had installed the packages.
func (m *Manager) Adopted() bool { return section.Get(m.State).Adopted }

// Source returns the last used source; empty before the first installation.
func (m *Manager) Source() string { return section.Get(m.State).Source }

// Unavailable reports whether newer packages could not be fetched in this hook. [Manager.DoWithout] sets it.
func (m *Manager) Unavailable() bool { return m.unavailable }

// DoWithout makes the unit continue with the installed packages.
func (m *Manager) DoWithout() { m.unavailable = true }

// Installed returns the installed versions. It asks dpkg once a hook, and again after this unit has changed packages.
// It does not notice another process's upgrade until the next hook. complete is false if the packages are not
// installed or dpkg was interrupted.
func (m *Manager) Installed(ctx context.Context) (version ovndb.Version, complete bool, err error) {
	if !m.asked {
		m.version, m.complete, err = m.Packages.Installed(ctx)
		m.asked = err == nil
	}
	return m.version, m.complete, err
}

// Adopt records packages that another charm has installed from these sources. It waits if another process is
// changing packages. The version is empty if nothing is installed.
func (m *Manager) Adopt(ctx context.Context, sources string) (version ovndb.Version, complete bool, err error) {
	version, complete, err = m.Installed(ctx)
	if err == nil && !complete {
		if err = m.Packages.Await(ctx); err == nil {
			m.asked = false
			version, complete, err = m.Installed(ctx)
		}
	}
	if err != nil || version.OVN == "" {
		return version, complete, err
	}
	last := section.Get(m.State)
	last.Adopted, last.Source = true, sources
	return version, complete, section.Set(m.State, last)
}

// Install installs the packages and leaves the services masked. Otherwise the packages would start them, and they
// would create their own databases.
func (m *Manager) Install(ctx context.Context, o facts.Facts) error {
	m.asked = false
	last := section.Get(m.State)
	if last.Source == "" {
		if err := m.Mask(ctx, ovndb.AllServices()...); err != nil {
			return err
		}
	} else if done, err := m.Packages.Finish(ctx); done || err != nil { // an upgrade was interrupted
		return err
	}
	if err := m.setSources(ctx, o.Known.Settings); err != nil {
		return err
	}
	if err := m.Packages.Install(ctx); err != nil {
		return err
	}
	// A resumed upgrade may not have installed a newly required package; that is installed next.
	last.Source = cmp.Or(last.Source, o.Known.Settings.AllSources())
	return section.Set(m.State, last)
}

func (m *Manager) setSources(ctx context.Context, s plan.Settings) error {
	var sources []apt.Source
	for _, value := range []string{s.Source, s.Overlay} {
		source, err := apt.ParseSource(value, m.OS)
		if err != nil {
			return err
		}
		sources = append(sources, source)
	}
	return m.Packages.SetSources(ctx, sources...)
}

// Upgrade installs newer packages, if there are any, and restarts nothing. The running version then differs from the
// installed one, and a later step restarts the services.
func (m *Manager) Upgrade(ctx context.Context, o facts.Facts) error {
	before, _, err := m.Installed(ctx)
	if err != nil {
		return err
	}
	m.asked = false
	if err := m.setSources(ctx, o.Known.Settings); err != nil {
		return err
	}
	if err := m.Packages.Upgrade(ctx); err != nil {
		return err
	}
	last := section.Get(m.State)
	last.Source = o.Known.Settings.AllSources()
	if err := section.Set(m.State, last); err != nil {
		return err
	}
	after, _, err := m.Installed(ctx)
	m.unavailable = err == nil && after == before
	return err
}

// Ensure permits or forbids packages to restart services, as the option says. It returns a failure as a finding, and
// the next hook tries again.
func (m *Manager) Ensure(ctx context.Context, o facts.Facts) ([]finding.Finding, error) {
	last := section.Get(m.State)
	unchanged := !o.Thorough && last.PolicyFailure == ""
	if unchanged || o.Preview || !o.Known.Usable(plan.OptionAutoRestarts) {
		return failed(last), nil
	}
	var err error
	if o.Known.Settings.AutoRestarts {
		err = m.Policy.Allow()
	} else {
		err = m.Policy.Forbid(ctx)
	}
	last.PolicyFailure = ""
	if err != nil {
		last.PolicyFailure, _, _ = strings.Cut(err.Error(), "\n")
		m.Log.WarnContext(ctx, "cannot set whether packages may restart services", "error", err)
	}
	return failed(last), section.Set(m.State, last)
}

func failed(last kept) []finding.Finding {
	if last.PolicyFailure == "" {
		return nil
	}
	args := finding.Quote(last.PolicyFailure).Args()
	return []finding.Finding{finding.New(finding.PolicyFailed, finding.Subject{}, args)}
}

// Remove removes the sources, and permits packages to restart services again. The packages stay.
func (m *Manager) Remove(ctx context.Context) error {
	return errors.Join(m.Policy.Remove(ctx), m.Packages.RemoveSources())
}
