package converge

import (
	"context"
	"errors"
	"fmt"

	"github.com/ovn-central/ovn-central-operator/internal/deploy"
	"github.com/ovn-central/ovn-central-operator/internal/ovn"
)

// payload is what is installed of the databases' packages.
type payload struct {
	version   string
	installed bool
}

// installed asks dpkg once a hook, and again after a step of this unit's that changes
// packages. An upgrade by somebody else meanwhile is seen by the next hook.
func (u *Unit) installed(ctx context.Context, a *asked) (version string, installed bool, err error) {
	if a.payload == nil {
		var p payload
		if p.version, p.installed, err = u.Packages.Installed(ctx); err != nil {
			return "", false, err
		}
		a.payload = &p
	}
	return a.payload.version, a.payload.installed, nil
}

// install leaves the services masked: the packages would start them, and they
// would make databases of their own.
func (u *Unit) install(ctx context.Context, r *record, a *asked) error {
	if r.Source == "" { // else what is finished here is an upgrade that was cut off
		if err := u.Services.Mask(ctx, u.allServices()...); err != nil {
			return err
		}
	}
	if err := u.addSources(ctx, a); err != nil {
		return err
	}
	if err := u.Packages.Install(ctx); err != nil {
		return err
	}
	r.Source = a.settings.AllSources()
	return nil
}

func (u *Unit) addSources(ctx context.Context, a *asked) error {
	for _, value := range []string{a.settings.Source, a.settings.Overlay} {
		source, err := ovn.ParseSource(value, u.OS)
		if err != nil {
			return err
		}
		if err := u.Packages.AddSource(ctx, source); err != nil {
			return err
		}
	}
	return nil
}

// parse reads the options. Each that can't be used is named with its reason.
func (u *Unit) parse(config map[string]any) (deploy.Settings, map[string]string) {
	invalid := map[string]string{}
	s, err := deploy.ParseSettings(config)
	all := deploy.OptionErrors(nil)
	_ = errors.As(err, &all)
	for _, option := range all {
		invalid[option.Option] = option.Error()
	}
	for option, value := range map[string]string{deploy.OptionSource: s.Source, deploy.OptionOverlay: s.Overlay} {
		if _, err := ovn.ParseSource(value, u.OS); err != nil && invalid[option] == "" {
			invalid[option] = fmt.Sprintf("option %s: %v", option, err)
		}
	}
	return s, invalid
}

// upgrade takes newer packages, if there are any, and leaves what runs as it is:
// that then runs another version than is installed, and is restarted next.
func (u *Unit) upgrade(ctx context.Context, r *record, a *asked) error {
	if err := u.addSources(ctx, a); err != nil {
		return err
	}
	if err := u.Packages.Upgrade(ctx); err != nil {
		return err
	}
	r.Source = a.settings.AllSources()
	return nil
}
