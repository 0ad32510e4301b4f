package reconcile

import (
	"github.com/ovn-central/ovn-central-operator/internal/monitoring"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// monitoringManager keeps the monitoring of a unit with that record.
func (u *Reconciler) monitoringManager(r *record) *monitoring.Manager {
	return &monitoring.Manager{Machine: u.Monitoring, Juju: u.Tools, Env: u.Env, Paths: u.Paths, State: r.state, Log: u.Log}
}

// monitoringSnapshot is what the monitoring follows from.
func monitoringSnapshot(p pass) monitoring.Snapshot {
	a, o := p.inputs, p.result
	s := monitoring.Snapshot{
		Now: p.progress.at, Thorough: a.thorough, Ready: o.Decision.Ready, Dying: o.state.Dying, JujuLeader: p.progress.jujuLeader,
		Address: a.address, Application: o.Snapshot.Application, Exporter: a.settings.ExporterChannel,
		Unknown: a.problem != "" || a.invalid[plan.OptionExporter] != "",
	}
	if !agentOptionsInvalid(a.invalid) {
		s.AgentPort = a.settings.Agent.Port
	}
	if a.invalid[plan.OptionNagiosContext] == "" && a.invalid[plan.OptionNagiosServiceGroups] == "" {
		s.Nagios = &monitoring.NagiosOptions{Context: a.settings.NagiosContext, ServiceGroups: a.settings.NagiosServiceGroups}
	}
	return s
}
