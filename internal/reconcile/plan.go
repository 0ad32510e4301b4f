package reconcile

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Plan finds out how the unit is, as [Reconciler.Reconcile] does in `update-status`, and
// makes no step: for actions that show it, or have changed what its status says. What
// is seen of the clusters is there with an error too, which is one of Juju's tools, or
// of what is on the machine.
//
// The firewall is not asked: a report has nothing of it but what went wrong the last time.
func (u *Reconciler) Plan(ctx context.Context) (Result, error) { return u.preview(ctx, false) }

// Look is Plan for an action that only shows it. It asks for no network while the unit's servers are at one of the
// machine's addresses: Juju could only tell that it would choose another one today, which the unit's status does.
func (u *Reconciler) Look(ctx context.Context) (Result, error) { return u.preview(ctx, true) }

func (u *Reconciler) preview(ctx context.Context, looks bool) (Result, error) {
	o := Result{}
	o.Snapshot.Snapshot, o.Report = u.Observer.ObserveClusters(ctx, u.Tools)
	if err := o.Snapshot.Application.Unread; err != nil {
		return o, err
	}
	record, err := u.loadRecord()
	if err != nil {
		return o, err
	}
	o.Trigger = u.trigger(!record.Settled)
	o.looks, o.preview = looks, true
	p := pass{record: record, result: o}
	if err := u.askJuju(ctx, &p); err != nil {
		return o, err
	}
	u.look(ctx, &p)
	err = u.decide(ctx, p, &p.result)
	return p.result, err
}

// leaderless reports whether a look shows the same on Juju's leader as elsewhere: the clusters exist, both servers are
// members that know a leader, and no recovery was asked for.
func (p pass) leaderless() bool {
	if r := p.record.recovery; !p.result.looks || p.result.thorough || r.Requested() || len(r.Held) > 0 {
		return false
	}
	for _, db := range ovndb.Databases() {
		if !p.result.Servers[db].MemberWithLeader() {
			return false
		}
	}
	return !p.result.Snapshot.Application.RequestsRecovery()
}

// Northd is how this unit's ovn-northd is; the zero value if that was not found out.
func (o Result) Northd() ovndb.NorthdHealth {
	if o.state.NorthdHeld && o.state.Northd == ovndb.NorthdDown {
		return ovndb.NorthdHeld
	}
	return o.state.Northd
}

// Agent is what this unit's agent says; the zero value if it was not asked, or does not answer.
func (o Result) Agent() report.Status { return o.agent }
