package reconcile

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/publish"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// publishSnapshot is what is published of the unit.
func (u *Reconciler) publishSnapshot(p pass) publish.Snapshot {
	r, a, g, o := p.record, p.inputs, p.progress, p.result
	s := publish.Snapshot{
		Snapshot: o.Snapshot, Report: o.Report, State: o.state, Ready: o.Decision.Ready, Thorough: a.thorough, Version: u.dropsVersion(),
		JujuLeader: g.jujuLeader, Clusters: g.clusters, Migrated: g.migrated, Address: a.address, Hostname: a.hosts[0],
		Running: r.restarts.Running(o.state.Packages.Version), Withdrawn: r.Withdrawn,
		Recovery: relation.UnitState{Requests: r.answered(o.state.Recovery), Copies: copies(o.state.Recovery), Asks: r.Asks, Rejoin: r.Rejoin},
	}
	for _, c := range a.clients {
		s.Clients = append(s.Clients, c.id)
	}
	return s
}

// dropsVersion reports whether Juju may lack the version although it was set before: it drops what a
// hook that fails has set.
func (u *Reconciler) dropsVersion() bool {
	return slices.Contains([]string{"start", "config-changed", "upgrade-charm", "leader-elected"}, u.Env.HookName)
}
