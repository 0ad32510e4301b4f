package reconcile

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Plan determines the unit's state, as [Reconciler.Reconcile] does in `update-status`, and makes no step: for actions
// that show it, or have changed what its status reports. What is seen of the clusters is there with an error too, which
// is one of Juju's tools, or of what is on the machine.
//
// The firewall is not asked: a report has nothing of it but what went wrong the last time.
func (u *Reconciler) Plan(ctx context.Context) (Result, error) { return u.preview(ctx, false) }

// Look is Plan for an action that only shows it. It asks for no network while the unit's servers are at one of the
// machine's addresses: Juju could only tell that it would choose another one today, which the unit's status does.
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

// Northd is how this unit's ovn-northd is; the zero value if that was not found out.
func (o Result) Northd() ovndb.NorthdHealth {
	if o.State.NorthdHeld && o.State.Northd == ovndb.NorthdDown {
		return ovndb.NorthdHeld
	}
	return o.State.Northd
}

// Agent is what this unit's agent says; the zero value if it was not asked, or does not answer.
func (o Result) Agent() report.Status { return o.agent }
