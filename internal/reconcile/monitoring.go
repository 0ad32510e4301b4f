package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/monitoring"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// charmName is that of metadata.yaml. An application may have any other.
const charmName = "ovn-central"

// exporterRetry is how long the store is left alone after it has failed: where there
// is no way to it, each try takes a minute or more, and hooks wait for it.
const exporterRetry = time.Hour

// monitoringState is what is remembered of monitoring.
type monitoringState struct {
	// Installed says that the exporter is on the machine.
	Installed bool `json:"installed,omitempty"`
	// Channel is the one that was tried last, Failed when that failed, Failure why.
	Channel string    `json:"channel,omitempty"`
	Failed  time.Time `json:"failed,omitzero"`
	Failure string    `json:"failure,omitempty"`
	// Problems are what was wrong the last time, for people.
	Problems []string `json:"problems,omitempty"`
}

// due says whether the exporter, having failed, is to be tried again.
func (w monitoringState) due(now time.Time) bool {
	return !w.Failed.IsZero() && (now.Sub(w.Failed) >= exporterRetry || now.Before(w.Failed))
}

// configureMonitoring keeps what watches the unit: the exporter, Nagios' checks, and what
// Prometheus and the observability stack are told. What goes wrong with these is
// logged once and kept in the record, and fails no hook: the error is the context's.
func (u *Reconciler) configureMonitoring(ctx context.Context, p pass) error {
	r, a := p.record, p.inputs
	w := &r.Watch
	if a.problem != "" || a.invalid[plan.OptionExporter] != "" || !a.thorough && !w.due(p.progress.at) {
		return nil // options that can't be read are not those of no exporter
	}
	var problems []string
	for _, keep := range []func(context.Context, pass) error{
		u.keepExporter, u.tellPrometheus, u.tellAgent, u.keepChecks,
	} {
		err := keep(ctx, p)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			problems = append(problems, err.Error())
			if !slices.Contains(w.Problems, err.Error()) {
				u.Log.WarnContext(ctx, "cannot set up monitoring; the databases don't depend on it", "error", err)
			}
		}
	}
	w.Problems = problems
	return nil
}

// keepExporter installs it once the databases are served, which come first.
func (u *Reconciler) keepExporter(ctx context.Context, p pass) (err error) {
	w, a, o := &p.record.Watch, p.inputs, p.result
	channel := monitoring.Channel(a.settings.ExporterChannel)
	switch {
	case channel != "" && !o.Decision.Ready, o.state.Dying:
		return nil
	case !w.Failed.IsZero() && channel == w.Channel && !w.due(p.progress.at):
		return errors.New(w.Failure)
	}
	w.Channel, w.Failed, w.Failure = channel, time.Time{}, ""
	if w.Installed, err = u.Monitoring.Exporter.Ensure(ctx, channel); err != nil {
		w.Failed, w.Failure = p.progress.at, err.Error()
	}
	return err
}

func (u *Reconciler) topology() relation.Topology {
	return relation.Topology{Model: u.Env.ModelName, ModelUUID: u.Env.ModelUUID, App: u.Env.App, Unit: u.Env.Unit, Charm: charmName}
}

func (u *Reconciler) alertRules() (relation.AlertRules, error) {
	text, err := monitoring.AlertRules(present.URL)
	if err != nil {
		return relation.AlertRules{}, err
	}
	rules, err := relation.ParseAlertRules(text)
	c := command.Command{Unit: u.Env.App + "/leader", Action: "cluster-status"}
	return rules.For(u.topology(), u.Env.Version.Render(c)), err
}

// tellPrometheus asks for the relations in any case: those by an offer are not seen
// otherwise.
func (u *Reconciler) tellPrometheus(ctx context.Context, p pass) error {
	w, a := &p.record.Watch, p.inputs
	ids, err := u.relations(ctx, relation.Metrics)
	if err != nil || len(ids) == 0 {
		return err
	}
	rules, err := u.alertRules()
	if err != nil {
		return err
	}
	for _, id := range ids {
		var address netip.Addr
		if w.Installed {
			network, err := u.Tools.NetworkGet(ctx, relation.Metrics, id)
			if err != nil {
				return err
			}
			offered := network.Ingress
			if len(offered) == 0 {
				offered = network.Bind
			}
			address, _ = network.Choose(offered, []netip.Addr{a.address}, nil)
		}
		app, unit := relation.ScrapeDatabag(u.topology(), a.settings.ExporterChannel != "", address, rules)
		if err := u.Tools.RelationSet(ctx, id, unit); err != nil {
			return err
		}
		if !p.progress.jujuLeader {
			continue
		}
		if err := u.Tools.RelationSetApp(ctx, id, app); err != nil && !errors.Is(err, juju.ErrNotLeader) {
			return err
		}
	}
	return nil
}

