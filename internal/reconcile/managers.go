package reconcile

import (
	"github.com/ovn-central/ovn-central-operator/internal/agentservice"
	"github.com/ovn-central/ovn-central-operator/internal/backuptimer"
	"github.com/ovn-central/ovn-central-operator/internal/certificates"
	"github.com/ovn-central/ovn-central-operator/internal/firewall"
	"github.com/ovn-central/ovn-central-operator/internal/jujuleader"
	"github.com/ovn-central/ovn-central-operator/internal/monitoring"
	"github.com/ovn-central/ovn-central-operator/internal/packages"
	"github.com/ovn-central/ovn-central-operator/internal/publish"
	"github.com/ovn-central/ovn-central-operator/internal/restarts"
	"github.com/ovn-central/ovn-central-operator/internal/restore"
	"github.com/ovn-central/ovn-central-operator/internal/startguard"
	"github.com/ovn-central/ovn-central-operator/internal/steps"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// managers own the concerns of a unit that no step changes. Each has a section of the unit's state, and is used
// during one hook.
type managers struct {
	publish    *publish.Manager
	monitoring *monitoring.Manager
	agent      *agentservice.Manager
	guard      startguard.Manager
	backups    *backuptimer.Manager
}

func (u *Reconciler) managers(s *unitstate.State, unit *steps.Unit) managers {
	return managers{
		publish: &publish.Manager{
			Juju: u.Tools, Event: u.Env.Event(), Leader: unit.Leader, Restarts: unit.Restarts, Recovery: unit.Recovery,
			State: s, Log: u.Log,
		},
		monitoring: &monitoring.Manager{
			Machine: u.Monitoring, Juju: u.Tools, Env: u.Env, Paths: u.Control.Paths, State: s, Log: u.Log,
		},
		agent: &agentservice.Manager{Program: u.Program, Paths: u.Control.Paths, Services: u.Services, State: s, Log: u.Log},
		guard: startguard.Manager{Paths: u.Control.Paths, Systemd: u.Services, Log: u.Log},
		backups: &backuptimer.Manager{
			Unit: u.Env.Unit, Paths: u.Control.Paths, Services: u.Services, Now: u.Now, State: s, Log: u.Log,
		},
	}
}

// steps returns the functions of steps, which need the other managers.
func (u *Reconciler) steps(s *unitstate.State, save func() error) *steps.Unit {
	return &steps.Unit{
		Observer: u.Observer, Juju: u.Tools, Members: u.Members, Save: save,
		Packages: &packages.Manager{
			Packages: u.Packages, Policy: u.Policy, OS: u.OS, Mask: u.Services.Mask, State: s, Log: u.Log,
		},
		Restarts: &restarts.Manager{Refusals: u.Policy, Servers: u.Control, State: s, Log: u.Log},
		Certificates: &certificates.Manager{
			Juju: u.Tools, Dialer: u.Dialer, Env: u.Env, Paths: u.Control.Paths, Now: u.Now, State: s, Log: u.Log,
		},
		Firewall: &firewall.Manager{Firewall: u.Firewall, State: s, Log: u.Log},
		Leader:   &jujuleader.Manager{Juju: u.Tools, Unit: u.Env.Unit, Now: u.Now, State: s, Log: u.Log},
		Recovery: (&restore.Unit{Machine: u.Machine, Members: u.Members, State: s, Save: save}).Load(),
	}
}
