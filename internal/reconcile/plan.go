package reconcile

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Plan determines the unit's state, as [Reconciler.Reconcile] does in `update-status`, and makes no step. It is for
// actions that show the state, or have changed what the status reports. With an error, which is one of Juju's tools
// or of the machine, the result still has what was seen of the clusters.
//
// The firewall is not asked: only its last failure is reported.
func (u *Reconciler) Plan(ctx context.Context) (Result, error) { return u.preview(ctx, false) }

// Look is Plan for an action that only shows the state. If the unit's servers are at one of the machine's
// addresses, it does not ask Juju for the network: Juju could only add that it would choose another address today,
// which the unit's status reports.
func (u *Reconciler) Look(ctx context.Context) (Result, error) { return u.preview(ctx, true) }

func (u *Reconciler) preview(ctx context.Context, looks bool) (o Result, err error) {
	o.Snapshot.Snapshot, o.Report = u.Observer.ObserveClusters(ctx, u.Tools)
	if err := o.Application.Unread; err != nil {
		return o, err
	}
	r, err := u.loadRecord()
	if err != nil {
		return o, err
	}
	o.Thorough, o.Looks, o.Preview = !r.Settled, looks, true
	if err := u.askJuju(ctx, r, &o.Snapshot); err != nil {
		return o, err
	}
	u.look(ctx, r, &o)
	return o, u.decide(ctx, r, &o)
}

// Northd returns the state of this unit's ovn-northd; the zero value if it is unknown.
func (o Result) Northd() ovndb.NorthdHealth {
	if o.State.NorthdHeld && o.State.Northd == ovndb.NorthdDown {
		return ovndb.NorthdHeld
	}
	return o.State.Northd
}

// Agent returns the report of this unit's agent; the zero value if it does not answer.
func (o Result) Agent() report.Status { return o.agent }
