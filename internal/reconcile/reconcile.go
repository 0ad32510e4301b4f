// Package reconcile brings a unit to its wanted state, and keeps it there. It observes Juju and the machine, lets
// package plan decide, makes the step, and observes again, until no step is left or the unit has to wait. Then it has
// each manager ensure its concern, and sets the status.
package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/firewall"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/jujuleader"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/monitoring"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/steps"
)

// Reconciler brings one unit to its wanted state.
type Reconciler struct {
	// Machine is the one that Observer looks at and that Members changes.
	*observe.Machine
	Tools    *juju.Tools
	Observer *observe.Observer
	Members  *membership.Changer
	Paths    ovndb.Paths
	Packages apt.Packages
	Firewall firewall.Firewall
	Policy   apt.Policy
	// Monitoring is what watches the unit.
	Monitoring monitoring.Machine
	// Program is the file of the program that runs; the agent runs a copy of it. Empty: there
	// is no agent.
	Program string
	// OS is what the machine runs; sources of packages depend on it.
	OS apt.OS
}

// Result is what a unit came to.
type Result struct {
	steps.Snapshot
	Decision plan.Decision
	// Failure is the step that could not be made, if one could not.
	Failure error
	// managed is what the managers have found.
	managed []finding.Finding
	// agent is what the unit's agent reports.
	agent report.Status
	// backupAge is how old the newest backup is.
	backupAge string
}

// maxSteps bounds the steps of one hook. A unit takes about 20 from an empty machine to a member.
const maxSteps = 60

// Reconcile takes the unit as far as it can get now. Unless thorough is set, as in `update-status`, Juju is asked only
// for what may have changed without a hook of its own; the rest is remembered. The error is one of Juju's tools, and
// then nothing was done: unread data can't be told from missing data, and Juju soon tries again. A step that can't be
// made is in the result.
func (u *Reconciler) Reconcile(ctx context.Context, thorough bool) (Result, error) {
	_, o, err := u.reconcile(ctx, thorough)
	return o, err
}

func (u *Reconciler) reconcile(ctx context.Context, thorough bool) (*record, Result, error) {
	r, err := u.loadRecord()
	if err != nil {
		u.Log.WarnContext(ctx, "cannot read this unit's own record; continuing without it", "error", err)
	}
	var o Result
	o.Thorough = thorough || !r.Settled
	o.Snapshot.Snapshot, o.Report = u.Observer.ObserveClusters(ctx, u.Tools)
	if err := u.askJuju(ctx, r, &o.Snapshot); err != nil {
		return r, Result{}, err
	}
	if err := u.adopt(ctx, r, o.Known.Settings); err != nil {
		return r, Result{}, err
	}
	event := u.Env.Event()
	if booted := event == juju.Start || event == juju.ConfigChanged; booted && r.AwaitServers(ctx, o.Servers) {
		o.Snapshot.Snapshot = u.Observer.Refresh(ctx, o.Snapshot.Snapshot)
		o.Report = u.Observer.Report(ctx, o.Application, o.Servers)
	}
	made, err := u.converge(ctx, r, &o)
	if err != nil {
		return r, o, err
	}
	if made {
		o.Report = u.Observer.Report(ctx, o.Application, o.Servers)
	}
	r.PublishDamage(ctx, o.Snapshot)
	r.TrimMemory(ctx, o.Servers)
	if err := u.ensure(ctx, r, &o); err != nil {
		return r, o, err
	}
	u.saveFindings(ctx, o)
	r.Northd, r.Settled = o.State.Northds, o.settled()
	u.save(ctx, r)
	return r, o, nil
}

