package action

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	agentreport "github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/reconcile"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// clusterStatus shows both clusters with the units of their members. Juju sorts results by name; the first one is for
// people. In the formats for programs, each fact has a result of its own.
func clusterStatus(ctx context.Context, u Unit, p *params) (results, error) {
	chosen := u.statusFormat(ctx, p)
	l := u.look(ctx)
	screen := present.Screen(u.Env.Version, u.Env.Unit, l.rows, l.findings, l.summary)
	found := results{"format": chosen, "at-a-glance": screen}
	for _, c := range l.report.Clusters {
		text, err := shownCluster(p.format, c)
		if err != nil {
			return nil, err
		}
		found["ovn"+c.Database.Short()] = text
	}
	details := map[string][]string{
		"clients": status.ClientCounts(l.report), "fault-tolerance": status.Tolerance(l.report),
		"northd": l.northds, "servers": l.servers, "lease": l.lease,
	}
	if l.orphans != "" {
		found["orphans"] = l.orphans
	}
	if !p.programs() { // one result, which comes after the clusters
		all := slices.Concat(l.servers, prefixed("clients of ", details["clients"]), prefixed("agents: ", l.lease))
		details = map[string][]string{"servers": all}
	} else if err := u.addFindings(found, p, l.findings); err != nil {
		return nil, err
	}
	for key, all := range details {
		found.list(key, all)
	}
	if p.programs() {
		return found, u.refuseIncomplete(l.report)
	}
	return found, nil
}

// refuseIncomplete returns the error of a report for programs if a database is not served. Programs look for a
// member's keys in each document. If one is missing, juju-verify ends without naming the unit, but it names a unit
// whose action has failed. The Python charm fails, too. The action still has its results.
func (u Unit) refuseIncomplete(report observe.Report) error {
	var missing []string
	for _, c := range report.Clusters {
		if c.Condition != ovndb.Serving {
			missing = append(missing, fmt.Sprintf("%s: %s", c.Database.Short(), c.ServerState.Text()))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	text := command.Command{
		Unit: u.Env.Unit, Action: "cluster-status", Params: []command.Param{{Key: "format", Value: "text"}},
	}
	return finding.Reason{
		Code: finding.NotServingEach, Name: u.Env.Unit, Value: strings.Join(missing, "; "),
		Because: []finding.Reason{finding.Quote(u.Env.Version.Render(text))},
	}.Err()
}

// look is the state of this unit and its clusters at one moment.
type look struct {
	report                  observe.Report
	findings                []finding.Finding
	rows                    []present.Row
	northds, servers, lease []string
	summary, orphans        string
}

func (u Unit) look(ctx context.Context) (l look) {
	o, err := u.Reconciler.Look(ctx)
	if err != nil {
		u.Log.WarnContext(ctx, "cannot read the state of this unit", "error", err)
		unknown := finding.New(finding.StateUnknown, finding.Subject{}, finding.Quote(err.Error()).Args())
		l.findings = append(l.findings, unknown)
	}
	l.report = o.Report
	for i, c := range l.report.Clusters {
		if c.Condition == ovndb.Serving {
			l.report.Clusters[i].Facts = u.Observer.ServerFacts(ctx, c.Database, o.State.Databases[c.Database].Schemas)
		}
	}
	var found []finding.Finding
	l.servers, found = status.Servers(l.report)
	l.findings = slices.Concat(l.findings, u.Reconciler.Findings(o), found)
	if agent, ok := u.agent(ctx, o); ok {
		l.lease = []string{agent.Lease()}
		l.orphans = named(agent.Gateways.OrphanLines())
		for _, c := range agent.WrongClocks() {
			l.findings = append(l.findings, finding.New(finding.ClockWrong, finding.Subject{Name: c.Unit},
				finding.Args{Duration: c.Ahead}, finding.Do(command.OnMachine(c.Unit, "timedatectl"))))
		}
	}
	northd := u.northd(ctx, o)
	l.northds, l.rows = status.Northds(northd, l.report), status.Rows(l.report, northd, o.State.Northds.Found)
	l.summary = status.Health(l.report, northd == ovndb.NorthdActive)
	return l
}

func prefixed(prefix string, all []string) []string {
	texts := make([]string, len(all))
	for i, text := range all {
		texts[i] = prefix + text
	}
	return texts
}

// northd returns the health of this unit's ovn-northd, even if the unit could not be observed.
func (u Unit) northd(ctx context.Context, o reconcile.Result) ovndb.NorthdHealth {
	if found := o.Northd(); found != "" {
		return found
	}
	health := u.Control.NorthdHealth(ctx)
	if o, err := u.Operate(); err == nil && o.NorthdHeld && health == ovndb.NorthdDown {
		return ovndb.NorthdHeld
	}
	return health
}

// agent returns the status of the unit's agent, even if the unit could not be observed.
func (u Unit) agent(ctx context.Context, o reconcile.Result) (s agentreport.Status, ok bool) {
	if s = o.Agent; s.Unit != "" {
		return s, true
	}
	s, err := agentreport.Ask(ctx, u.Control.Paths.AgentConfig())
	return s, err == nil
}

// statusFormat sets a missing format to the option's value, since programs for the Python charm expect a document and
// give no parameter. It returns the format for people.
func (u Unit) statusFormat(ctx context.Context, p *params) string {
	if p.format != "" {
		return p.format
	}
	config, err := u.Tools.Config(ctx)
	if err != nil {
		u.Log.WarnContext(ctx, "cannot read an option", "option", plan.OptionStatusFormat, "error", err)
	}
	s, _ := plan.ParseSettings(config) // the unit's status shows errors
	p.format = s.StatusFormat
	return s.StatusFormat + " (option " + plan.OptionStatusFormat + ")"
}

// shownCluster formats a cluster. Programs get a document of their own.
func shownCluster(format string, c observe.Cluster) (string, error) {
	if format == "text" {
		return document.Cluster(c), nil
	}
	return rendered(format, status.ClusterDocument(c), nil)
}

// agentStatus shows which unit acts for gateways, and the pending work.
func agentStatus(ctx context.Context, u Unit, p *params) (results, error) {
	s, err := agentreport.Ask(ctx, u.Control.Paths.AgentConfig())
	return shownAs("agent", p.format, document.Agent, s, err)
}

// health summarizes all findings in one line, or lists them with their remedies.
func health(ctx context.Context, u Unit, p *params, detail bool) (results, error) {
	all := u.look(ctx).findings
	found := results{"health": present.Health(all), "verdict": present.Verdict(all)}
	if detail && len(all) > 0 && !p.programs() {
		found["details"] = present.Details(u.Env.Version, all)
	}
	return found, u.addFindings(found, p, all)
}

// okTo shows whether something may be done with a unit now. It fails the action if not, for scripts.
func okTo(
	judge func(observe.Report, string) (status.Answer, error),
) func(context.Context, Unit, *params, string) (results, error) {
	return func(ctx context.Context, u Unit, _ *params, unit string) (results, error) {
		snapshot, report := u.Observer.ObserveClusters(ctx, u.Tools)
		if snapshot.Application.Unread != nil {
			return nil, snapshot.Application.Unread
		}
		a, err := judge(report, unit)
		if err != nil {
			return nil, err
		}
		found := results{"ok": "true"}
		if len(a.Lines) > 0 {
			found["arithmetic"] = lines(a.Lines)
		}
		if a.Against == nil {
			return found, nil
		}
		found["ok"], found["details"] = "false", present.Details(u.Env.Version, []finding.Finding{*a.Against})
		return found, errors.New(a.Against.Line())
	}
}
