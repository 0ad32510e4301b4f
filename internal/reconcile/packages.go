package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// parse reads the options. Each that can't be used is named with its reason.
func (u *Reconciler) parse(config map[string]any) (plan.Settings, map[string]string) {
	invalid := map[string]string{}
	s, err := plan.ParseSettings(config)
	all := plan.OptionErrors(nil)
	_ = errors.As(err, &all)
	for _, option := range all {
		invalid[option.Option] = option.Reason()
	}
	for option, value := range map[string]string{plan.OptionSource: s.Source, plan.OptionOverlay: s.Overlay} {
		if _, err := apt.ParseSource(value, u.OS); err != nil && invalid[option] == "" {
			invalid[option] = fmt.Sprintf("%.60q: %v", value, err)
		}
	}
	return s, invalid
}

// tooNew reports whether a server that is down has ended because it is older than its file,
// and would again: it is the installed one.
func (u *Reconciler) tooNew(ctx context.Context, p pass, db ovndb.Database) bool {
	installed, _, err := p.record.packages.Installed(ctx)
	if runs, started := p.record.restarts.Runs(ovndb.ServiceOf(db)); err == nil && started && !runs.Is(installed) {
		return false
	}
	tooNew, err := ovsctl.FileTooNew(u.Paths, db)
	if err != nil {
		u.Log.WarnContext(ctx, "cannot tell whether the file is too new for these packages", "database", db.Short(), "error", err)
	}
	return tooNew
}

// mayDoWithout reports whether the unit continues with the packages that it has after newer ones could not be had: for a
// server that is down, and for all that must not wait for an interrupted upgrade.
func (p pass) mayDoWithout(s plan.Step) bool {
	switch {
	case p.record.packages.Unavailable():
		return false
	case s.Kind == plan.Upgrade:
		return idle(p.result)
	}
	return s.Kind == plan.Install && p.result.state.Packages.Interrupted()
}

// idle reports whether a server of this unit is down.
func idle(o Result) bool {
	return slices.ContainsFunc(ovndb.Databases(), func(db ovndb.Database) bool { return o.Servers[db].Condition == ovndb.Down })
}
