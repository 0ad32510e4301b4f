// Package reconcile brings a unit to its wanted state, and keeps it there. It observes Juju and the machine, lets
// package plan decide, makes the step, and observes again, until no step is left or the unit has to wait. Then it
// calls each manager, and sets the status.
package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/jujuleader"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/monitoring"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/ufw"
)

// Reconciler brings one unit to its wanted state.
type Reconciler struct {
	*observe.Observer
	Tools    *juju.Tools
	Members  *membership.Changer
	Packages apt.Packages
	Firewall ufw.Firewall
	Policy   apt.Policy
	// Monitoring installs the checks and the exporter.
	Monitoring monitoring.Machine
	// Program is the file of the running program, which the agent runs as a copy. If it is empty, the unit has no agent.
	Program string
	// OS is the machine's system, on which the package sources depend.
	OS apt.OS
}

// Result is the outcome of one reconcile.
type Result struct {
	facts.Facts
	// Failure is the error of the step that failed; nil if none did.
	Failure error
	// managed has the findings of the managers.
	managed []finding.Finding
	// Agent is the report of the unit's agent; the zero value if it does not answer.
	Agent report.Status
	// backupAge is the age of the newest backup.
	backupAge finding.Reason
}

// maxSteps bounds the steps of one hook. A unit takes about 20 from an empty machine to a member.
const maxSteps = 60

// Reconcile makes all steps that are possible now. If thorough is false, it asks Juju only for data that changes
// without a hook of its own, and takes the rest from memory. If a tool of Juju fails, it changes nothing and returns
// an error: unread data can't be told from missing data. The error of a step is in the result.
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
	o.Snapshot, o.Report = u.Observer.ObserveClusters(ctx, u.Tools)
	if err := u.askJuju(ctx, r, &o.Facts); err != nil {
		return r, Result{}, err
	}
	if err := u.adopt(ctx, r, o.Known.Settings); err != nil {
		return r, Result{}, err
	}
	event := u.Env.Event()
	if booted := event == juju.Start || event == juju.ConfigChanged; booted && r.AwaitServers(ctx, o.Servers) {
		o.Snapshot = u.Observer.Refresh(ctx, o.Snapshot)
		o.Report = u.Observer.Report(ctx, o.Application, o.Servers)
	}
	made, err := u.converge(ctx, r, &o)
	if err != nil {
		return r, o, err
	}
	if made {
		o.Report = u.Observer.Report(ctx, o.Application, o.Servers)
	}
	r.PublishDamage(ctx, o.Facts)
	r.TrimMemory(ctx, o.Servers)
	if err := u.ensure(ctx, r, &o); err != nil {
		return r, o, err
	}
	u.saveFindings(ctx, o)
	r.Northd, r.Settled = o.State.Northds, o.settled()
	u.save(ctx, r)
	return r, o, nil
}

// converge decides, makes the step, and observes again, until no step is left or the next one would be repeated. It
// reports whether it made a step.
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
			return len(made) > 0, nil // the step changed nothing, and would change nothing again
		}
		if len(made) == maxSteps {
			return false, fmt.Errorf("cannot settle: after %d steps the next is %q", maxSteps, step)
		}
		made = append(made, *step)
		u.Members.Progress(ctx, step.String())
		err := r.Make(ctx, o.Facts, *step)
		u.save(ctx, r)
		switch {
		case err == nil:
			o.Snapshot = u.Observer.Refresh(ctx, o.Snapshot)
		case ctx.Err() != nil:
			return false, err
		case !u.continuesWithout(ctx, r, o, *step, err):
			return true, nil
		}
	}
}

// manager owns a concern of the unit. Ensure brings the machine and Juju to their wanted state and reports what is
// wrong. In a preview it only reports.
type manager interface {
	Ensure(ctx context.Context, o facts.Facts) ([]finding.Finding, error)
}

// ensure calls each manager and collects the findings. A step has set the firewall already, before the servers start.
func (u *Reconciler) ensure(ctx context.Context, r *record, o *Result) error {
	o.managed = r.Firewall.Findings()
	for _, m := range []manager{
		r.publish, r.Certificates, r.monitoring, r.agent, r.guard, r.backups, r.Packages,
	} {
		found, err := m.Ensure(ctx, o.Facts)
		if err != nil {
			return err
		}
		o.managed = append(o.managed, found...)
	}
	report, found := r.agent.Ask(ctx)
	o.Agent, o.managed, o.backupAge = report, append(o.managed, found...), r.backups.Age()
	return nil
}

func (u *Reconciler) decide(ctx context.Context, r *record, o *Result) (err error) {
	if o.State, err = u.look(ctx, r, &o.Facts); err != nil {
		return err
	}
	o.Decision = plan.Decide(o.State)
	u.Log.DebugContext(ctx, "decided", "rules", o.Decision.Rules, "step_by", o.Decision.By)
	return nil
}

// mostLooks is how often the input of one decision is read if a server ends each time: systemd starts a server again
// five times in 10 s, and then leaves it down (DefaultStartLimitBurst= in systemd-system.conf(5)).
const mostLooks = 6

// look returns the input of a decision. If a server has ended or hangs since it was observed, look observes the servers
// again: a decision needs one consistent state.
func (u *Reconciler) look(ctx context.Context, r *record, o *facts.Facts) (s plan.State, err error) {
	for look := 1; ; look++ {
		if s, err = r.Look(ctx, *o); !errors.Is(err, observe.ErrOutdated) || look == mostLooks {
			return s, err
		}
		u.Log.InfoContext(ctx, "observing again", "error", err)
		o.Snapshot = u.Observer.Refresh(ctx, o.Snapshot)
		o.Report = u.Observer.Report(ctx, o.Application, o.Servers)
	}
}

// continuesWithout records that a step failed, and reports whether other steps can be made without it. Without newer
// packages, or after an interrupted upgrade, the unit starts a server that is down with the installed ones.
func (u *Reconciler) continuesWithout(ctx context.Context, r *record, o *Result, step plan.Step, err error) bool {
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

// settled reports whether there is nothing left to do, to repair or to wait for. Only then may the next hook ask Juju
// for less.
func (o Result) settled() bool {
	d, c := o.Decision, o.State.Certificates
	return d.Step == nil && o.Failure == nil && d.Ready && !plan.Pressing(d.Findings) && !c.Drifted() && !c.Awaited()
}
