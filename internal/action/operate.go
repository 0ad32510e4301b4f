package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/machine"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/operate"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/reconcile"
	"github.com/ovn-central/ovn-central-operator/internal/render"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// operating returns a handler of an operation on the unit's services.
func operating(do func(context.Context, Unit, *params, operate.Unit) (results, error)) handler {
	return func(ctx context.Context, u Unit, p *params) (results, error) {
		o, err := u.Operate()
		if err != nil {
			return nil, err
		}
		return do(ctx, u, p, o)
	}
}

// pause stops the unit's services until resume.
func pause(ctx context.Context, u Unit, _ *params, recovery bool) (results, error) {
	done := "paused; the unit stays a member that is down until action resume"
	unserved := strings.Join(withoutMajority(u.Observer.Observe(ctx, u.Tools).Servers), ", ")
	if unserved != "" {
		done += "; until then no majority serves " + unserved + ", and nothing can be written"
	}
	o, err := u.Operate()
	if err == nil {
		err = o.Pause(ctx, recovery) // if it is killed, the pause is already recorded, and continues
	}
	if err != nil {
		return nil, fmt.Errorf("cannot pause: %w", err)
	}
	shown, err := u.reconcile(ctx, done)
	if err != nil { // otherwise the status would still show a healthy unit
		return nil, errors.Join(fmt.Errorf("the unit is paused, and could not tell its peers: %w", err), u.setPaused(ctx))
	}
	if unserved != "" {
		shown["without-majority"] = unserved
	}
	return shown, nil
}

// withoutMajority returns the databases that no majority serves without this unit: a pause is not refused in a cluster
// of one or two.
func withoutMajority(servers map[ovndb.Database]observe.ServerState) (names []string) {
	for _, db := range ovndb.Databases() {
		if l := servers[db]; l.Member() && len(l.Status.Servers) <= 2 {
			names = append(names, db.Short())
		}
	}
	return names
}

// resume starts the services that pause has stopped.
func resume(ctx context.Context, u Unit, _ *params, o operate.Unit) (results, error) {
	done := "the unit was not paused; did what any hook does"
	if o.Paused {
		done = "resumed"
	}
	if err := o.Resume(); err != nil {
		return nil, err
	}
	return u.reconcile(ctx, done)
}

// reconcile updates the status and the published data after a change.
func (u Unit) reconcile(ctx context.Context, done string) (results, error) {
	o, err := u.Reconciler.Reconcile(ctx, true)
	if err != nil {
		return nil, err
	}
	status, err := u.setStatus(ctx, o)
	if err != nil {
		return nil, err
	}
	return results{"result": done, "status": status}, nil
}

// setStatus sets and returns the unit's status.
func (u Unit) setStatus(ctx context.Context, o reconcile.Result) (status string, err error) {
	word, text := u.Reconciler.Status(o)
	return fmt.Sprintf("%s: %s", word, text), u.Tools.StatusSet(ctx, word, text)
}

// holdNorthd keeps this unit's ovn-northd from running.
func holdNorthd(ctx context.Context, u Unit, _ *params, o operate.Unit) (results, error) {
	if err := o.HoldNorthd(ctx); err != nil {
		return nil, fmt.Errorf("cannot hold ovn-northd: %w", err)
	}
	return u.reconcile(ctx, "ovn-northd is held here until action release-northd")
}

// releaseNorthd lets ovn-northd run again.
func releaseNorthd(ctx context.Context, u Unit, _ *params, o operate.Unit) (results, error) {
	done := "ovn-northd was not held here"
	if o.NorthdHeld {
		done = "released"
	}
	if err := o.ReleaseNorthd(); err != nil {
		return nil, fmt.Errorf("cannot release ovn-northd: %w", err)
	}
	return u.reconcile(ctx, done)
}

// services returns the names of the services to restart. An empty list means every service with a deferred restart.
func (p *params) services() []string {
	deferred, names := p.flag("deferred-only"), p.words("services")
	if deferred == (len(names) > 0) {
		p.wrong = append(p.wrong, errors.New("give either deferred-only=true, or services: ovn-ovsdb-server-nb, "+
			"ovn-ovsdb-server-sb, ovn-northd, or ovn-central for all three"))
	}
	return names
}

// restart restarts the named services, or those with a deferred restart.
func restart(ctx context.Context, u Unit, _ *params, names []string) (results, error) {
	o, err := u.Operate()
	if err != nil {
		return nil, err
	}
	done, err := o.Restart(ctx, names...)
	found := results{}
	if len(done) > 0 {
		found["restarted"] = ovndb.JoinServices(done)
	}
	if err != nil {
		return found, err
	}
	if len(done) == 0 {
		found["restarted"] = "nothing: no restart is held back"
	}
	settled, err := u.reconcile(ctx, "")
	if err == nil {
		found["status"] = settled["status"]
	}
	return found, err
}

