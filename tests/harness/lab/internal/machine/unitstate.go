package machine

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

func (c *command) say(text string) {
	if !c.quiet {
		fmt.Fprintln(&c.out, text)
	}
}

// note prints systemctl's message about what it did, on stderr.
func (c *command) note(text string) {
	if !c.quiet {
		c.errs.WriteString(text)
	}
}

// active is systemd's ActiveState.
func (c *command) active(name string) string {
	u, err := c.unit(name)
	if err != nil {
		return stateInactive
	}
	return c.state(c.service(u.name))
}

// query is is-active or is-enabled: 0 where it is so for one unit.
func (c *command) query(verb string, units []string) int {
	good, unknown, missing := false, true, false
	if len(units) == 0 {
		return c.each(units, nil)
	}
	for _, unit := range units {
		if _, err := c.unit(unit); err != nil {
			if verb == "is-enabled" {
				missing = true
				c.note(fmt.Sprintf("Failed to get unit file state for %s.service: No such file or directory\n", unit))
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

// running is is-system-running, which with --wait waits until the jobs of the
// boot, and all others, are done.
func (c *command) running() int {
	busy := true
	for end := time.Now().Add(jobTimeout); c.wait && busy && time.Now().Before(end); {
		c.mu.Lock()
		busy = c.jobs > 0
		c.mu.Unlock()
		if busy {
			time.Sleep(poll)
		}
	}
	return 0
}

// unitFile enables, disables, masks or unmasks one unit. The words are those of
// systemd 252.
func (c *command) unitFile(verb, name string) int {
	u, err := c.unit(name)
	masking := verb == "mask" || verb == "unmask"
	switch {
	case err != nil && masking:
		c.note(fmt.Sprintf("Unit %s.service does not exist, proceeding anyway.\n", name))
	case err != nil:
		fmt.Fprintf(&c.errs, "Failed to %s unit: Unit file %s.service does not exist.\n", verb, name)
		return exitFailure
	case u.masked && verb == "enable":
		fmt.Fprintf(&c.errs, "Failed to enable unit: Unit file %s/%s.service is masked.\n", systemDir, name)
		return exitFailure
	case u.masked && verb == "disable":
		c.note(fmt.Sprintf("Unit %s/%s.service is masked, ignoring.\n", systemDir, name))
		return 0
	case verb == "enable" && len(u.installLinks()) == 0:
		c.note(noInstallation)
		return 0
	}
	var said string
	if masking {
		said, err = c.setMasked(name, verb == "mask", c.runtime)
	} else {
		said, err = c.setEnabled(u, verb == "enable")
	}
	c.note(said)
	if err != nil {
		fmt.Fprintf(&c.errs, "Failed to %s unit: %v\n", verb, err)
		return exitFailure
	}
	return 0
}

// noInstallation begins systemctl's message about a unit that can't be enabled.
const noInstallation = "The unit files have no installation config (WantedBy=, RequiredBy=, Also=,\n" +
	"Alias= settings in the [Install] section, and DefaultInstance= for template\n" +
	"units). This means they are not meant to be enabled using systemctl.\n"

// show prints properties as NAME=VALUE, or with --value as VALUE, an empty line
// between units. They come in systemd's order, whatever the order asked for.
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

// describe is what is known of a unit.
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
	if !s.since.IsZero() {
		since = s.since.UTC().Format("Mon 2006-01-02 15:04:05 MST")
	}
	return [][2]string{
		{"MainPID", strconv.Itoa(main)},
		{"Id", u.name + ".service"},
		{"LoadState", load},
		{"ActiveState", s.active},
		{"UnitFileState", file},
		{"ActiveEnterTimestamp", since},
		{"InvocationID", s.invocation},
	}
}
