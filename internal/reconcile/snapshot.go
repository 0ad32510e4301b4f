package reconcile

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
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
	p := pass{record: r, result: Result{Snapshot: o}}
	err := u.askJuju(ctx, &p)
	return p, err
}

func (u *Reconciler) trigger(thorough bool) Trigger {
	return Trigger{event: u.Env.Event(), thorough: thorough}
}

// askJuju completes a pass by what Juju says.
func (u *Reconciler) askJuju(ctx context.Context, p *pass) error {
	r, o, m := p.record, &p.result, p.result.Snapshot.Application
	config, err := u.Tools.Config(ctx)
	if err != nil {
		return err
	}
	o.fromJuju.Settings, o.fromJuju.Invalid = u.parse(config)
	if !p.leaderless() {
		if err = r.leader.Ask(ctx); err != nil {
			return err
		}
	}
	keep := o.looks && !o.thorough && !u.lastFound(finding.AddressChanged)
	if o.Addresses, err = u.Observer.Addresses(ctx, u.Tools, o.Servers, o.thorough, keep); err != nil {
		return err
	}
	if err := r.leader.Read(ctx, m, o.thorough); err != nil {
		return err
	}
	x := &o.fromJuju
	x.Problem, x.Blind, x.Unrelated = r.leader.Problem, r.leader.Blind, r.leader.Unrelated
	x.Unit, x.Dying, x.Units, x.Integrate, x.Resumed = u.Env.Unit, m.Dying(u.Env.Unit), len(m.Goal), m.Version.Integrate(), u.Env.ActionName == "resume"
	x.Claim, x.Members = relation.ParseClaim(m.AppData.Values(), u.Env.Unit), relation.ParseMembers(m.AppData.Values())
	x.Peers = u.peers(ctx, m)
	if o.Addresses.Own.IsValid() {
		x.Address = o.Addresses.Own.String()
	}
	if o.Addresses.Better.IsValid() {
		x.Better = o.Addresses.Better.String()
	}
	if err := r.certificates.Observe(ctx, p.certificatesSnapshot()); err != nil || !o.thorough {
		return err
	}
	o.clients, err = u.Observer.RelatedClients(ctx, u.Tools)
	return err
}
