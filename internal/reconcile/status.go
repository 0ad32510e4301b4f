package reconcile

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/jujuleader"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/status"
	"github.com/ovn-central/ovn-central-operator/internal/steps"
)

// Status returns the unit's workload status: one word and one line.
func (u *Reconciler) Status(o Result) (juju.StatusWord, string) {
	var tail []string
	if !o.State.Paused {
		_, runs := acting(o.Agent)
		tail = append([]string{status.Health(o.Report, o.State.Northd == ovndb.NorthdActive), o.backupAge.String()}, runs...)
	}
	return present.Workload(u.Env.Version, u.Findings(o), tail...)
}

func (u *Reconciler) saveFindings(ctx context.Context, o Result) {
	if err := present.Save(u.Control.Paths.Findings(), present.Documents(u.Env.Version, u.Findings(o))); err != nil {
		u.Log.WarnContext(ctx, "cannot keep the findings for the agent; continuing", "error", err)
	}
}

// Findings returns all findings that this unit sees, the most important first.
func (u *Reconciler) Findings(o Result) []finding.Finding {
	before, err := present.Load(u.Control.Paths.Findings())
	if err != nil {
		u.Log.Warn("cannot read what was found before; it counts as new", "error", err)
	}
	return present.Dated(u.found(o), before, u.Now())
}

func (u *Reconciler) lastFound(code finding.Code) bool {
	docs, err := present.Load(u.Control.Paths.Findings())
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
	stalled, _ := acting(o.Agent)
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
