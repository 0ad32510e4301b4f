package systemd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// Properties are the state of one service, as systemd reports it.
type Properties struct {
	// Active is systemd's ActiveState: active, reloading, inactive, failed, activating or deactivating.
	Active string
	// Enabled is systemd's UnitFileState: enabled, disabled, static, masked,
	// masked-runtime and others; empty if the unit is not installed.
	Enabled string
	// Masked reports whether the service is masked, so that it can't be started; it may still run.
	Masked bool
	// Missing reports whether the unit is neither installed nor masked.
	Missing bool
	// MainPID is the process that systemd watches; 0 if the service is down. If ovn-ctl created the server's cluster, it
	// is a shell.
	MainPID int
	// Invocation changes with each start of the service (systemd.exec(5), $INVOCATION_ID); empty if it was never started.
	Invocation string
}

// Running reports whether the service is up.
func (s Properties) Running() bool { return s.Active == "active" || s.Active == "reloading" }

// shown are the [Properties], as `systemctl show` names them.
const shown = "--property=Id,LoadState,ActiveState,UnitFileState,MainPID,InvocationID"

// States returns the state of each service of the package. It asks systemd once.
func (s Services) States(ctx context.Context) (map[ovndb.Service]Properties, error) {
	args := []string{shown}
	for _, service := range ovndb.AllServices() {
		args = append(args, string(service)+".service")
	}
	out, err := s.show(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("cannot ask systemd about the services: %w", err)
	}
	states := make(map[ovndb.Service]Properties)
	for block := range strings.SplitSeq(out, "\n\n") {
		name, state, err := parseState(block)
		if err != nil {
			return nil, err
		}
		states[ovndb.Service(strings.TrimSuffix(name, ".service"))] = state
	}
	for _, service := range ovndb.AllServices() {
		if _, ok := states[service]; !ok {
			return nil, fmt.Errorf("cannot ask systemd about the services: no answer about %s", service)
		}
	}
	return states, nil
}

// show runs `systemctl show`.
func (s Services) show(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, serviceTimeout)
	defer cancel()
	out, err := s.Runner.Run(ctx, run.Command{Name: "systemctl", Args: append([]string{"show"}, args...)})
	return string(out), err
}

// parseState reads the properties of one unit, a line for each, in any order.
func parseState(block string) (id string, s Properties, err error) {
	for line := range strings.Lines(block) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch key {
		case "Id":
			id = value
		case "LoadState":
			s.Masked, s.Missing = value == "masked", value == "not-found"
		case "ActiveState":
			s.Active = value
		case "UnitFileState":
			s.Enabled = value
		case "InvocationID":
			s.Invocation = value
		case "MainPID":
			if s.MainPID, err = strconv.Atoi(value); err != nil {
				return "", s, fmt.Errorf("cannot read systemd's answer about %s: %w", id, err)
			}
		}
	}
	return id, s, nil
}

// ErrNotStartable is returned for a service that is masked or not installed.
var ErrNotStartable = errors.New("the service can't be started again")

// MakeStartable returns [ErrNotStartable] if systemd would not start the service: a restart stops a service before it
// finds that the service is masked. It removes a mask that lasts until the next boot, which an interrupted upgrade
// leaves.
func (s Services) MakeStartable(ctx context.Context, service ovndb.Service) error {
	states, err := s.States(ctx)
	if err != nil {
		return err
	}
	switch state := states[service]; {
	case state.Enabled == "masked-runtime":
		return s.Release(ctx, service)
	case state.Masked:
		return fmt.Errorf("%w: %s is masked", ErrNotStartable, service)
	case state.Missing:
		return fmt.Errorf("%w: %s is not installed", ErrNotStartable, service)
	}
	return nil
}
