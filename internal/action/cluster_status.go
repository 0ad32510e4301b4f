package action

import (
	"context"
	"fmt"
	"slices"
	"strings"

	agentreport "github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/reconcile"
	"github.com/ovn-central/ovn-central-operator/internal/render"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// clusterStatus shows both clusters with the units of their members.
func clusterStatus(ctx context.Context, u Unit, p params) (results, error) {
	format, chosen, err := u.statusFormat(ctx, p)
	if err != nil {
		return nil, err
	}
	show, err := formatter(format)
	if err != nil {
		return nil, err
	}
	o, err := u.Reconciler.Look(ctx)
	if err != nil {
		u.Log.WarnContext(ctx, "cannot find out the state of this unit", "error", err)
	}
	report := o.Report
	northds, missing, northdNext := status.NorthdReport(u.northd(ctx, o), report, o.Northds())
	found := results{"format": chosen, "fault-tolerance": lines(status.Tolerance(report)), "northd": lines(northds), "clients": lines(status.ClientCounts(report))}
	for i, c := range report.Clusters {
		if c.Condition == ovndb.Serving {
			report.Clusters[i].Facts = u.Observer.ServerFacts(ctx, c.Database)
			c = report.Clusters[i]
		}
		if found["ovn"+c.Database.Short()], err = show(c); err != nil {
			return nil, err
		}
	}
	servers := status.Servers(report)
	if len(servers.Lines) > 0 {
		found["servers"] = lines(servers.Lines)
	}
	warnings := slices.Concat(status.Warnings(report), missing, servers.Warnings)
	next := slices.Concat(status.Next(report), northdNext, servers.Next)
	if agent, ok := u.agent(ctx, o); ok {
		found["lease"] = lines([]string{agent.Lease()})
		if orphans := agent.Gateways.Orphans; len(orphans) > 0 {
			found["orphans"] = named(orphans)
		}
		for _, c := range agent.WrongClocks() {
			warnings = append(warnings, c.String())
		}
	}
	if problem := o.AgentProblem(); problem != "" {
		warnings = append(warnings, "agent: "+problem)
	}
	warnings = append(warnings, document.Listeners(u.Env.Unit, o.Decision.Exposed)...)
	if own := u.ownStatusWarning(o, err); own != "" {
		warnings = slices.DeleteFunc(warnings, func(w string) bool { return strings.Contains(own, w) })
		warnings = slices.Insert(warnings, 0, own)
	}
	if len(warnings) > 0 {
		found["warnings"] = lines(warnings)
	}
	if len(next) > 0 {
		found["next"] = lines(next)
	}
	return found, u.refuseIncomplete(format, report)
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
	text := juju.Command{Unit: u.Env.Unit, Action: "cluster-status", Params: []juju.Param{{Key: "format", Value: "text"}}}
	return fmt.Errorf("%s does not serve each database: %s; run: %s", u.Env.Unit, strings.Join(missing, "; "), u.Env.Version.Render(text))
}

// northd is how this unit's ovn-northd is. It is asked if the look at the unit has failed before that.
func (u Unit) northd(ctx context.Context, o reconcile.Result) ovndb.NorthdHealth {
	if found := o.Northd(); found != "" {
		return found
	}
	health := u.Members.Control.NorthdHealth(ctx)
	if held, err := u.Reconciler.NorthdHeld(); err == nil && held && health == ovndb.NorthdDown {
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
	if format, err = p.text("format"); err != nil || format != "" {
		return format, format, err
	}
	config, err := u.Tools.Config(ctx)
	if err != nil {
		u.Log.WarnContext(ctx, "cannot read an option", "option", plan.OptionStatusFormat, "error", err)
	}
	s, _ := plan.ParseSettings(config) // what can't be used is in the unit's status
	return s.StatusFormat, s.StatusFormat + " (option " + plan.OptionStatusFormat + ")", nil
}

// ownStatusWarning is the status of this unit where it is not active, or why it can't be found
// out; what is wrong with the unit is not seen in its clusters.
func (u Unit) ownStatusWarning(o reconcile.Result, err error) string {
	if err != nil {
		return "cannot find out the state of " + u.Env.Unit + ": " + err.Error()
	}
	if word, text := u.Reconciler.Status(o); word != juju.Active {
		return u.Env.Unit + " is " + string(word) + ": " + text
	}
	return ""
}

// lines is a result of whole lines. With the last one ended, Juju's client prints
// them as they are; else it would fold them, and a folded command can't be pasted.
func lines(all []string) string { return strings.Join(all, "\n") + "\n" }

func formatter(format string) (func(observe.Cluster) (string, error), error) {
	switch format {
	case "", "text":
		return func(c observe.Cluster) (string, error) { return document.Cluster(c), nil }, nil
	case "yaml":
		return func(c observe.Cluster) (string, error) { return render.YAML(status.ClusterDocument(c)) }, nil
	case "json":
		return func(c observe.Cluster) (string, error) { return render.JSON(status.ClusterDocument(c)) }, nil
	}
	return nil, fmt.Errorf("parameter format is %q: it takes text, yaml or json", format)
}
