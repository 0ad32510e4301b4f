package action

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/render"
)

// pause stops the unit's services until resume.
func pause(ctx context.Context, u Unit, p params) (results, error) {
	recovery, err := p.flag("force")
	if err != nil {
		return nil, err
	}
	o, err := u.Operate()
	if err != nil {
		return nil, fmt.Errorf("cannot pause: %w", err)
	}
	// A killed pause is recorded as paused, and continued.
	if err := o.Pause(ctx, recovery); err != nil {
		return nil, fmt.Errorf("cannot pause: %w", err)
	}
	shown, err := u.reconcile(ctx, "paused; the unit stays a member that is down until action resume")
	if err != nil { // otherwise its status would still show a healthy unit
		err = errors.Join(fmt.Errorf("the unit is paused, and could not tell its peers: %w", err), u.setPaused(ctx))
	}
	return shown, err
}

// resume starts again what pause has stopped.
func resume(ctx context.Context, u Unit, _ params) (results, error) {
	o, err := u.Operate()
	if err != nil {
		return nil, err
	}
	paused := o.Paused
	if err := o.Resume(); err != nil {
		return nil, err
	}
	if !paused {
		return u.reconcile(ctx, "the unit was not paused")
	}
	return u.reconcile(ctx, "resumed")
}

// reconcile converges, so that the status and what is published follow.
func (u Unit) reconcile(ctx context.Context, done string) (results, error) {
	o, err := u.Reconciler.Reconcile(ctx, true)
	if err != nil {
		return nil, err
	}
	word, text := u.Reconciler.Status(o)
	if err := u.Tools.StatusSet(ctx, word, text); err != nil {
		return nil, err
	}
	return results{"result": done, "status": fmt.Sprintf("%s: %s", word, text)}, nil
}

// holdNorthd keeps this unit's ovn-northd from running.
func holdNorthd(ctx context.Context, u Unit, _ params) (results, error) {
	o, err := u.Operate()
	if err == nil {
		err = o.HoldNorthd(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot hold ovn-northd: %w", err)
	}
	return u.reconcile(ctx, "ovn-northd is held here until action release-northd")
}

// releaseNorthd lets it run again.
func releaseNorthd(ctx context.Context, u Unit, _ params) (results, error) {
	o, err := u.Operate()
	held := o.NorthdHeld
	if err == nil {
		err = o.ReleaseNorthd()
	}
	if err != nil {
		return nil, fmt.Errorf("cannot release ovn-northd: %w", err)
	}
	if !held {
		return u.reconcile(ctx, "ovn-northd was not held here")
	}
	return u.reconcile(ctx, "released")
}

// restartServices restarts what is named, or what is held back.
func restartServices(ctx context.Context, u Unit, p params) (results, error) {
	deferred, err := p.flag("deferred-only")
	if err != nil {
		return nil, err
	}
	services, err := p.text("services")
	if err != nil {
		return nil, err
	}
	names := strings.FieldsFunc(services, func(r rune) bool { return r == ' ' || r == ',' })
	if deferred == (len(names) > 0) {
		return nil, errors.New("give either deferred-only=true, or services: ovn-ovsdb-server-nb, ovn-ovsdb-server-sb, " +
			"ovn-northd, or ovn-central for all three")
	}
	return u.restart(ctx, names)
}

func runDeferredHooks(ctx context.Context, u Unit, _ params) (results, error) {
	return u.restart(ctx, nil)
}

func (u Unit) restart(ctx context.Context, names []string) (results, error) {
	o, err := u.Operate()
	if err != nil {
		return results{}, err
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

// deferredEvent is one restart that is held back, as a document.
type deferredEvent struct {
	Service string `json:"service" yaml:"service"`
	Action  string `json:"action" yaml:"action"`
	Reason  string `json:"reason" yaml:"reason"`
}

// deferredDocument are those events as the Python charm shows them, which programs
// read (show_deferred_events_action_helper of charm-helpers): of each restart one text,
// with the second of the event, the service in 40 columns, and the reason. When is not
// known here, and hooks are never held back.
type deferredDocument struct {
	Hooks    []string `yaml:"hooks"`
	Restarts []string `yaml:"restarts"`
}

// showDeferredEvents lists the restarts that are held back.
func showDeferredEvents(ctx context.Context, u Unit, p params) (results, error) {
	format, err := p.format()
	if err != nil {
		return nil, err
	}
	o, err := u.Operate()
	if err != nil {
		return nil, err
	}
	pending, err := o.Deferred(ctx)
	if err != nil {
		return nil, err
	}
	shown, err := deferredOutput(pending, format)
	return results{"output": shown}, err
}

// deferredOutput are the restarts, each with its reason, in the form that is asked for.
func deferredOutput(pending map[ovndb.Service]string, format string) (shown string, err error) {
	events, text, document := []deferredEvent{}, []string{}, deferredDocument{[]string{}, []string{}}
	for _, service := range plan.RestartOrder() {
		if reason := pending[service]; reason != "" {
			events = append(events, deferredEvent{string(service), "restart", reason})
			text = append(text, fmt.Sprintf("restart %s: %s", service, reason))
			document.Restarts = append(document.Restarts, fmt.Sprintf("%d %-40s %s", 0, service, reason))
		}
	}
	// If all are to be restarted, programs look for the one that represents them.
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

// setPaused sets the status of a unit whose state could not be found out after the pause.
func (u Unit) setPaused(ctx context.Context) error {
	resume := finding.Do(command.Command{Unit: u.Env.Unit, Action: "resume"})
	paused := finding.New(finding.Paused, finding.Subject{}, finding.Args{}, resume)
	word, text := present.Workload(u.Env.Version, []finding.Finding{paused})
	return u.Tools.StatusSet(ctx, word, text)
}
