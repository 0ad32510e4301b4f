package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/jujuleader"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/restore"
	"github.com/ovn-central/ovn-central-operator/internal/status"
	"github.com/ovn-central/ovn-central-operator/internal/steps"
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
	if err := o.Application.Unread; err != nil {
		return o, err
	}
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

// Agent returns the report of this unit's agent; the zero value if it does not answer.
func (o Result) Agent() report.Status { return o.agent }

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

// Status returns the unit's workload status: one word and one line.
func (u *Reconciler) Status(o Result) (juju.StatusWord, string) {
	var tail []string
	if !o.State.Paused {
		_, runs := acting(o.agent)
		tail = append([]string{status.Health(o.Report, o.State.Northd == ovndb.NorthdActive), o.backupAge.String()}, runs...)
	}
	return present.Workload(u.Env.Version, u.Findings(o), tail...)
}

func (u *Reconciler) saveFindings(ctx context.Context, o Result) {
	if err := present.Save(u.Paths.Findings(), present.Documents(u.Env.Version, u.Findings(o))); err != nil {
		u.Log.WarnContext(ctx, "cannot keep the findings for the agent; continuing", "error", err)
	}
}

// Findings returns all findings that this unit sees, the most important first.
func (u *Reconciler) Findings(o Result) []finding.Finding {
	before, err := present.Load(u.Paths.Findings())
	if err != nil {
		u.Log.Warn("cannot read what was found before; it counts as new", "error", err)
	}
	return present.Dated(u.found(o), before, u.Now())
}

func (u *Reconciler) lastFound(code finding.Code) bool {
	docs, err := present.Load(u.Paths.Findings())
	return err != nil || slices.ContainsFunc(docs, func(d present.Document) bool { return d.Code == string(code) })
}

func (u *Reconciler) found(o Result) []finding.Finding {
	all := o.Decision.Findings
	unit := func(code finding.Code, value, detail string, remedies ...finding.Remedy) {
		if value != "" || detail != "" {
			args := finding.Args{Value: value, Detail: finding.Said(detail)}
			all = append(all, finding.New(code, finding.Subject{}, args, remedies...))
		}
	}
	log := finding.Do(command.Client("debug-log", "--include", u.Env.Unit))
	switch reasons := finding.Reasons(o.Failure); {
	case len(reasons) > 0:
		all = append(all, finding.New(finding.StepPostponed, finding.Subject{}, finding.Args{}).Because(reasons...))
	case busy(o.Failure):
		unit(finding.StepPostponed, "", firstLine(o.Failure.Error()), log)
	case o.Failure != nil:
		unit(finding.StepFailed, firstLine(o.Failure.Error()), "", log)
	}
	if o.State.Paused {
		return all
	}
	if o.Preview { // a hook makes the step instead
		all = append(all, pendingRecoveries(o.State)...)
	}
	all = append(all, clusters(o, all)...)
	if !plan.Pressing(all) && !o.Decision.Ready && !o.State.Dying {
		all = append(all, finding.New(finding.ClientPortsClosed, finding.Subject{}, finding.Args{}))
	}
	stalled, _ := acting(o.agent)
	return slices.Concat(all, o.managed, stalled)
}

func pendingRecoveries(s plan.State) (all []finding.Finding) {
	for _, db := range ovndb.Databases() {
		if r, known := s.Recovery[db]; known {
			if f, is := r.Pending(); is {
				all = append(all, f)
			}
		}
	}
	return all
}

// clusters returns the findings about the clusters. If this unit itself waits for something, that is probably their
// cause, and more precise: then only a lost quorum that both servers see counts.
func clusters(o Result, own []finding.Finding) []finding.Finding {
	found := status.Clusters(o.Report)
	if !plan.Pressing(own) {
		return append(status.Own(o.Report), found...)
	}
	judges := serves(o) || o.State.Dying
	var all []finding.Finding
	for _, f := range found {
		if f.Code == finding.NoQuorum && finding.Has(own, finding.RecoveryNotAccepted) { // requested on this unit
			f.Remedies = []finding.Remedy{finding.ByHand(finding.AwaitAccept).For(o.State.Unit)}
		}
		if f.Severity < finding.Waiting || f.Severity == finding.Error && judges {
			all = append(all, f)
		}
	}
	return all
}

func serves(o Result) bool {
	fails := func(l observe.ServerState) bool { return l.Condition != ovndb.Serving }
	return !slices.ContainsFunc(slices.Collect(maps.Values(o.Servers)), fails)
}

// busy reports whether an error only means that it is another unit's turn, or that this unit must wait for a quorum.
// The next hook tries again.
func busy(err error) bool {
	waits := func(target error) bool { return errors.Is(err, target) }
	return errors.As(err, new(*finding.RefusedError)) || slices.ContainsFunc([]error{
		jujuleader.ErrStale, jujuleader.ErrLater, steps.ErrNotRemoved, membership.ErrRaftLeaderLost,
	}, waits)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// shownDrains is the number of drains that the status names.
const shownDrains = 3

// acting returns the part of the status about the acting unit: the stalled drains, which need an operator, and texts
// about the running ones.
func acting(s report.Status) (stalled []finding.Finding, runs []string) {
	if !s.Acts {
		return nil, nil
	}
	runs = append(runs, "acts for gateways")
	for _, d := range s.Drains {
		switch {
		case d.Done || len(stalled)+len(runs) > shownDrains:
		case d.Stalled:
			stalled = append(stalled, finding.New(finding.DrainStalled, finding.Subject{Name: d.Node},
				finding.Args{Value: d.Text}))
		default:
			runs = append(runs, d.Line())
		}
	}
	return stalled, runs
}
