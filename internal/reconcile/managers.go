package reconcile

import (
	"context"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/agentservice"
	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/backuptimer"
	"github.com/ovn-central/ovn-central-operator/internal/certificates"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/firewall"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/jujuleader"
	"github.com/ovn-central/ovn-central-operator/internal/monitoring"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/publish"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
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

func (u *Reconciler) managers(s *unitstate.State, leader *jujuleader.Manager) managers {
	return managers{
		publish: &publish.Manager{Juju: u.Tools, Leader: leader, State: s, Log: u.Log},
		monitoring: &monitoring.Manager{
			Machine: u.Monitoring, Juju: u.Tools, Env: u.Env, Paths: u.Paths, State: s, Log: u.Log,
		},
		agent: &agentservice.Manager{Program: u.Program, Paths: u.Paths, Services: u.Services, State: s, Log: u.Log},
		guard: startguard.Manager{Paths: u.Paths, Systemd: u.Services, Log: u.Log},
		backups: &backuptimer.Manager{
			Unit: u.Env.Unit, Paths: u.Paths, Services: u.Services, Now: u.Now, State: s, Log: u.Log,
		},
	}
}

// steps returns the functions of steps, which need the other managers.
func (u *Reconciler) steps(s *unitstate.State, save func() error) *steps.Unit {
	return &steps.Unit{
		Observer: u.Observer, Juju: u.Tools, Members: u.Members, Paths: u.Paths, Save: save,
		Packages: &apt.Manager{
			Packages: u.Packages, Policy: u.Policy, OS: u.OS, Mask: u.Services.Mask, State: s, Log: u.Log,
		},
		Restarts: &restarts.Manager{Refusals: u.Policy, Servers: u.Control, State: s, Log: u.Log},
		Certificates: &certificates.Manager{
			Juju: u.Tools, Dialer: u.Dialer, Env: u.Env, Paths: u.Paths, Now: u.Now, State: s, Log: u.Log,
		},
		Firewall: &firewall.Manager{Firewall: u.Firewall, State: s, Log: u.Log},
		Leader:   &jujuleader.Manager{Juju: u.Tools, Unit: u.Env.Unit, Now: u.Now, State: s, Log: u.Log},
		Recovery: (&restore.Unit{Machine: u.Machine, Members: u.Members, State: s, Save: save}).Load(),
	}
}

// with binds a manager's Ensure to its snapshot.
func with[S any](
	ensure func(context.Context, S) ([]finding.Finding, error), s S,
) func(context.Context) ([]finding.Finding, error) {
	return func(ctx context.Context) ([]finding.Finding, error) { return ensure(ctx, s) }
}

// ensure calls each manager and collects the findings. A unit that is being removed keeps its agent and its backups
// until it leaves.
func (u *Reconciler) ensure(ctx context.Context, r *record, o *Result) error {
	all := []func(context.Context) ([]finding.Finding, error){
		with(r.publish.Ensure, u.publishSnapshot(r, *o)), r.Certificates.Ensure,
		with(r.monitoring.Ensure, o.Facts),
	}
	stays, sound := !o.State.Dying, o.Known.Problem.IsZero()
	if stays && sound {
		all = append(all, func(ctx context.Context) ([]finding.Finding, error) {
			_, err := r.agent.Ensure(ctx, o.Facts)
			return nil, err // Ask finds the same problem
		})
	}
	if stays {
		peers := slices.Concat(o.MemberAddresses(), o.Application.PeerAddresses())
		all = append(all, with(r.guard.Ensure, startguard.Snapshot{Own: o.State.Address, Peers: peers}))
	}
	if stays && sound && o.Known.Usable(plan.OptionBackupInterval, plan.OptionBackupKeep) {
		all = append(all, with(r.backups.Ensure, o.Facts))
	}
	var found []finding.Finding
	for _, ensure := range append(all, with(r.Packages.Ensure, steps.Packages(o.Facts))) {
		more, err := ensure(ctx)
		if err != nil {
			return err
		}
		found = append(found, more...)
	}
	u.collect(ctx, r, o, found)
	return nil
}

// collect adds the findings of managers that change nothing.
func (u *Reconciler) collect(ctx context.Context, r *record, o *Result, found []finding.Finding) {
	agent, all := r.agent.Ask(ctx)
	o.agent, o.managed, o.backupAge = agent, slices.Concat(all, r.Firewall.Findings(), found), r.backups.Age()
}

func (u *Reconciler) publishSnapshot(r *record, o Result) publish.Snapshot {
	// Juju discards the version that a failing hook has set.
	events := []juju.Event{juju.Start, juju.ConfigChanged, juju.UpgradeCharm, juju.LeaderElected}
	return publish.Snapshot{
		Facts: o.Facts, Version: slices.Contains(events, u.Env.Event()),
		Kept: relation.UnitState{
			Running: r.Restarts.Running(o.State.Packages.Version), Withdrawn: r.Leader.Withdrawn(),
			Requests: r.Recovery.Answered(o.State.Recovery), Copies: restore.Copies(o.State.Recovery),
			Rejoin: r.Recovery.Rejoin,
		},
	}
}
