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

// managers are the owners of a unit's concerns. Each has a section of the unit's state, and lives for one hook.
type managers struct {
	packages     *apt.Manager
	restarts     *restarts.Manager
	certificates *certificates.Manager
	firewall     *firewall.Manager
	publish      *publish.Manager
	monitoring   *monitoring.Manager
	agent        *agentservice.Manager
	guard        startguard.Manager
	backups      *backuptimer.Manager
	schemas      *steps.Schemas
	leader       *jujuleader.Manager
	recovery     *restore.Unit
}

func (u *Reconciler) managers(s *unitstate.State, save func() error) managers {
	return managers{
		packages: &apt.Manager{Packages: u.Packages, Policy: u.Policy, OS: u.OS, Mask: u.Services.Mask, State: s, Log: u.Log},
		restarts: &restarts.Manager{Refusals: u.Policy, Servers: u.Control, State: s, Log: u.Log},
		certificates: &certificates.Manager{
			Juju: u.Tools, Dialer: u.Dialer, Env: u.Env, Paths: u.Paths, Now: u.Now, State: s, Log: u.Log,
		},
		firewall:   &firewall.Manager{Firewall: u.Firewall, State: s, Log: u.Log},
		publish:    &publish.Manager{Juju: u.Tools, State: s, Log: u.Log},
		monitoring: &monitoring.Manager{Machine: u.Monitoring, Juju: u.Tools, Env: u.Env, Paths: u.Paths, State: s, Log: u.Log},
		agent:      &agentservice.Manager{Program: u.Program, Paths: u.Paths, Services: u.Services, State: s, Log: u.Log},
		guard:      startguard.Manager{Paths: u.Paths, Systemd: u.Services, Log: u.Log},
		backups:    &backuptimer.Manager{Unit: u.Env.Unit, Paths: u.Paths, Services: u.Services, State: s, Log: u.Log},
		recovery:   (&restore.Unit{Machine: u.Machine, Members: u.Members, State: s, Save: save}).Load(),
		leader:     &jujuleader.Manager{Juju: u.Tools, Unit: u.Env.Unit, Now: u.Now, State: s, Log: u.Log},
		schemas:    &steps.Schemas{NeedsConversion: u.Files.NeedsConversion, State: s, Log: u.Log},
	}
}

// ensurer has a manager ensure its concern.
type ensurer func(context.Context) ([]finding.Finding, error)

func with[S any](ensure func(context.Context, S) ([]finding.Finding, error), s S) ensurer {
	return func(ctx context.Context) ([]finding.Finding, error) { return ensure(ctx, s) }
}

// ensure has each manager keep its concern, and collects what they find. A unit that is being removed keeps its agent
// and its backups until it leaves.
func (u *Reconciler) ensure(ctx context.Context, p *pass) error {
	m, o := p.record.managers, &p.result
	stays := !o.state.Dying
	all := []ensurer{
		with(m.publish.Ensure, u.publishSnapshot(*p)), m.certificates.Ensure, with(m.monitoring.Ensure, u.monitoringSnapshot(*p)),
	}
	if stays && o.fromJuju.Problem == "" {
		all = append(all, func(ctx context.Context) ([]finding.Finding, error) {
			_, err := m.agent.Ensure(ctx, u.agentSnapshot(*p))
			return nil, err // what it finds, Ask finds too
		})
	}
	if stays {
		all = append(all, with(m.guard.Ensure, p.guardSnapshot()))
	}
	if stays && o.fromJuju.Problem == "" && o.usable(plan.OptionBackupInterval, plan.OptionBackupKeep) {
		all = append(all, with(m.backups.Ensure, u.backupsSnapshot(*p)))
	}
	o.managed = nil
	for _, ensure := range append(all, with(m.packages.Ensure, o.packagesSnapshot())) {
		found, err := ensure(ctx)
		if err != nil {
			return err
		}
		o.managed = append(o.managed, found...)
	}
	var agent []finding.Finding
	o.agent, agent = m.agent.Ask(ctx)
	o.managed, o.backupAge = slices.Concat(agent, m.firewall.Findings(), o.managed), m.backups.Age()
	return nil
}

// look collects what the managers find without changing anything.
func (u *Reconciler) look(ctx context.Context, p *pass) {
	m, o := p.record.managers, &p.result
	var agent []finding.Finding
	o.agent, agent = m.agent.Ask(ctx)
	o.managed = slices.Concat(agent, m.firewall.Findings(), m.backups.Look(ctx, u.backupsSnapshot(*p)), m.packages.Findings())
	o.backupAge = m.backups.Age()
}

// usable reports whether all of the options are valid.
func (o Snapshot) usable(options ...string) bool {
	return !slices.ContainsFunc(options, func(option string) bool { return o.fromJuju.Invalid[option] != "" })
}

