package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// Masked and enabled units are links below /etc/systemd/system, as with systemd itself.

const systemDir = "/etc/systemd/system"

// runtimeDir has the links that the next boot removes.
const runtimeDir = "/run/systemd/system"

func (m *Machine) unitLink(unit string) string {
	return filepath.Join(m.path(systemDir), fileOf(unit))
}

// fileOf returns the name of a unit's file. A unit without a suffix is a service.
func fileOf(unit string) string {
	if strings.HasSuffix(unit, timer) {
		return unit
	}
	return unit + ".service"
}

// timer is the suffix of timers, which never fire here.
const timer = ".timer"

func (m *Machine) wantsDir() string {
	return filepath.Join(m.path(systemDir), "multi-user.target.wants")
}

// installLinks returns the links that enable a unit: path without the machine's directory → target.
func (u *unitFile) installLinks() map[string]string {
	links := map[string]string{}
	for _, target := range u.wantedBy {
		links[filepath.Join(systemDir, target+".wants", fileOf(u.name))] = u.path
	}
	for _, alias := range u.aliases {
		links[filepath.Join(systemDir, alias+".service")] = u.path
	}
	return links
}

func (m *Machine) setLink(link, target string, there bool) error {
	file := m.path(link)
	switch old, err := os.Readlink(file); {
	case there && err == nil && old == target:
		return nil
	case there && err == nil:
		return fmt.Errorf("File %s already exists and is a symlink to %s", link, old) //nolint:staticcheck // systemd's words
	case there:
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.Symlink(target, file)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return os.Remove(file)
}

func (m *Machine) setEnabled(u *unitFile, enabled bool) error {
	for link, target := range u.installLinks() {
		if err := m.setLink(link, target, enabled); err != nil {
			return err
		}
	}
	return nil
}

func (m *Machine) setMasked(unit string, masked, runtime bool) error {
	link := filepath.Join(systemDir, unit+".service")
	if runtime {
		link = filepath.Join(runtimeDir, unit+".service")
	}
	if target, _ := os.Readlink(m.path(link)); !masked && target != os.DevNull {
		return nil
	}
	return m.setLink(link, os.DevNull, masked)
}

func (m *Machine) unitFileState(name string) string {
	u, err := m.unit(name)
	switch {
	case err != nil:
		return ""
	case u.runtime:
		return "masked-runtime"
	case u.masked:
		return "masked"
	case u.name != name:
		return "alias"
	case len(u.wantedBy) == 0 && len(u.aliases) == 0:
		return "static"
	}
	for link := range u.installLinks() {
		if _, err := os.Lstat(m.path(link)); err == nil {
			return "enabled"
		}
	}
	return "disabled"
}

// booted returns the units that start with the machine.
func (m *Machine) booted() []string {
	files, _ := filepath.Glob(filepath.Join(m.wantsDir(), "*.service"))
	return unitNames(files)
}

func (c *command) say(text string) {
	if !c.quiet {
		fmt.Fprintln(&c.out, text)
	}
}

func (c *command) active(name string) string {
	u, err := c.unit(name)
	if err != nil {
		return stateInactive
	}
	return c.state(c.service(u.name))
}

// query is is-active or is-enabled: 0 if that is true for one unit.
func (c *command) query(verb string, units []string) int {
	good, unknown, missing := false, true, false
	if len(units) == 0 {
		return c.each(units, nil)
	}
	for _, unit := range units {
		if _, err := c.unit(unit); err != nil {
			if verb == "is-enabled" {
				missing = true
				fmt.Fprintf(&c.errs, "Failed to get unit file state for %s.service: No such file or directory\n", unit)
			} else {
				c.say(stateInactive)
			}
			continue
		}
		unknown = false
		state := c.active(unit)
		if verb == "is-active" {
			good = good || state == stateActive
		} else {
			state = c.unitFileState(unit)
			good = good || slices.Contains([]string{"enabled", "static", "alias"}, state)
		}
		c.say(state)
	}
	switch {
	case good && !missing:
		return 0
	case verb != "is-active":
		return exitFailure
	case unknown:
		return exitUnknown
	}
	return exitNotActive
}

// running is is-system-running; --wait waits for all jobs.
func (c *command) running() int {
	if c.wait {
		poll.Await(context.Background(), jobTimeout, interval, nil, func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.jobs == 0
		})
	}
	return 0
}

func (c *command) unitFile(verb, name string) int {
	u, err := c.unit(name)
	masking := verb == "mask" || verb == "unmask"
	switch {
	case masking: // also of a unit that does not exist
	case err != nil:
		fmt.Fprintf(&c.errs, "Failed to %s unit: Unit file %s.service does not exist.\n", verb, name)
		return exitFailure
	case u.masked && verb == "enable":
		fmt.Fprintf(&c.errs, "Failed to enable unit: Unit file %s/%s.service is masked.\n", systemDir, name)
		return exitFailure
	case u.masked && verb == "disable":
		return 0
	}
	if masking {
		err = c.setMasked(name, verb == "mask", c.runtime)
	} else {
		err = c.setEnabled(u, verb == "enable")
	}
	if err != nil {
		fmt.Fprintf(&c.errs, "Failed to %s unit: %v\n", verb, err)
		return exitFailure
	}
	return 0
}

// show prints properties as NAME=VALUE, or with --value as VALUE, with an empty line between units, in systemd's order.
func (c *command) show(units []string) int {
	return c.each(units, func(name string) int {
		if c.out.Len() > 0 {
			c.say("")
		}
		for _, property := range c.describe(name) {
			switch {
			case len(c.properties) > 0 && !slices.Contains(c.properties, property[0]):
			case c.value:
				c.say(property[1])
			default:
				c.say(property[0] + "=" + property[1])
			}
		}
		return 0
	})
}

func (c *command) describe(name string) [][2]string {
	u, err := c.unit(name)
	load, file := "loaded", c.unitFileState(name)
	switch {
	case err != nil:
		load, u = "not-found", &unitFile{name: name}
	case u.masked:
		load = "masked"
	}
	s := &service{active: stateInactive}
	if err == nil {
		s = c.service(u.name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	main := 0
	if s.main != nil {
		main = s.main.pid
	}
	since := ""
	if n := len(s.starts); n > 0 {
		since = s.starts[n-1].UTC().Format("Mon 2006-01-02 15:04:05 MST")
	}
	return [][2]string{
		{"MainPID", strconv.Itoa(main)},
		{"Id", u.name + ".service"},
		{"LoadState", load},
		{"ActiveState", s.active},
		{"UnitFileState", file},
		{"ActiveEnterTimestamp", since}, // zaza compares it (tests/dropin)
		{"InvocationID", s.invocation},
	}
}
