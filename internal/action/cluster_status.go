package action

import (
	"context"
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

// clusterStatus shows both clusters with the units of their members. Juju prints results in the order of their
// names: the first one has what people need. In the formats for programs, each fact has a result of its own.
func clusterStatus(ctx context.Context, u Unit, p params) (results, error) {
	format, chosen, err := u.statusFormat(ctx, p)
	if err != nil {
		return nil, err
	}
	l := u.look(ctx)
	screen := present.Screen(u.Env.Version, u.Env.Unit, l.rows, l.findings, l.summary)
	found := results{"format": chosen, "at-a-glance": screen}
	for _, c := range l.report.Clusters {
		if found["ovn"+c.Database.Short()], err = shownCluster(format, c); err != nil {
			return nil, err
		}
	}
	details := map[string][]string{
		"clients": status.ClientCounts(l.report), "fault-tolerance": status.Tolerance(l.report),
		"northd": l.northds, "servers": l.servers, "lease": l.lease,
	}
	if l.orphans != "" {
		found["orphans"] = l.orphans
	}
	if format == "" || format == "text" { // all in one that comes after the clusters
		all := slices.Concat(l.servers, prefixed("clients of ", details["clients"]), prefixed("agents: ", l.lease))
		details = map[string][]string{"servers": all}
	} else if found["findings"], err = rendered(format, present.Documents(u.Env.Version, l.findings), nil); err != nil {
		return nil, err
	}
	for key, all := range details {
		if len(all) > 0 {
			found[key] = lines(all)
		}
	}
	return found, u.refuseIncomplete(format, l.report)
}

// refuseIncomplete fails a report for programs if a database is not served: they look for a member's keys in each
// document, and juju-verify ends without the unit's name if one is missing, but names a unit whose action has failed.
// The Python charm fails, too. The results are there all the same.
func (u Unit) refuseIncomplete(format string, report observe.Report) error {
	if format == "" || format == "text" {
		return nil
	}
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
	return fmt.Errorf("%s does not serve each database: %s; run: %s",
		u.Env.Unit, strings.Join(missing, "; "), u.Env.Version.Render(text))
}

// look is one look at this unit and its clusters.
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
		u.Log.WarnContext(ctx, "cannot find out the state of this unit", "error", err)
		unknown := finding.New(finding.StateUnknown, finding.Subject{}, finding.Args{Detail: err.Error()})
		l.findings = append(l.findings, unknown)
	}
	l.report = o.Report
	for i, c := range l.report.Clusters {
		if c.Condition == ovndb.Serving {
			l.report.Clusters[i].Facts = u.Observer.ServerFacts(ctx, c.Database)
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
	l.northds, l.rows = status.Northds(northd, l.report), status.Rows(l.report, northd)
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

// northd is how this unit's ovn-northd is. It is asked if the look at the unit has failed before that.
func (u Unit) northd(ctx context.Context, o reconcile.Result) ovndb.NorthdHealth {
	if found := o.Northd(); found != "" {
		return found
	}
	health := u.Members.Control.NorthdHealth(ctx)
	if o, err := u.Operate(); err == nil && o.NorthdHeld && health == ovndb.NorthdDown {
		return ovndb.NorthdHeld
	}
	return health
}

// agent is what the unit's agent says. It is asked, too, if the look at the unit has failed before that.
func (u Unit) agent(ctx context.Context, o reconcile.Result) (s agentreport.Status, ok bool) {
	if s = o.Agent(); s.Unit != "" {
		return s, true
	}
	s, err := agentreport.Ask(ctx, u.Members.Control.Paths.AgentConfig())
	return s, err == nil
}

// statusFormat is how the clusters are to be shown, and how that was chosen: by the
// action's own parameter, or by the option, since programs for the Python charm
// expect a document and give no parameter.
func (u Unit) statusFormat(ctx context.Context, p params) (format, chosen string, err error) {
	if format, err = p.format(); err != nil || format != "" {
		return format, format, err
	}
	config, err := u.Tools.Config(ctx)
	if err != nil {
		u.Log.WarnContext(ctx, "cannot read an option", "option", plan.OptionStatusFormat, "error", err)
	}
	s, _ := plan.ParseSettings(config) // what can't be used is in the unit's status
	return s.StatusFormat, s.StatusFormat + " (option " + plan.OptionStatusFormat + ")", nil
}

// lines is a result of whole lines. With the last one ended, Juju's client prints
// them as they are; else it would fold them, and a folded command can't be pasted.
func lines(all []string) string { return strings.Join(all, "\n") + "\n" }

// shownCluster is a cluster in a form. Programs get a document of their own.
func shownCluster(format string, c observe.Cluster) (string, error) {
	if format == "" || format == "text" {
		return document.Cluster(c), nil
	}
	return rendered(format, status.ClusterDocument(c), nil)
}