// converge decides, makes the step, and observes again, until no step is left, or none that changes anything. It
// reports whether it has made any.
func (u *Reconciler) converge(ctx context.Context, r *record, o *Result) (changed bool, err error) {
	var made []plan.Step
	for {
		r.Restarts.KeepRefused(ctx, r.Save)
		if err := u.decide(ctx, r, o); err != nil {
			return false, err
		}
		r.Restarts.Seen(o.State.Services, o.State.Packages.Version)
		r.Recovery.Observed(o.State)
		step := o.Decision.Step
		if step == nil || slices.ContainsFunc(made, step.Same) {
			return len(made) > 0, nil // a step that changed nothing would change nothing again
		}
		if len(made) == maxSteps {
			return false, fmt.Errorf("cannot settle: after %d steps the next is %q", maxSteps, step)
		}
		made = append(made, *step)
		u.Log.InfoContext(ctx, step.String()) //nolint:sloglint // for people: the steps of a hook
		err := r.Make(ctx, o.Snapshot, *step)
		u.save(ctx, r)
		switch {
		case err == nil:
			o.Snapshot.Snapshot = u.Observer.Refresh(ctx, o.Snapshot.Snapshot)
		case ctx.Err() != nil:
			return false, err
		case !u.goesWithout(ctx, r, o, *step, err):
			return true, nil
		}
	}
}

// decide plans by what was observed, and changes nothing.
func (u *Reconciler) decide(ctx context.Context, r *record, o *Result) (err error) {
	if o.State, err = r.Look(ctx, o.Snapshot); err != nil {
		return err
	}
	o.Decision = plan.Decide(o.State)
	u.Log.DebugContext(ctx, "decided", "rules", o.Decision.Rules, "step_by", o.Decision.By)
	return nil
}

// goesWithout notes that a step could not be made, and reports whether others can be made without it: the unit
// continues with the packages that it has after newer ones could not be had, for a server that is down, and for all
// that must not wait for an interrupted upgrade.
func (u *Reconciler) goesWithout(ctx context.Context, r *record, o *Result, step plan.Step, err error) bool {
	if errors.Is(err, jujuleader.ErrLater) {
		later := finding.New(finding.ClustersAwaited, finding.Subject{}, finding.Args{Value: err.Error()})
		o.Decision.Findings = append(o.Decision.Findings, later)
		return false
	}
	o.Failure = fmt.Errorf("cannot %s: %w", step, err)
	u.Log.ErrorContext(ctx, o.Failure.Error()) //nolint:sloglint // for people, as the unit's status
	down := func(db ovndb.Database) bool { return o.Servers[db].Condition == ovndb.Down }
	without := step.Kind == plan.Upgrade && slices.ContainsFunc(ovndb.Databases(), down) ||
		step.Kind == plan.Install && o.State.Packages.Interrupted()
	if r.Packages.Unavailable() || !without {
		return false
	}
	r.Packages.DoWithout()
	return true
}

// settled reports whether nothing is left to do, to repair or to wait for: only then may the next hook ask Juju for
// less.
func (o Result) settled() bool {
	d, c := o.Decision, o.State.Certificates
	return d.Step == nil && o.Failure == nil && d.Ready && d.Settled() && !c.Drifted() && !c.Awaited()
}

// adopt notes what was there before this charm: then nothing that runs may change because the charm has. What a unit
// that was removed by force has begun is not continued.
func (u *Reconciler) adopt(ctx context.Context, r *record, settings plan.Settings) error {
	if r.Known {
		return nil
	}
	// Of this unit's own only one can be there that it has claimed, if its record was lost.
	if err := r.Recovery.PutAwayStaged(ctx, r.Leader.Clusters.IDs); err != nil {
		return err
	}
	if u.Env.Event() == juju.Install {
		r.Known = true
		return nil
	}
	version, complete, err := r.Packages.Adopt(ctx, settings.AllSources())
	if err != nil {
		return fmt.Errorf("cannot find out what is installed: %w", err)
	}
	r.Known = true
	if version.OVN == "" {
		return nil
	}
	// One that dpkg was killed at is there too: its services may run, and it is finished next.
	for _, service := range plan.RestartOrder() {
		// Which ovsdb-server runs is asked of it: it may be older than what is installed.
		r.Restarts.Started(service, ovndb.Version{OVN: version.OVN})
	}
	if !complete {
		r.Restarts.Due(ovndb.Northd, "an upgrade of the packages was cut off") // what runs may be of those before
	}
	return nil
}
