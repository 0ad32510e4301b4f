package ovn

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// serviceTimeout bounds one systemctl call: the packages' units give a service
// 15 s to stop (TimeoutStopSec) before they kill it, one after another.
const serviceTimeout = 90 * time.Second

// services are the units of the ovn-central package, in the order in which they
// are stopped: first the one that writes, then the servers. ovn-central itself
// is an umbrella; stopping it returns before its parts are down.
var services = []string{"ovn-northd", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb", "ovn-central"}

// Services drives the package's services by systemctl.
type Services struct{ Runner run.Runner }

// StopForGood stops all services and disables them, so that a reboot does not
// start a server without its database. It returns when they are down.
func (s Services) StopForGood(ctx context.Context) error {
	if err := s.systemctl(ctx, append([]string{"stop"}, services...)...); err != nil {
		return err
	}
	return s.systemctl(ctx, append([]string{"disable"}, services...)...)
}

// absent is what systemctl says of a unit that is not installed, a line for each,
// after it has dealt with the others: there is nothing to stop then.
var absent = regexp.MustCompile(`^(Failed to (stop|disable) .*(not loaded|does not exist|not found)\.?\n?)+$`)

func (s Services) systemctl(ctx context.Context, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, serviceTimeout)
	defer cancel()
	_, err := s.Runner.Run(ctx, run.Command{Name: "systemctl", Args: args})
	if failed := (*run.Error)(nil); errors.As(err, &failed) && !run.Missing(err) {
		if absent.MatchString(failed.Stderr) {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("cannot %s the services: %w", args[0], err)
	}
	return nil
}
