package monitoring

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// exporterRetry is how long the store is left alone after a failure: without a way to it, each try takes a minute or
// more, and hooks wait for it.
const exporterRetry = time.Hour

// Juju has the tools of Juju that the manager needs.
type Juju interface {
	RelationIDs(ctx context.Context, endpoint string) ([]string, error)
	RelationUnits(ctx context.Context, id string) ([]string, error)
	RelationGet(ctx context.Context, id, unit string) (map[string]string, error)
	RelationSet(ctx context.Context, id string, values map[string]string) error
	RelationSetApp(ctx context.Context, id string, values map[string]string) error
	NetworkGet(ctx context.Context, endpoint, id string) (juju.Network, error)
}

// Manager keeps a unit's monitoring: the exporter, Nagios' checks, and what Prometheus and the observability stack
// read. It lives for one hook.
type Manager struct {
	Machine Machine
	Juju    Juju
	Env     juju.Env
	Paths   ovndb.Paths
	State   *unitstate.State
	Log     *slog.Logger
}

// Snapshot is what the monitoring follows from.
type Snapshot struct {
	// Now is the time at which the hook began.
	Now time.Time
	// Thorough is set if Juju is to be asked for relations.
	Thorough bool
	// Ready is set if the unit's servers are members, Dying if the unit is being removed, JujuLeader if it leads the
	// application.
	Ready, Dying, JujuLeader bool
	// Address is the unit's.
	Address     netip.Addr
	Application observe.Application
	// Exporter is the option for the exporter's channel. Unknown is set if it can't be read, which doesn't mean that no
	// exporter is wanted.
	Exporter string
	Unknown  bool
	// AgentPort is where the agent is to answer; 0 if its options are invalid: it keeps the port that it has.
	AgentPort uint16
	// Nagios are the options for Nagios; nil if one is invalid.
	Nagios *NagiosOptions
}

// NagiosOptions are the options for Nagios.
type NagiosOptions struct{ Context, ServiceGroups string }

// kept is what is remembered of monitoring.
type kept struct {
	// Installed reports whether the exporter is on the machine.
	Installed bool `json:"installed,omitempty"`
	// Channel is the one that was tried last, Failed when that failed, Failure why.
	Channel string    `json:"channel,omitempty"`
	Failed  time.Time `json:"failed,omitzero"`
	Failure string    `json:"failure,omitempty"`
	// Problems are what was wrong the last time, for people.
	Problems []string `json:"problems,omitempty"`
}

var section = unitstate.NewSection[kept]("monitoring")

// due reports whether the exporter, having failed, is to be tried again.
func (k kept) due(now time.Time) bool {
	return !k.Failed.IsZero() && (now.Sub(k.Failed) >= exporterRetry || now.Before(k.Failed))
}

// Ensure keeps the unit's monitoring. It finds nothing, since the databases don't depend on it: a problem is logged
// once. The error is the context's.
func (m *Manager) Ensure(ctx context.Context, s Snapshot) ([]finding.Finding, error) {
	last := section.Get(m.State)
	if s.Unknown || !s.Thorough && !last.due(s.Now) {
		return nil, nil
	}
	var problems []string
	for _, keep := range []func(context.Context, Snapshot, *kept) error{
		m.keepExporter, m.publishToPrometheus, m.publishToAgent, m.keepChecks,
	} {
		err := keep(ctx, s, &last)
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

// keepExporter installs the exporter once the databases are served, which come first.
func (m *Manager) keepExporter(ctx context.Context, s Snapshot, last *kept) (err error) {
	channel := Channel(s.Exporter)
	switch {
	case channel != "" && !s.Ready, s.Dying:
		return nil
	case !last.Failed.IsZero() && channel == last.Channel && !last.due(s.Now):
		return errors.New(last.Failure)
	}
	last.Channel, last.Failed, last.Failure = channel, time.Time{}, ""
	if last.Installed, err = m.Machine.Exporter.Ensure(ctx, channel); err != nil {
		last.Failed, last.Failure = s.Now, err.Error()
	}
	return err
}
