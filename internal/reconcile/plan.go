package reconcile

import "context"

// Plan finds out how the unit is, as [Reconciler.Reconcile] does in `update-status`, and
// makes no step: for actions that show it, or have changed what its status says. What
// is seen of the clusters is there with an error too, which is one of Juju's tools, or
// of what is on the machine.
func (u *Reconciler) Plan(ctx context.Context) (Result, error) {
	o := Result{}
	o.Snapshot, o.Report = u.Observer.ObserveClusters(ctx, u.Tools)
	if err := o.Snapshot.Application.Unread; err != nil {
		return o, err
	}
	record, err := u.loadRecord()
	if err != nil {
		return o, err
	}
	p, err := u.observe(ctx, record, o, !record.Settled)
	if err != nil {
		return o, err
	}
	o.firewallFailure = record.FirewallFailure
	o.agentStatus, o.agent = u.askAgent(ctx, record)
	err = u.decide(ctx, p, &o)
	return o, err
}