func (u *Reconciler) tellAgent(ctx context.Context, p pass) error {
	w, o := &p.record.Watch, p.result
	ids, err := u.subordinates(ctx, o, relation.COSAgent)
	if err != nil || len(ids) == 0 {
		return err
	}
	rules, err := u.alertRules()
	if err != nil {
		return err
	}
	dashboards, err := monitoring.Dashboards()
	if err != nil {
		return err
	}
	port, err := u.agentPort(p.inputs)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := u.Tools.RelationSet(ctx, id, relation.COSAgentDatabag(u.topology(), w.Installed, port, rules, dashboards)); err != nil {
			return err
		}
	}
	return nil
}

// agentPort is where this unit's agent answers: with options that can't be used, where it was told
// to before. 0: it is not there yet.
func (u *Reconciler) agentPort(a inputs) (uint16, error) {
	text, err := os.ReadFile(u.Paths.AgentConfig())
	switch {
	case err != nil:
		return 0, nil //nolint:nilerr // there is nothing to be scraped
	case !agentOptionsInvalid(a.invalid):
		return a.settings.Agent.Port, nil
	}
	told, err := config.Parse(text, config.Config{})
	if err != nil {
		return 0, fmt.Errorf("cannot find out where the agent answers: %w", err)
	}
	at, err := netip.ParseAddrPort(told.Listen)
	if err != nil {
		return 0, fmt.Errorf("cannot find out where the agent answers: %w", err)
	}
	return at.Port(), nil
}

// keepChecks writes the checks once there is something that can be found running, and
// takes them away with the relation.
func (u *Reconciler) keepChecks(ctx context.Context, p pass) error {
	a, o := p.inputs, p.result
	ids, err := u.subordinates(ctx, o, relation.NRPE)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		if u.Env.Relation == relation.NRPE {
			return u.Monitoring.Nagios.Remove(ctx, u.checks(a, relation.NagiosHost{}))
		}
		return nil
	}
	if !o.Decision.Ready || o.state.Dying || a.invalid[plan.OptionNagiosContext] != "" || a.invalid[plan.OptionNagiosServiceGroups] != "" {
		return nil
	}
	databag, err := u.remoteBag(ctx, ids[0])
	if err != nil {
		return err
	}
	host, ignored := relation.ParseNagiosHost(u.Env.Unit, a.settings.NagiosContext, databag)
	names, missing := u.Monitoring.Nagios.Ensure(ctx, u.checks(a, host))
	if missing != nil && !errors.Is(missing, monitoring.ErrNoPlugin) {
		return missing
	}
	for _, id := range ids {
		if err := u.Tools.RelationSet(ctx, id, relation.MonitorsDatabag(names)); err != nil {
			return err
		}
	}
	return errors.Join(missing, ignored)
}

func (u *Reconciler) checks(a inputs, host relation.NagiosHost) monitoring.Checks {
	files := u.Paths.Credentials()
	return monitoring.Checks{
		Unit: host.Unit, Host: host.Host,
		Groups:      cmp.Or(a.settings.NagiosServiceGroups, a.settings.NagiosContext),
		Services:    []string{string(ovndb.Northd), string(ovndb.NorthboundServer), string(ovndb.SouthboundServer)},
		Certificate: files.Certificate, CA: files.CA,
	}
}

// subordinates are the relations of an endpoint to applications on the same machine:
// those are always seen in goal-state, so that nothing has to be asked without one.
func (u *Reconciler) subordinates(ctx context.Context, o Result, endpoint string) ([]string, error) {
	m := o.Snapshot.Application
	if m.Goal != nil && len(m.Remote[endpoint]) == 0 && u.Env.Relation != endpoint {
		return nil, nil
	}
	return u.relations(ctx, endpoint)
}

// remoteBag is what the one unit at the other end of a relation publishes; empty
// while there is none.
func (u *Reconciler) remoteBag(ctx context.Context, id string) (map[string]string, error) {
	units, err := u.Tools.RelationUnits(ctx, id)
	if err != nil || len(units) == 0 {
		return nil, err
	}
	databag, err := u.Tools.RelationGet(ctx, id, units[0])
	if err != nil && !errors.Is(err, juju.ErrNotFound) {
		return nil, fmt.Errorf("cannot read what %s publishes: %w", units[0], err)
	}
	return databag, nil
}
