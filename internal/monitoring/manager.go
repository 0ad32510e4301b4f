// Package monitoring keeps a unit's monitoring: the exporter, the checks of Nagios, and the data for Prometheus and the
// observability stack. The databases work without monitoring, so a failure is only a warning.
package monitoring

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/monitoring/exporter"
	"github.com/ovn-central/ovn-central-operator/internal/monitoring/nagios"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// exporterRetry is the time between attempts after a failure: if the store can't be reached, an attempt delays the hook
// by a minute or more.
const exporterRetry = time.Hour

// Manager keeps the monitoring of a unit. A Manager is used for one hook.
type Manager struct {
	Machine Machine
	Juju    *juju.Tools
	Env     juju.Env
	Paths   ovndb.Paths
	State   *unitstate.State
	Log     *slog.Logger
}

type kept struct {
	// Installed reports whether the exporter is on the machine.
	Installed bool `json:"installed,omitempty"`
	// Channel is the channel of the last attempt. If the attempt failed, Failed is its time and Failure the reason.
	Channel string    `json:"channel,omitempty"`
	Failed  time.Time `json:"failed,omitzero"`
	Failure string    `json:"failure,omitempty"`
	// Problems are the errors of the last call of Ensure; they are texts for people.
	Problems []string `json:"problems,omitempty"`
}

var section = unitstate.NewSection[kept]("monitoring")

// due reports whether, after a failure of the exporter, it is time for another attempt.
func (k kept) due(now time.Time) bool {
	return !k.Failed.IsZero() && (now.Sub(k.Failed) >= exporterRetry || now.Before(k.Failed))
}

// Ensure keeps the unit's monitoring. It logs a problem once and returns no findings, since the databases don't
// depend on monitoring. It returns an error only if the context has ended or the state can't be stored.
func (m *Manager) Ensure(ctx context.Context, o facts.Facts) ([]finding.Finding, error) {
	last := section.Get(m.State)
	unknown := !o.Known.Problem.IsZero() || !o.Known.Usable(plan.OptionExporter)
	if o.Preview || unknown || !o.Thorough && !last.due(o.State.Now) {
		return nil, nil
	}
	var problems []string
	for _, keep := range []func(context.Context, facts.Facts, *kept) error{
		m.keepExporter, m.publishToPrometheus, m.publishToAgent, m.keepChecks,
	} {
		err := keep(ctx, o, &last)
		if ctx.Err() != nil {
			return nil, errors.Join(ctx.Err(), section.Set(m.State, last))
		}
		if err != nil {
			problems = append(problems, err.Error())
			if !slices.Contains(last.Problems, err.Error()) {
				m.Log.WarnContext(ctx, "cannot set up monitoring; the databases don't depend on it", "error", err)
			}
		}
	}
	last.Problems = problems
	return nil, section.Set(m.State, last)
}

// keepExporter makes the exporter follow its option. It installs it only if the databases are served.
func (m *Manager) keepExporter(ctx context.Context, o facts.Facts, last *kept) (err error) {
	channel, now := o.Known.Settings.ExporterChannel, o.State.Now
	switch {
	case channel != "" && !o.Decision.Ready, o.State.Dying:
		return nil
	case !last.Failed.IsZero() && channel == last.Channel && !last.due(now):
		return errors.New(last.Failure)
	}
	last.Channel, last.Failed, last.Failure = channel, time.Time{}, ""
	if last.Installed, err = m.Machine.Exporter.Ensure(ctx, channel); err != nil {
		last.Failed, last.Failure = now, err.Error()
	}
	return err
}

// Machine is the monitored machine.
type Machine struct {
	Exporter exporter.Exporter
	Nagios   nagios.Nagios
}

// On returns the machine whose file system has this root. An empty root is that of this machine.
func On(r run.Runner, root string) Machine {
	return Machine{Exporter: exporter.Exporter{Runner: r}, Nagios: nagios.Nagios{Runner: r, Root: root}}
}
