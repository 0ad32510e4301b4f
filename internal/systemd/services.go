// Package systemd starts and stops OVN's services, reads their states, checks whether their processes live, and
// renders the files with their options.
package systemd

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// serviceTimeout bounds one systemctl call: systemd gives each service 15 s to stop (TimeoutStopSec).
const serviceTimeout = 90 * time.Second

// Services controls the package's services with systemctl.
type Services struct {
	Runner run.Runner
	// Paths has the services' pid files. Without Paths they are not read.
	Paths ovndb.Paths
}

// StopForGood stops and disables all services, so that a reboot does not start a server without its database.
func (s Services) StopForGood(ctx context.Context) error {
	if err := s.Stop(ctx, ovndb.AllServices()...); err != nil {
		return err
	}
	return s.Disable(ctx, ovndb.AllServices()...)
}

// Start starts the services in this order. When it returns, a server may not have found its cluster yet. It returns
// an error if a service is masked.
func (s Services) Start(ctx context.Context, services ...ovndb.Service) error {
	if err := s.dropForeignPIDs(services); err != nil {
		return err
	}
	return s.systemctl(ctx, services, "start")
}

// Stop stops the services and returns when they are down. Services that are not installed are ignored.
func (s Services) Stop(ctx context.Context, services ...ovndb.Service) error {
	if err := s.dropForeignPIDs(services); err != nil {
		return err
	}
	return ignoreAbsent(s.systemctl(ctx, services, "stop"))
}

// Restart stops and starts the services. It is not for the server of a database, which ovsctl hands over.
func (s Services) Restart(ctx context.Context, services ...ovndb.Service) error {
	if err := s.dropForeignPIDs(services); err != nil {
		return err
	}
	return s.systemctl(ctx, services, "restart")
}

// Enable makes the services start at boot.
func (s Services) Enable(ctx context.Context, services ...ovndb.Service) error {
	return s.systemctl(ctx, services, "enable")
}

// Disable undoes Enable. Services that are not installed are ignored.
func (s Services) Disable(ctx context.Context, services ...ovndb.Service) error {
	return ignoreAbsent(s.systemctl(ctx, services, "disable"))
}

// Reload makes systemd read its files again.
func (s Services) Reload(ctx context.Context) error { return s.systemctl(ctx, nil, "daemon-reload") }

// Version returns the release of the running systemd, such as 252.
func (s Services) Version(ctx context.Context) (int, error) {
	out, err := s.show(ctx, "--property=Version", "--value")
	if err != nil {
		return 0, fmt.Errorf("cannot ask systemd for its version: %w", err)
	}
	text := strings.TrimPrefix(strings.TrimSpace(out), "v")
	version, err := strconv.Atoi(text[:len(text)-len(strings.TrimLeft(text, "0123456789"))])
	if err != nil {
		return 0, fmt.Errorf("cannot read systemd's version: %q", text)
	}
	return version, nil
}

// HangUp sends a service SIGHUP.
func (s Services) HangUp(ctx context.Context, service ovndb.Service) error {
	return s.systemctl(ctx, []ovndb.Service{service}, "kill", "--signal=HUP")
}

// Active reports whether a service runs or is starting.
func (s Services) Active(ctx context.Context, service ovndb.Service) (bool, error) {
	out, err := s.show(ctx, shown, string(service)+".service")
	if err != nil {
		return false, fmt.Errorf("cannot ask systemd about %s: %w", service, err)
	}
	_, state, err := parseState(out)
	return state.Running() || state.Active == "activating", err
}

// Hold prevents starts of the services until [Services.Release] or the next boot. It does not stop them.
func (s Services) Hold(ctx context.Context, services ...ovndb.Service) error {
	return s.systemctl(ctx, services, "mask", "--runtime")
}

// Release undoes Hold.
func (s Services) Release(ctx context.Context, services ...ovndb.Service) error {
	return s.systemctl(ctx, services, "unmask", "--runtime")
}

// Mask prevents every program, including packages' scripts, from starting the services until [Services.Unmask]. It
// does not stop them. They need not be installed.
func (s Services) Mask(ctx context.Context, services ...ovndb.Service) error {
	return s.systemctl(ctx, services, "mask")
}

// Unmask undoes Mask, and the [Services.Hold] of an interrupted upgrade.
func (s Services) Unmask(ctx context.Context, services ...ovndb.Service) error {
	if err := s.systemctl(ctx, services, "unmask"); err != nil {
		return err
	}
	return s.systemctl(ctx, services, "unmask", "--runtime")
}

// absent matches the output of systemctl if it only fails for units that are not installed, with a line for each.
var absent = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(Failed to (stop|disable) .*(not loaded|does not exist|not found)\.?\n?)+$`)
})

func ignoreAbsent(err error) error {
	failed := (*run.Error)(nil)
	if errors.As(err, &failed) && !run.Missing(err) && absent().MatchString(failed.Stderr) {
		return nil
	}
	return err
}

func (s Services) systemctl(ctx context.Context, services []ovndb.Service, verb ...string) error {
	ctx, cancel := context.WithTimeout(ctx, serviceTimeout)
	defer cancel()
	args := verb
	for _, service := range services {
		args = append(args, string(service))
	}
	if _, err := s.Runner.Run(ctx, run.Command{Name: "systemctl", Args: args}); err != nil {
		return fmt.Errorf("cannot %s the services: %w", verb[0], err)
	}
	return nil
}
