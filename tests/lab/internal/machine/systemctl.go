package machine

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Exit codes of systemctl(1), table "Exit status".
const (
	exitFailure     = 1
	exitNotActive   = 3
	exitUnknown     = 4
	exitNotFound    = 5
	jobTimeout      = 90 * time.Second // DefaultTimeoutStopSec
	stateActive     = "active"
	stateInactive   = "inactive"
	stateFailed     = "failed"
	unitFileEnabled = "enabled"
)

// command is one call of systemctl.
type command struct {
	*Machine
	out, errs  io.Writer
	now, quiet bool
	value      bool
	properties []string
}

// Systemctl runs one systemctl command on the machine and returns its exit code.
// It knows the verbs that a charm needs; what differs from systemd: a service
// that dies isn't restarted (the units say Restart=on-failure), so that what was
// killed stays dead until it is started.
func (m *Machine) Systemctl(ctx context.Context, out, errs io.Writer, args []string) int {
	ctx, cancel := context.WithTimeout(ctx, jobTimeout)
	defer cancel()
	c := &command{Machine: m, out: out, errs: errs}
	words, err := c.options(args)
	if err != nil {
		fmt.Fprintln(errs, err)
		return exitFailure
	}
	if len(words) == 0 {
		fmt.Fprintln(errs, "systemctl: a command is needed")
		return exitFailure
	}
	units := words[1:]
	for i := range units {
		units[i] = strings.TrimSuffix(units[i], ".service")
	}
	switch verb := words[0]; verb {
	case "daemon-reload", "daemon-reexec":
		return 0
	case "reset-failed":
		return c.resetFailed(units)
	case "start", "stop", "restart", "try-restart":
		return c.each(units, func(unit string) int { return c.job(ctx, verb, unit) })
	case "enable", "disable", "mask", "unmask":
		return c.each(units, func(unit string) int { return c.unitFile(ctx, verb, unit) })
	case "is-active", "is-failed", "is-enabled":
		return c.query(verb, units)
	case "show":
		return c.each(units, c.show)
	default:
		fmt.Fprintf(errs, "Unknown command verb %s.\n", verb)
		return exitFailure
	}
}

// options takes the options out of args. Those that only change what a person
// sees are accepted and ignored.
func (c *command) options(args []string) ([]string, error) {
	var words []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		name, value, has := strings.Cut(arg, "=")
		switch {
		case !strings.HasPrefix(arg, "-"):
			words = append(words, arg)
		case name == "--now":
			c.now = true
		case name == "--quiet" || name == "-q":
			c.quiet = true
		case name == "--value":
			c.value = true
		case name == "-p" || name == "--property":
			if !has {
				if i++; i == len(args) {
					return nil, fmt.Errorf("systemctl: option requires an argument -- '%s'", strings.TrimLeft(name, "-"))
				}
				value = args[i]
			}
			c.properties = append(c.properties, strings.Split(value, ",")...)
		case slices.Contains([]string{"--no-block", "--no-pager", "--no-ask-password", "--system", "--full", "-l", "--no-legend", "--plain", "--force", "-f", "--no-reload", "--wait"}, name):
		default:
			return nil, fmt.Errorf("systemctl: unrecognized option '%s'", arg)
		}
	}
	return words, nil
}

// each runs f for every unit and returns the last code that isn't 0.
func (c *command) each(units []string, f func(string) int) int {
	if len(units) == 0 {
		fmt.Fprintln(c.errs, "Too few arguments.")
		return exitFailure
	}
	code := 0
	for _, unit := range units {
		if one := f(unit); one != 0 {
			code = one
		}
	}
	return code
}

func known(unit string) bool { return unit == Umbrella || services[unit] != nil }

// job starts or stops one unit. What is part of the umbrella follows it, but
// `systemctl stop ovn-central` returns before its parts are down, as measured
// with systemd 252: they have jobs of their own.
func (c *command) job(ctx context.Context, verb, unit string) int {
	action := strings.TrimPrefix(verb, "try-")
	switch {
	case !known(unit) && action == "stop":
		fmt.Fprintf(c.errs, "Failed to stop %s.service: Unit %s.service not loaded.\n", unit, unit)
		return exitNotFound
	case !known(unit):
		fmt.Fprintf(c.errs, "Failed to %s %s.service: Unit %s.service not found.\n", action, unit, unit)
		return exitNotFound
	case verb == "try-restart" && c.active(unit) != stateActive:
		return 0
	case action != "stop" && c.flag(unit, masked):
		fmt.Fprintf(c.errs, "Failed to %s %s.service: Unit %s.service is masked.\n", action, unit, unit)
		return exitFailure
	}
	var err error
	if unit == Umbrella {
		err = c.umbrella(action)
	} else {
		if action != "start" {
			err = c.stop(ctx, services[unit])
		}
		if action != "stop" && err == nil {
			err = c.start(services[unit])
		}
	}
	if err != nil {
		fmt.Fprintf(c.errs, "Job for %s.service failed: %v\n", unit, err)
		return exitFailure
	}
	return 0
}

func (c *command) umbrella(action string) error {
	if err := c.setFlag(Umbrella, started, action != "stop"); err != nil {
		return err
	}
	var wanted, follow []string
	for _, part := range parts {
		if !c.flag(part, masked) {
			wanted = append(wanted, part)
		}
		if c.active(part) == stateActive {
			follow = append(follow, part)
		}
	}
	switch action {
	case "start":
		for _, part := range wanted {
			if err := c.start(services[part]); err != nil {
				return err
			}
		}
		return nil
	case "restart":
		return c.later(append([]string{"restart"}, wanted...))
	}
	return c.later(append([]string{"stop"}, follow...))
}

// later runs a further systemctl that this one doesn't wait for.
func (c *command) later(args []string) error {
	if len(args) < 2 {
		return nil
	}
	link := filepath.Join(c.BinDir(), "systemctl")
	return c.spawn(fmt.Sprintf("job-%d", os.Getpid()), append([]string{link}, args...))
}

// SystemctlMain is the program systemctl: argv0 is how it was called, which says
// whose machine it is on.
func SystemctlMain(argv0 string, args []string) int {
	m, err := ofLink(argv0)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailure
	}
	if !report("systemctl", args) {
		return exitFailure
	}
	// systemd finishes what it was asked for, whatever becomes of the asker: when
	// the hook's process group is killed, this process isn't in it.
	_, _ = syscall.Setsid()
	return m.Systemctl(context.Background(), os.Stdout, os.Stderr, args)
}
