package monitoring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/monitoring/content"
	"github.com/ovn-central/ovn-central-operator/internal/monitoring/nagios"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// charmName is the name in metadata.yaml. The application may have any other name.
const charmName = "ovn-central"

func (m *Manager) topology() relation.Topology {
	return relation.Topology{
		Model: m.Env.ModelName, ModelUUID: m.Env.ModelUUID, App: m.Env.App, Unit: m.Env.Unit,
		Charm: charmName,
	}
}

func (m *Manager) own(rules relation.AlertRules) relation.AlertRules {
	c := command.Command{Unit: m.Env.App + "/leader", Action: "cluster-status"}
	return rules.For(m.topology(), m.Env.Version.Render(c))
}

// publishToPrometheus publishes for Prometheus. It always asks Juju for the relations, since goal-state lacks
// relations of an offer.
func (m *Manager) publishToPrometheus(ctx context.Context, o facts.Facts, last *kept) error {
	ids, err := m.relations(ctx, relation.Metrics)
	if err != nil || len(ids) == 0 {
		return err
	}
	rules := m.own(content.ExporterAlertRules())
	for _, id := range ids {
		var address netip.Addr
		if last.Installed {
			if address, err = m.scrapeAddress(ctx, id, o); err != nil {
				return err
			}
		}
		app, unit := relation.ScrapeDatabag(m.topology(), o.Known.Settings.ExporterChannel != "", address, rules)
		err = m.Juju.RelationSet(ctx, id, unit)
		if err == nil && o.State.JujuLeader {
			err = m.Juju.RelationSetApp(ctx, id, app)
		}
		if err != nil && !errors.Is(err, juju.ErrNotLeader) {
			return err
		}
	}
	return nil
}

// scrapeAddress returns the address at which Prometheus reaches this unit over a relation.
func (m *Manager) scrapeAddress(ctx context.Context, id string, o facts.Facts) (netip.Addr, error) {
	network, err := m.Juju.NetworkGet(ctx, relation.Metrics, id)
	if err != nil {
		return netip.Addr{}, err
	}
	offered := network.Ingress
	if len(offered) == 0 {
		offered = network.Bind
	}
	address, _ := network.Choose(offered, []netip.Addr{o.Addresses.Own}, nil)
	return address, nil
}

func (m *Manager) publishToAgent(ctx context.Context, o facts.Facts, last *kept) error {
	ids, err := m.subordinates(ctx, o, relation.COSAgent)
	if err != nil || len(ids) == 0 {
		return err
	}
	port, err := m.agentPort(o)
	if err != nil {
		return err
	}
	databag := relation.COSAgentDatabag(m.topology(), last.Installed, port,
		m.own(content.AlertRules()), m.own(content.LogAlertRules()), content.Dashboards())
	for _, id := range ids {
		if err := m.Juju.RelationSet(ctx, id, databag); err != nil {
			return err
		}
	}
	return nil
}

// agentPort returns the port of this unit's agent; 0 if the agent is not installed yet. If an option of the agent is
// invalid, the agent keeps its port.
func (m *Manager) agentPort(o facts.Facts) (uint16, error) {
	text, err := os.ReadFile(m.Paths.AgentConfig())
	switch {
	case err != nil:
		return 0, nil //nolint:nilerr // there is nothing to be scraped
	case o.Known.Usable(plan.AgentOptions...):
		return o.Known.Settings.Agent.Port, nil
	}
	configured, err := config.Parse(text, config.Config{})
	if err != nil {
		return 0, fmt.Errorf("cannot find the port of the agent: %w", err)
	}
	at, err := netip.ParseAddrPort(configured.Listen)
	if err != nil {
		return 0, fmt.Errorf("cannot find the port of the agent: %w", err)
	}
	return at.Port(), nil
}

// keepChecks writes the checks if the databases are served, and removes them if there is no relation.
func (m *Manager) keepChecks(ctx context.Context, o facts.Facts, _ *kept) error {
	ids, err := m.subordinates(ctx, o, relation.NRPE)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		if m.Env.Relation == relation.NRPE {
			return m.Machine.Nagios.Remove(ctx)
		}
		return nil
	}
	usable := o.Known.Usable(plan.OptionNagiosContext, plan.OptionNagiosServiceGroups)
	if !o.Decision.Ready || o.State.Dying || !usable {
		return nil
	}
	settings := o.Known.Settings
	databag, err := m.remoteBag(ctx, ids[0])
	if err != nil {
		return err
	}
	host, ignored := relation.ParseNagiosHost(m.Env.Unit, settings.NagiosContext, databag)
	files := m.Paths.Credentials()
	names, missing := m.Machine.Nagios.Ensure(ctx, nagios.Checks{
		Unit: host.Unit, Host: host.Host, Groups: cmp.Or(settings.NagiosServiceGroups, settings.NagiosContext),
		Certificate: files.Certificate, CA: files.CA,
	})
	if missing != nil && !errors.Is(missing, nagios.ErrNoPlugin) {
		return missing
	}
	for _, id := range ids {
		if err := m.Juju.RelationSet(ctx, id, relation.MonitorsDatabag(names)); err != nil {
			return err
		}
	}
	return errors.Join(missing, ignored)
}

// subordinates returns the relations of an endpoint to applications on the same machine. Goal-state always has these
// relations, so if it has none, subordinates does not ask Juju.
func (m *Manager) subordinates(ctx context.Context, o facts.Facts, endpoint string) ([]string, error) {
	if o.Application.Goal != nil && len(o.Application.Remote[endpoint]) == 0 && m.Env.Relation != endpoint {
		return nil, nil
	}
	return m.relations(ctx, endpoint)
}

func (m *Manager) relations(ctx context.Context, endpoint string) ([]string, error) {
	ids, err := m.Juju.RelationIDs(ctx, endpoint)
	return m.Env.Unbroken(ids), err
}

// remoteBag returns the data of the only unit at the other end of a relation; empty if there is none.
func (m *Manager) remoteBag(ctx context.Context, id string) (map[string]string, error) {
	units, err := m.Juju.RelationUnits(ctx, id)
	if err != nil || len(units) == 0 {
		return nil, err
	}
	databag, err := m.Juju.RelationGet(ctx, id, units[0])
	if err != nil && !errors.Is(err, juju.ErrNotFound) {
		return nil, fmt.Errorf("cannot read what %s publishes: %w", units[0], err)
	}
	return databag, nil
}
