package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Exit codes of systemctl(1), table "Exit status", and systemd's states.
const (
	exitFailure   = 1
	exitNotActive = 3
	exitUnknown   = 4
	exitNotFound  = 5

	stateActive     = "active"
	stateActivating = "activating"
	stateInactive   = "inactive"
	stateFailed     = "failed"
)

// jobTimeout bounds one call of systemctl: a start and a stop.
const jobTimeout = defaultStartTimeout + defaultStopTimeout

// Systemctl runs one systemctl command on the machine. It knows the verbs that a charm needs. It finishes a command
// even if the caller ends. If the machine is off, it answers queries from the disk: nothing runs.
func (m *Machine) Systemctl(ctx context.Context, args []string) Reply {
	answer, err := m.ask(ctx, args)
	if err != nil && len(args) > 0 && slices.Contains([]string{"is-active", "is-enabled", "show"}, args[0]) && !m.On() {
		answer, err = newManager(m).systemctl(args), nil
	}
	if err != nil {
		// The message of a machine on which systemd does not run.
		return Reply{Errors: "Failed to connect to bus: No such file or directory\n", Code: exitFailure}
	}
	return answer
}

func (m *Machine) ask(ctx context.Context, args []string) (answer Reply, err error) {
	ctx, cancel := context.WithTimeout(ctx, jobTimeout)
	defer cancel()
	connection, err := m.dial(ctx)
	if err != nil {
		return answer, err
	}
	defer connection.Close()
	defer context.AfterFunc(ctx, func() { connection.Close() })()
	if err := json.NewEncoder(connection).Encode(request{args}); err != nil {
		return answer, err
	}
	return answer, json.NewDecoder(connection).Decode(&answer)
}

// dial connects to the init, which may not listen yet.
func (m *Machine) dial(ctx context.Context) (net.Conn, error) {
	for {
		connection, err := (&net.Dialer{}).DialContext(ctx, "unix", m.initSocket())
		if err == nil {
			return connection, nil
		}
		if _, on := m.init(); !on {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(interval):
		}
	}
}

type command struct {
	*manager
	out, errs                   bytes.Buffer
	quiet, runtime, value, wait bool
	signal                      string
	properties                  []string
}

func (m *manager) systemctl(args []string) Reply {
	c := &command{manager: m}
	code := c.run(args)
	return Reply{c.out.String(), c.errs.String(), code}
}

func (c *command) run(args []string) int {
	options := pflag.NewFlagSet("systemctl", pflag.ContinueOnError)
	options.SetOutput(&c.errs)
	options.BoolVarP(&c.quiet, "quiet", "q", false, "")
	options.BoolVar(&c.runtime, "runtime", false, "")
	options.BoolVar(&c.value, "value", false, "")
	options.BoolVar(&c.wait, "wait", false, "")
	options.StringVarP(&c.signal, "signal", "s", "", "")
	options.StringSliceVarP(&c.properties, "property", "p", nil, "")
	if err := options.Parse(args); err != nil {
		fmt.Fprintln(&c.errs, "systemctl:", err)
		return exitFailure
	}
	words := options.Args()
	if len(words) == 0 {
		fmt.Fprintln(&c.errs, "systemctl: a command is needed")
		return exitFailure
	}
	units := unitNames(words[1:])
	switch verb := words[0]; verb {
	case "daemon-reload":
		return 0
	case "is-system-running":
		return c.running()
	case "start", "stop", "restart":
		return c.each(units, func(unit string) int { return c.report(unit, verb, c.job(verb, unit)) })
	case "kill":
		return c.each(units, c.kill)
	case "enable", "disable", "mask", "unmask":
		return c.each(units, func(unit string) int { return c.unitFile(verb, unit) })
	case "is-active", "is-enabled":
		return c.query(verb, units)
	case "show":
		return c.show(units)
	case runningVerb:
		return c.listRunning()
	case resumeVerb:
		return c.resume(units)
	default:
		fmt.Fprintf(&c.errs, "Unknown command verb %s.\n", verb)
		return exitFailure
	}
}

// unitNames returns names of units or files, without directory and ".service".
func unitNames(files []string) (names []string) {
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".service"))
	}
	return names
}

func (c *command) each(units []string, f func(string) int) int {
	if len(units) == 0 {
		fmt.Fprintln(&c.errs, "Too few arguments.")
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
