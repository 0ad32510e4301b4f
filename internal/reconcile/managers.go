package reconcile

import (
	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/certificates"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/publish"
	"github.com/ovn-central/ovn-central-operator/internal/restarts"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// managers are the owners of a unit's concerns. Each has a section of the unit's state, and lives for one hook.
type managers struct {
	packages     *apt.Manager
	restarts     *restarts.Manager
	certificates *certificates.Manager
	publish      *publish.Manager
}

func (u *Reconciler) managers(s *unitstate.State) managers {
	return managers{
		packages: &apt.Manager{Packages: u.Packages, Policy: u.Policy, OS: u.OS, Mask: u.Services.Mask, State: s, Log: u.Log},
		restarts: &restarts.Manager{Refusals: u.Policy, Servers: u.Control, State: s, Log: u.Log},
		certificates: &certificates.Manager{
			Juju: u.Tools, Dialer: u.Dialer, Env: u.Env, Paths: u.Paths, Now: u.Now, State: s, Log: u.Log,
		},
		publish: &publish.Manager{Juju: u.Tools, State: s, Log: u.Log},
	}
}

// packagesSnapshot is what the packages follow from.
func (a inputs) packagesSnapshot() apt.Snapshot {
	s := apt.Snapshot{Source: a.settings.Source, Overlay: a.settings.Overlay, Sources: a.settings.AllSources(), Thorough: a.thorough}
	if a.invalid[plan.OptionAutoRestarts] == "" {
		s.AutoRestarts = &a.settings.AutoRestarts
	}
	return s
}
