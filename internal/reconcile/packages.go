package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// payload is what is installed of the databases' packages.
type payload struct {
	version   ovndb.Version
	installed bool
}

// installed asks dpkg once a hook, and again after a step of this unit's that changes
// packages. An upgrade by another process meanwhile is seen by the next hook.
func (u *Reconciler) installed(ctx context.Context, g *progress) (version ovndb.Version, installed bool, err error) {
	if g.payload == nil {
		var p payload
		if p.version, p.installed, err = u.Packages.Installed(ctx); err != nil {
			return p.version, false, err
		}
		g.payload = &p
	}
	return g.payload.version, g.payload.installed, nil
}

// install leaves the services masked: the packages would start them, and they
// would make databases of their own.
func (u *Reconciler) install(ctx context.Context, r *record, a inputs) error {
	if r.Source == "" {
		if err := u.Services.Mask(ctx, u.allServices()...); err != nil {
			return err
		}
	} else if done, err := u.Packages.Finish(ctx); done || err != nil { // an upgrade was cut off
		return err
	}
	if err := u.setSources(ctx, a); err != nil {
		return err
	}
	if err := u.Packages.Install(ctx); err != nil {
		return err
	}
	// What is finished of an upgrade may lack a package that the others do without in
	// their older versions: it is taken next.
	r.Source = cmp.Or(r.Source, a.settings.AllSources())
	return nil
}

// setSources makes the packages come from where the options say, and from where they said before
// no longer.
func (u *Reconciler) setSources(ctx context.Context, a inputs) error {
	var sources []apt.Source
	for _, value := range []string{a.settings.Source, a.settings.Overlay} {
		source, err := apt.ParseSource(value, u.OS)
		if err != nil {
			return err
		}
		sources = append(sources, source)
	}
	return u.Packages.SetSources(ctx, sources...)
}

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

// upgrade takes newer packages, if there are any, and leaves what runs as it is:
// that then runs another version than is installed, and is restarted next.
func (u *Reconciler) upgrade(ctx context.Context, p pass) error {
	if err := u.setSources(ctx, p.inputs); err != nil {
		return err
	}
	if err := u.Packages.Upgrade(ctx); err != nil {
		return err
	}
	p.record.Source = p.inputs.settings.AllSources()
	after, _, err := u.Packages.Installed(ctx)
	p.progress.unavailable = err == nil && after == p.result.state.Packages.Version
	return err
}

// running are the versions that this unit's services run, each once, those that a
// restart ends first; none while one of its servers was never started.
func (r *record) running(installed ovndb.Version) (all []ovndb.Version) {
	for _, service := range plan.RestartOrder() {
		version, started := r.Running[service]
		switch {
		case !started && service != ovndb.Northd:
			return nil
		case started && !slices.Contains(all, version):
			all = append(all, version)
		}
	}
	slices.SortFunc(all, func(a, b ovndb.Version) int {
		if (a == installed) != (b == installed) {
			return order(b == installed, -1, 1)
		}
		return strings.Compare(a.String(), b.String())
	})
	return all
}

func order(which bool, yes, no int) int {
	if which {
		return yes
	}
	return no
}

// complete finds out which Open vSwitch the services run that were started before
// this charm remembered it: the servers say it, without the packages' revision.
// ovn-northd has its own in itself.
func (u *Reconciler) complete(ctx context.Context, r *record, installed ovndb.Version) {
	for service, version := range r.Running {
		if version.OVS != "" || installed.OVS == "" {
			continue
		}
		if version.OVS = installed.OVS; service != ovndb.Northd {
			runs, err := u.Control.Version(ctx, databaseOf(service))
			if err != nil {
				u.Log.InfoContext(ctx, "cannot tell which Open vSwitch runs", "service", service, "error", err)
				continue
			}
			// A snapshot of what was to become a release says the one before it.
			if was := upstream(installed.OVS); runs != was && !strings.Contains(was, "~") {
				version.OVS = runs
			}
		}
		r.Running[service] = version
	}
}

func databaseOf(service ovndb.Service) ovndb.Database {
	if service == ovndb.SouthboundServer {
		return ovndb.SB
	}
	return ovndb.NB
}

// tooNew says whether a server that is down has ended for being older than its file,
// and would again: it is the one that is installed.
func (u *Reconciler) tooNew(ctx context.Context, p pass, db ovndb.Database) bool {
	if runs, started := p.record.Running[ovndb.ServiceOf(db)]; started && !runs.Is(p.progress.payload.version) {
		return false
	}
	tooNew, err := ovsctl.FileTooNew(u.Paths, db)
	if err != nil {
		u.Log.WarnContext(ctx, "cannot tell whether the file is too new for these packages", "database", db.Short(), "error", err)
	}
	return tooNew
}

// mayDoWithout says whether what there is of the packages may do, once they could not be had: for a
// server that is down, and for all that must not wait for an upgrade that was cut off.
func (p pass) mayDoWithout(s plan.Step) bool {
	switch {
	case p.progress.unavailable:
		return false
	case s.Kind == plan.Upgrade:
		return idle(p.result)
	}
	return s.Kind == plan.Install && p.result.state.Packages.Interrupted()
}

// idle says whether a server of this unit is down.
func idle(o Result) bool {
	return slices.ContainsFunc(ovndb.Databases(), func(db ovndb.Database) bool { return server(o, db).Condition == ovndb.Down })
}
