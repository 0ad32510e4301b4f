package reconcile

import (
	"context"
	"fmt"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/certificates"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/restore"
	"github.com/ovn-central/ovn-central-operator/internal/steps"
)

// askJuju adds to a snapshot of servers and application what else Juju knows. If it is not thorough, it reads only
// the peer relation, and takes from memory what the Juju leader has published.
func (u *Reconciler) askJuju(ctx context.Context, r *record, o *steps.Snapshot) error {
	m, x := o.Application, &o.Known
	if m.Unread != nil {
		return m.Unread
	}
	config, err := u.Tools.Config(ctx)
	if err != nil {
		return err
	}
	x.Settings, x.Invalid = u.parse(config)
	if !leaderless(r, *o) {
		if err := r.Leader.Ask(ctx); err != nil {
			return err
		}
	}
	keep := o.Looks && !o.Thorough && !u.lastFound(finding.AddressChanged)
	if o.Addresses, err = u.Observer.Addresses(ctx, u.Tools, o.Servers, o.Thorough, keep); err != nil {
		return err
	}
	if err := r.Leader.Read(ctx, m, o.Thorough); err != nil {
		return err
	}
	x.Problem, x.ClaimsUnread, x.Unrelated = r.Leader.Problem, r.Leader.Blind, r.Leader.Unrelated
	x.Unit, x.Dying, x.Units, x.Peers = u.Env.Unit, m.Dying(u.Env.Unit), len(m.Goal), r.Peers(ctx, m)
	x.Integrate, x.Resumed = m.Version.Integrate(), u.Env.ActionName == "resume"
	x.Claim = relation.ParseClaim(m.AppData.Values(), u.Env.Unit)
	x.Members = relation.ParseMembers(m.AppData.Values())
	x.Paused, x.NorthdHeld, x.Northds = r.Paused, r.NorthdHeld, r.Northd
	if o.Addresses.Own.IsValid() {
		x.Address = o.Addresses.Own.String()
	}
	if o.Addresses.Better.IsValid() {
		x.Better = o.Addresses.Better.String()
	}
	certified := certificates.Snapshot{
		Thorough: o.Thorough, Providers: m.Remote[relation.Certificates],
		Addresses: o.Addresses.All, Primary: o.Addresses.Primary, Hosts: o.Addresses.Hosts,
	}
	if err := r.Certificates.Observe(ctx, certified); err != nil || !o.Thorough {
		return err
	}
	o.Clients, err = u.Observer.RelatedClients(ctx, u.Tools)
	return err
}

// leaderless reports whether the state to show is the same on Juju's leader as elsewhere: the clusters exist, both
// servers are members that know a leader, and no recovery was asked for.
func leaderless(r *record, o steps.Snapshot) bool {
	if !o.Looks || o.Thorough || r.Recovery.Requested() || len(r.Recovery.Held) > 0 {
		return false
	}
	for _, db := range ovndb.Databases() {
		if !o.Servers[db].MemberWithLeader() {
			return false
		}
	}
	return !o.Application.RequestsRecovery()
}

// parse parses the options. It names each invalid one with the reason.
func (u *Reconciler) parse(config map[string]any) (plan.Settings, map[string]string) {
	s, invalid := plan.ParseSettings(config)
	for option, value := range map[string]string{plan.OptionSource: s.Source, plan.OptionOverlay: s.Overlay} {
		if _, err := apt.ParseSource(value, u.OS); err != nil && invalid[option] == "" {
			invalid[option] = fmt.Sprintf("%.60q: %v", value, err)
		}
	}
	return s, invalid
}

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
	u.collect(ctx, r, &o, append(r.backups.Look(ctx, u.backupsSnapshot(o)), r.Packages.Findings()...))
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

// Recovery returns the operations on recoveries that an operator asks for. If one begins, after receives the
// outcome of the reconcile that follows.
func (u *Reconciler) Recovery(after *Result) restore.Operation {
	return restore.Operation{
		Look: u.judging, Progress: u.Members.Progress,
		Reconcile: func(ctx context.Context) (restore.Seen, error) {
			r, o, err := u.reconcile(ctx, true)
			*after = o
			return seen(r, o), err
		},
	}
}

// judging returns the state of the unit and of both databases, as the judgement of a recovery needs it.
func (u *Reconciler) judging(ctx context.Context) (found restore.Seen, err error) {
	r, err := u.loadRecord()
	if err != nil {
		return found, err
	}
	var o Result
	o.Thorough = true
	o.Snapshot.Snapshot = u.Observer.Observe(ctx, u.Tools)
	if err := u.askJuju(ctx, r, &o.Snapshot); err != nil {
		return found, err
	}
	r.Recovery.Judging = true
	o.State, err = r.Look(ctx, o.Snapshot)
	return seen(r, o), err
}

func seen(r *record, o Result) restore.Seen {
	return restore.Seen{Unit: r.Recovery, Snapshot: o.Snapshot.Snapshot, Plan: o.State}
}