// deferredEvent is one deferred restart, as a document.
type deferredEvent struct {
	Service string `json:"service" yaml:"service"`
	Action  string `json:"action" yaml:"action"`
	Reason  string `json:"reason" yaml:"reason"`
}

// deferredDocument has deferred restarts in the Python charm's form, which programs read
// (show_deferred_events_action_helper of charm-helpers): for each restart one text, with the time, the service in 40
// columns, and the reason. The time is not known here, and hooks are never deferred.
type deferredDocument struct {
	Hooks    []string `yaml:"hooks"`
	Restarts []string `yaml:"restarts"`
}

// showDeferredEvents lists the deferred restarts.
func showDeferredEvents(ctx context.Context, _ Unit, p *params, o operate.Unit) (results, error) {
	pending, err := o.Deferred(ctx)
	if err != nil {
		return nil, err
	}
	shown, err := deferredOutput(pending, p.format)
	return results{"output": shown}, err
}

// deferredOutput formats the restarts, each with its reason.
func deferredOutput(pending map[ovndb.Service]string, format string) (shown string, err error) {
	events, text, document := []deferredEvent{}, []string{}, deferredDocument{[]string{}, []string{}}
	for _, service := range plan.RestartOrder() {
		if reason := pending[service]; reason != "" {
			events = append(events, deferredEvent{string(service), "restart", reason})
			text = append(text, fmt.Sprintf("restart %s: %s", service, reason))
			document.Restarts = append(document.Restarts, fmt.Sprintf("%d %-40s %s", 0, service, reason))
		}
	}
	// If all services must be restarted, programs look for the service that represents them.
	if len(document.Restarts) == len(plan.RestartOrder()) {
		document.Restarts = append(document.Restarts, fmt.Sprintf("%d %-40s %s", 0, ovndb.Umbrella, events[0].Reason))
	}
	switch format {
	case "":
		return render.YAML(document)
	case "text":
		if len(text) == 0 {
			return "nothing is held back\n", nil
		}
		return lines(text), nil
	case "yaml":
		return render.YAML(events)
	}
	return render.JSON(events)
}

// setPaused sets the status of a paused unit that can't read its state.
func (u Unit) setPaused(ctx context.Context) error {
	resume := finding.Do(command.Command{Unit: u.Env.Unit, Action: "resume"})
	paused := finding.New(finding.Paused, finding.Subject{}, finding.Args{}, resume)
	word, text := present.Workload(u.Env.Version, []finding.Finding{paused})
	return u.Tools.StatusSet(ctx, word, text)
}

// upgradeCheck shows the effects of an upgrade, and what to do first.
func upgradeCheck(ctx context.Context, u Unit, p *params, source string) (results, error) {
	found, err := u.checkUpgrade(ctx, source)
	if err != nil {
		return nil, err
	}
	text, err := rendered(p.format, found, document.Upgrade)
	return results{"upgrade": text}, err
}

// checkUpgrade returns the effects of the packages of a source; an empty source means the option's. It changes
// nothing.
func (u Unit) checkUpgrade(ctx context.Context, source string) (plan.UpgradeReport, error) {
	o, err := u.Plan(ctx)
	if err != nil {
		return plan.UpgradeReport{}, err
	}
	source = cmp.Or(source, o.State.Settings.Source, "distro")
	x := plan.UpgradeCandidate{
		Source: shownSources(source, o.State.Settings.Overlay), Typed: u.Env.Version.Render,
		Schemas: map[ovndb.Database]ovndb.Schemas{},
	}
	var sources []apt.Source
	for _, value := range []string{source, o.State.Settings.Overlay} {
		one, err := apt.ParseSource(value, u.OS)
		if err != nil {
			return plan.UpgradeReport{}, err
		}
		sources = append(sources, one)
	}
	offer, err := u.Packages.Preview(ctx, sources...)
	if x.Offered = offer.Version; err != nil {
		x.Unknown = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	for _, db := range ovndb.Databases() {
		schema := ovndb.Schemas{Served: o.State.Databases[db].Schemas.Served, Packages: offer.Schemas[db]}
		if schema.Served != "" && schema.Packages != "" {
			if schema.Older, err = ovsctl.Newer(schema.Packages, schema.Served); err != nil {
				return plan.UpgradeReport{}, err
			}
		}
		x.Schemas[db] = schema
	}
	if x.Disk, err = machine.FreeSpace(u.Control.Paths.DB); err != nil {
		return plan.UpgradeReport{}, err
	}
	x.Memory, _ = machine.AvailableMemory()
	return o.State.CheckUpgrade(x), nil
}

// shownSources names the sources of packages, without the passwords in them.
func shownSources(source, overlay string) string {
	if overlay != "" && overlay != "distro" {
		source += ", ovn-source " + overlay
	}
	return run.Redact(source)
}