func (o Snapshot) packagesSnapshot() apt.Snapshot {
	s := apt.Snapshot{Source: o.fromJuju.Settings.Source, Overlay: o.fromJuju.Settings.Overlay, Sources: o.fromJuju.Settings.AllSources(), Thorough: o.thorough}
	if o.usable(plan.OptionAutoRestarts) {
		s.AutoRestarts = &o.fromJuju.Settings.AutoRestarts
	}
	return s
}

func (p pass) certificatesSnapshot() certificates.Snapshot {
	o := p.result
	return certificates.Snapshot{
		Thorough: o.thorough, Providers: o.Application.Remote[relation.Certificates],
		Addresses: o.Addresses.All, Primary: o.Addresses.Primary, Hosts: o.Addresses.Hosts,
	}
}

func (p pass) firewallSnapshot() firewall.Snapshot {
	s := firewall.Snapshot{Thorough: p.result.thorough, Own: p.result.Addresses.Own}
	s.Peers = slices.Concat(p.result.Snapshot.Application.PeerAddresses(), p.result.MemberAddresses())
	for _, c := range p.result.clients {
		s.Clients = append(s.Clients, c.Addresses...)
	}
	return s
}

func (u *Reconciler) publishSnapshot(p pass) publish.Snapshot {
	r, o := p.record, p.result
	s := publish.Snapshot{
		Snapshot: o.Snapshot.Snapshot, Report: o.Report, State: o.state, Ready: o.Decision.Ready, Thorough: o.thorough, Version: o.dropsVersion(),
		JujuLeader: r.leader.Leads, Clusters: r.leader.Clusters, Migrated: r.leader.Migrated, Address: o.Addresses.Own, Hostname: o.Addresses.Hosts[0],
		Running: r.restarts.Running(o.state.Packages.Version), Withdrawn: r.leader.Withdrawn(),
		Recovery: relation.UnitState{Requests: r.recovery.Answered(o.state.Recovery), Copies: restore.Copies(o.state.Recovery), Rejoin: r.recovery.Rejoin},
	}
	for _, c := range o.clients {
		s.Clients = append(s.Clients, c.ID)
	}
	return s
}

// dropsVersion reports whether Juju may lack the version although it was set before: it drops what a
// hook that fails has set.
func (t Trigger) dropsVersion() bool {
	return slices.Contains([]juju.Event{juju.Start, juju.ConfigChanged, juju.UpgradeCharm, juju.LeaderElected}, t.event)
}

func (u *Reconciler) monitoringSnapshot(p pass) monitoring.Snapshot {
	o := p.result
	s := monitoring.Snapshot{
		Now: u.Now(), Thorough: o.thorough, Ready: o.Decision.Ready, Dying: o.state.Dying, JujuLeader: p.record.leader.Leads,
		Address: o.Addresses.Own, Application: o.Snapshot.Application, Exporter: o.fromJuju.Settings.ExporterChannel,
		Unknown: o.fromJuju.Problem != "" || !o.usable(plan.OptionExporter),
	}
	if o.usable(agentOptions...) {
		s.AgentPort = o.fromJuju.Settings.Agent.Port
	}
	if o.usable(plan.OptionNagiosContext, plan.OptionNagiosServiceGroups) {
		s.Nagios = &monitoring.NagiosOptions{Context: o.fromJuju.Settings.NagiosContext, ServiceGroups: o.fromJuju.Settings.NagiosServiceGroups}
	}
	return s
}

// agentOptions are the options of the agent. With an invalid one it continues as it was configured before.
var agentOptions = []string{
	plan.OptionAgentMode, plan.OptionLeaseTTL, plan.OptionAgentPort, plan.OptionHoldDown, plan.OptionNeutronGateways, plan.OptionCordonNew,
}

func (u *Reconciler) agentSnapshot(p pass) agentservice.Snapshot {
	o := p.result
	s := agentservice.Snapshot{Paused: o.state.Paused, Ready: o.Decision.Ready, Thorough: o.thorough}
	if !o.usable(agentOptions...) {
		return s
	}
	agent := o.fromJuju.Settings.Agent
	s.Options = &agentservice.Options{
		Unit: u.Env.Unit, Mode: agent.Mode, TTL: agent.TTL, HoldDown: agent.HoldDown, NeutronGateways: agent.NeutronGateways,
		CordonNew: agent.CordonNew, Port: agent.Port, BackupInterval: o.fromJuju.Settings.Backup.Interval,
		Address: o.Addresses.Own, Peers: o.Snapshot.Application.PeerAddresses(),
	}
	return s
}

func (p pass) guardSnapshot() startguard.Snapshot {
	o := p.result
	return startguard.Snapshot{Own: o.state.Address, Peers: slices.Concat(o.MemberAddresses(), o.Snapshot.Application.PeerAddresses())}
}

func (u *Reconciler) backupsSnapshot(p pass) backuptimer.Snapshot {
	s := p.result.fromJuju.Settings.Backup
	return backuptimer.Snapshot{
		Interval: s.Interval, Keep: s.Keep, Ready: p.result.Decision.Ready, Thorough: p.result.thorough, Now: u.Now(),
	}
}
