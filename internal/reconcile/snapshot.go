package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/restore"
)

// askJuju adds further answers of Juju to a snapshot of servers and application. If the snapshot is not thorough, it
// reads only the peer relation, and takes the data that the Juju leader has published from memory.
func (u *Reconciler) askJuju(ctx context.Context, r *record, o *facts.Facts) error {
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
	if err := r.Certificates.Observe(ctx, *o); err != nil || !o.Thorough {
		return err
	}
	o.Clients, err = u.Observer.RelatedClients(ctx, u.Tools)
	return err
}

// leaderless reports whether the shown state is the same on Juju's leader as elsewhere: the clusters exist, both
// servers are members that know a leader, and no recovery was requested.
func leaderless(r *record, o facts.Facts) bool {
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

// parse parses the options. It returns each invalid one with the reason.
func (u *Reconciler) parse(config map[string]any) (plan.Settings, map[string]finding.Args) {
	s, invalid := plan.ParseSettings(config)
	for option, value := range map[string]string{plan.OptionSource: s.Source, plan.OptionOverlay: s.Overlay} {
		if problem := apt.SourceProblem(value, u.OS); !problem.IsZero() && invalid[option].Value == "" {
			invalid[option] = finding.Args{Value: fmt.Sprintf("%.60q", value), Reasons: []finding.Reason{problem}}
		}
	}
	return s, invalid
}

// Plan determines the unit's state, as [Reconciler.Reconcile] does in `update-status`, and makes no step. It is for
// actions that show the state, or have changed the state that the status reports. If it returns an error, of one of
// Juju's tools or of the machine, the result still has the observed state of the clusters.
//
// The firewall is not asked: only its last failure is reported.
func (u *Reconciler) Plan(ctx context.Context) (Result, error) { return u.preview(ctx, false) }

// Look is Plan for an action that only shows the state. If the unit's servers are at one of the machine's addresses,
// it does not ask Juju for the network: Juju could only add that it would choose another address today, which the
// unit's status reports.
func (u *Reconciler) Look(ctx context.Context) (Result, error) { return u.preview(ctx, true) }

func (u *Reconciler) preview(ctx context.Context, looks bool) (o Result, err error) {
	o.Snapshot, o.Report = u.Observer.ObserveClusters(ctx, u.Tools)
	r, err := u.loadRecord()
	if err != nil {
		return o, err
	}
	o.Thorough, o.Looks, o.Preview = !r.Settled, looks, true
	if err := u.askJuju(ctx, r, &o.Facts); err != nil {
		return o, err
	}
	if err := u.ensure(ctx, r, &o); err != nil {
		return o, err
	}
	return o, u.decide(ctx, r, &o)
}

// Northd returns the state of this unit's ovn-northd; the zero value if it is unknown.
func (o Result) Northd() ovndb.NorthdHealth {
	if o.State.NorthdHeld && o.State.Northd == ovndb.NorthdDown {
		return ovndb.NorthdHeld
	}
	return o.State.Northd
}

// Recovery returns the operations on recoveries that an operator may request. If an operation begins, after receives
// the outcome of the reconcile that follows.
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

// judging returns the state of the unit and of both databases, as input for judging a recovery.
func (u *Reconciler) judging(ctx context.Context) (found restore.Seen, err error) {
	r, err := u.loadRecord()
	if err != nil {
		return found, err
	}
	var o Result
	o.Thorough = true
	o.Snapshot = u.withoutLoneLeader(ctx, u.Observer.Observe(ctx, u.Tools))
	if err := u.askJuju(ctx, r, &o.Facts); err != nil {
		return found, err
	}
	r.Recovery.Judging = true
	o.State, err = u.look(ctx, r, &o.Facts)
	return seen(r, o), err
}

// withoutLoneLeader waits while a server leads without a majority: it gives that up within two election timers
// (raft_run in ovsdb/raft.c), and a recovery is refused as long as there is a leader.
func (u *Reconciler) withoutLoneLeader(ctx context.Context, s observe.Snapshot) observe.Snapshot {
	timer := func() (longest time.Duration) {
		for _, c := range u.Observer.Report(ctx, s.Application, s.Servers).Clusters {
			if c.Status.Role == raft.Leader && !c.Quorum.Holds() && !c.Quorum.Held {
				longest = max(longest, c.Status.ElectionTimer)
			}
		}
		return longest
	}
	if longest := timer(); longest > 0 {
		u.Members.Progress(ctx, "a server leads without a majority; waiting for the end of that")
		poll.Await(ctx, 2*longest+time.Second, observe.PollInterval, nil, func() bool {
			s = u.Observer.Refresh(ctx, s)
			return timer() == 0
		})
	}
	return s
}

func seen(r *record, o Result) restore.Seen {
	return restore.Seen{Unit: r.Recovery, Snapshot: o.Snapshot, Plan: o.State}
}
