package reconcile

import (
	"context"
	"errors"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// Trigger is why, and how thoroughly, a unit is looked at.
type Trigger struct {
	event juju.Event
	// thorough is set if Juju is asked for everything, looks if only [Reconciler.Look] needs it. preview is set if no step
	// is made.
	thorough, looks, preview bool
}

// Snapshot is what Juju and the machine have shown. A step does not change it: the unit is observed again after it.
type Snapshot struct {
	Trigger
	observe.Snapshot
	Report    observe.Report
	Addresses observe.Addresses
	// fromJuju are the parts of the decision's input that Juju knows, state is all of it.
	fromJuju, state plan.State
	// clients are the relations to applications that use the databases; known only if thorough is set.
	clients []observe.Client
}

// observe asks Juju what else a pass begins with. Where not thorough, relations other than the
// peers' are left out, and what the Juju leader has published is what it was.
func (u *Reconciler) observe(ctx context.Context, r *record, o Snapshot, thorough bool) (pass, error) {
	o.Trigger = u.trigger(thorough)
	p := pass{record: r, progress: newProgress(u.Now()), result: Result{Snapshot: o}}
	err := u.askJuju(ctx, &p)
	return p, err
}

func (u *Reconciler) trigger(thorough bool) Trigger {
	return Trigger{event: u.Env.Event(), thorough: thorough}
}

// askJuju completes a pass by what Juju says.
func (u *Reconciler) askJuju(ctx context.Context, p *pass) error {
	r, o, m := p.record, &p.result, p.result.Snapshot.Application
	p.progress.northd = r.Northd
	config, err := u.Tools.Config(ctx)
	if err != nil {
		return err
	}
	o.fromJuju.Settings, o.fromJuju.Invalid = u.parse(config)
	if !p.leaderless() {
		if p.progress.jujuLeader, err = u.Tools.IsLeader(ctx); err != nil {
			return err
		}
	}
	keep := o.looks && !o.thorough && !u.lastFound(finding.AddressChanged)
	if o.Addresses, err = u.Observer.Addresses(ctx, u.Tools, o.Servers, o.thorough, keep); err != nil {
		return err
	}
	settings, err := u.leaderSettings(ctx, p, m.AppData)
	if err != nil {
		return err
	}
	p.progress.accepted = relation.ParseAccepted(settings)
	for _, key := range relation.SupersedeThemselves(settings) {
		u.Log.WarnContext(ctx, "a leader setting names the application's own cluster as one that was replaced; ignoring that", "setting", key)
	}
	x := &o.fromJuju
	x.Unit, x.Dying, x.Units, x.Integrate, x.Resumed = u.Env.Unit, m.Dying(u.Env.Unit), len(m.Goal), m.Version.Integrate(), u.Env.ActionName == "resume"
	x.Claim, x.Members = relation.ParseClaim(m.AppData.Values(), u.Env.Unit), relation.ParseMembers(m.AppData.Values())
	x.Peers = u.peers(ctx, m)
	if o.Addresses.Own.IsValid() {
		x.Address = o.Addresses.Own.String()
	}
	if o.Addresses.Better.IsValid() {
		x.Better = o.Addresses.Better.String()
	}
	if p.progress.clusters, x.Problem = parseClusters(settings); len(p.progress.clusters.IDs) == len(ovndb.Databases()) {
		r.LeaderSettings = settings
	}
	if err := r.certificates.Observe(ctx, p.certificatesSnapshot()); err != nil || !o.thorough {
		return err
	}
	o.clients, err = u.Observer.RelatedClients(ctx, u.Tools)
	return err
}

// leaderSettings are what the Juju leader has published; the remembered ones if they are
// not asked for, or can't be read.
func (u *Reconciler) leaderSettings(ctx context.Context, p *pass, published relation.Data) (map[string]string, error) {
	o, remembered := &p.result, p.record.LeaderSettings
	if !o.thorough && len(remembered) > 0 {
		return remembered, nil
	}
	settings, err := u.Tools.LeaderGet(ctx)
	if !errors.Is(err, juju.ErrNoTool) {
		return settings, err
	}
	// Juju 4 has no leader settings any more. Without the relation there is nothing to be
	// read, which doesn't tell what exists.
	if published.Unread() {
		o.fromJuju.Blind, o.fromJuju.Unrelated = true, len(remembered) == 0
		return remembered, nil
	}
	// A model that was migrated from Juju 3 has lost them, and its clusters are there.
	clusters, problems := relation.ParseClusters(published.Values())
	if len(clusters.IDs) == 0 && len(problems) == 0 && len(remembered) > 0 {
		p.progress.migrated = true
		return remembered, nil
	}
	return published.Values(), nil
}

// parseClusters reads the IDs of the clusters. Settings that are damaged must not look as if
// there were none: the leader would make new clusters.
func parseClusters(settings map[string]string) (clusters relation.Clusters, problem string) {
	clusters, problems := relation.ParseClusters(settings)
	switch {
	case len(problems) > 0:
		problem = problems[0]
	case len(clusters.IDs) == 1:
		problem = "the leader settings name one cluster only"
	}
	return clusters, problem
}
