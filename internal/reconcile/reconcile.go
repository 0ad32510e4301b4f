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

// Result is the outcome of one reconcile.
type Result struct {
	Snapshot
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

// pass is the state of one reconcile: the unit's record with the managers, and the latest result.
type pass struct {
	record *record
	result Result
}

// maxSteps bounds the steps of one hook. A unit takes about 20 from an empty
// machine to a member.
const maxSteps = 60

// Reconcile takes the unit as far as it can get now. Unless thorough is set, as
// in `update-status`, Juju is asked only for what may have changed without a hook
// of its own; the rest is remembered. The error is one of Juju's
// tools, and then nothing was done: unread data can't be told from missing
// data, and Juju soon tries again. A step that can't be made is in the result.
func (u *Reconciler) Reconcile(ctx context.Context, thorough bool) (Result, error) {
	p, err := u.reconcile(ctx, thorough)
	return p.result, err
}

func (u *Reconciler) reconcile(ctx context.Context, thorough bool) (pass, error) {
	record, err := u.loadRecord()
	if err != nil {
		u.Log.WarnContext(ctx, "cannot read this unit's own record; continuing without it", "error", err)
	}
	snapshot, report := u.Observer.ObserveClusters(ctx, u.Tools)
	if err := snapshot.Application.Unread; err != nil {
		return pass{}, err
	}
	p, err := u.observe(ctx, record, Snapshot{Snapshot: snapshot, Report: report}, thorough || !record.Settled)
	if err != nil {
		return pass{}, err
	}
	if err := u.adopt(ctx, p); err != nil {
		return pass{}, err
	}
	o := &p.result
	if booted := o.event == juju.Start || o.event == juju.ConfigChanged; booted && record.steps.AwaitServers(ctx, o.Servers) {
		o.Snapshot.Snapshot = u.Observer.Refresh(ctx, o.Snapshot.Snapshot)
		o.Report = u.Observer.Report(ctx, o.Application, o.Servers)
	}
	made, err := u.converge(ctx, &p)
	if err != nil {
		return p, err
	}
	if made {
		o.Report = u.Observer.Report(ctx, o.Snapshot.Application, o.Snapshot.Servers)
	}
	record.steps.PublishDamage(ctx, o.Servers, o.Report, o.state.Databases)
	record.steps.TrimMemory(ctx, o.Servers)
	if err := u.ensure(ctx, &p); err != nil {
		return p, err
	}
	u.saveFindings(ctx, p.result)
	record.Northd, record.Settled = o.state.Northds, o.settled()
	if err := u.saveRecord(record); err != nil {
		u.Log.WarnContext(ctx, "cannot save the unit's record; continuing", "error", err)
	}
	return p, nil
}

// converge decides, makes the step, and observes again, until no step is left, or none that changes anything. It reports
// whether it has made any.
func (u *Reconciler) converge(ctx context.Context, p *pass) (changed bool, err error) {
	record, o := p.record, &p.result
	var made []plan.Step
	for steps := 0; ; steps++ {
		record.restarts.KeepRefused(ctx, func() error { return u.saveRecord(record) })
		if err := u.decide(ctx, *p, o); err != nil {
			return false, err
		}
		record.restarts.Seen(o.state.Services, o.state.Packages.Version)
		record.recovery.Observed(o.state)
		step := o.Decision.Step
		if step == nil || slices.ContainsFunc(made, step.Same) {
			break // one that changed nothing would change nothing again
		}
		if steps == maxSteps {
			return false, fmt.Errorf("cannot settle: after %d steps the next is %q", steps, step)
		}
		made = append(made, *step)
		u.Log.InfoContext(ctx, step.String()) //nolint:sloglint // for people: the steps of a hook
		err := u.apply(ctx, *p, *step)
		if kept := u.saveRecord(record); kept != nil {
			u.Log.WarnContext(ctx, "cannot save the unit's record; continuing", "error", kept)
		}
		switch {
		case err == nil:
			o.Snapshot.Snapshot = u.Observer.Refresh(ctx, o.Snapshot.Snapshot)
		case ctx.Err() != nil:
			return false, err
		case !u.goesWithout(ctx, p, *step, err):
			return true, nil
		}
	}
	return len(made) > 0, nil
}

// goesWithout notes that a step could not be made, and reports whether others can be made without it.
func (u *Reconciler) goesWithout(ctx context.Context, p *pass, step plan.Step, err error) bool {
	o := &p.result
	if errors.Is(err, jujuleader.ErrLater) {
		o.Decision.Findings = append(o.Decision.Findings, finding.New(finding.ClustersAwaited, finding.Subject{}, finding.Args{Value: err.Error()}))
		return false
	}
	o.Failure = fmt.Errorf("cannot %s: %w", step, err)
	u.Log.ErrorContext(ctx, o.Failure.Error()) //nolint:sloglint // for people, as the unit's status
	if !p.mayDoWithout(step) {
		return false
	}
	p.record.packages.DoWithout()
	return true
}

// settled reports whether nothing is left to do, to repair or to wait for: only then may the next pass
// ask Juju for less.
func (o Result) settled() bool {
	d, c := o.Decision, o.state.Certificates
	return d.Step == nil && o.Failure == nil && d.Ready && d.Settled() && !c.Drifted() && !c.Awaited()
}

// decide plans by what was observed, and changes nothing but what the pass knows.
func (u *Reconciler) decide(ctx context.Context, p pass, o *Result) (err error) {
	if err := u.bringUpToDate(ctx, p); err != nil {
		return err
	}
	if o.state, err = u.state(ctx, p); err != nil {
		return err
	}
	o.Decision = plan.Decide(o.state)
	u.Log.DebugContext(ctx, "decided", "rules", o.Decision.Rules, "step_by", o.Decision.By)
	return nil
}

// adopt notes what was there before this charm: then nothing that runs may change
// because the charm has. What a unit that was removed by force has begun is not continued.
func (u *Reconciler) adopt(ctx context.Context, p pass) error {
	r := p.record
	if r.Known {
		return nil
	}
	// Of this unit's own only one can be there that it has claimed, if its record was lost.
	if err := r.recovery.PutAwayStaged(ctx, r.leader.Clusters.IDs); err != nil {
		return err
	}
	if p.result.event == juju.Install {
		r.Known = true
		return nil
	}
	version, complete, err := r.packages.Adopt(ctx, p.result.fromJuju.Settings.AllSources())
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
		r.restarts.Started(service, ovndb.Version{OVN: version.OVN})
	}
	if !complete {
		r.restarts.Due(ovndb.Northd, "an upgrade of the packages was cut off") // what runs may be of those before
	}
	return nil
}

// busy reports whether an error only means that another unit has its turn, or that
// this one has to wait for a quorum: it is tried again.
func busy(err error) bool {
	return errors.Is(err, jujuleader.ErrStale) || errors.Is(err, jujuleader.ErrLater) || errors.Is(err, steps.ErrNotRemoved) || errors.Is(err, membership.ErrRaftLeaderLost) || errors.As(err, new(*finding.RefusedError))
}
