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

// note is what systemctl says of what it did, on stderr.
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

// query is is-active, is-failed or is-enabled: 0 where it is so for one unit.
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
		switch verb {
		case "is-active":
			good = good || state == stateActive
		case "is-failed":
			good = good || state == stateFailed
		default:
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
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.services {
		if s.active == stateFailed {
			c.say("degraded")
			return exitFailure
		}
	}
	c.say("running")
	return 0
}

// unitFile enables, disables, masks or unmasks one unit; with --now it is
// started or stopped too. The words are those of systemd 252.
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
	switch {
	case !c.now || verb == "unmask" || u == nil:
		return 0
	case verb == "enable":
		return c.report(name, "start", c.job("start", name))
	}
	return c.report(name, "stop", c.job("stop", u.name))
}

// noInstallation begins what systemctl says of a unit that can't be enabled.
const noInstallation = "The unit files have no installation config (WantedBy=, RequiredBy=, Also=,\n" +
	"Alias= settings in the [Install] section, and DefaultInstance= for template\n" +
	"units). This means they are not meant to be enabled using systemctl.\n"

// timestamp is a time as systemctl shows it.
func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("Mon 2006-01-02 15:04:05 MST")
}

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
		load, u = "not-found", &unitFile{name: name, restart: "no", kind: "simple"}
	case u.masked:
		load = "masked"
	}
	s := &service{active: stateInactive, sub: "dead", result: success}
	if err == nil {
		s = c.service(u.name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	main := 0
	if s.main != nil {
		main = s.main.pid
	}
	code := 0 // CLD_EXITED, CLD_KILLED of waitid(2)
	status := 0
	if s.main == nil && !s.ended.IsZero() {
		code, status = 1, s.status.ExitStatus()
		if s.status.Signaled() {
			code, status = 2, int(s.status.Signal())
		}
	}
	return [][2]string{
		{"Type", u.kind},
		{"Restart", u.restart},
		{"PIDFile", u.pidFile},
		{"MainPID", strconv.Itoa(main)},
		{"Result", s.result},
		{"NRestarts", strconv.Itoa(s.restarts)},
		{"ExecMainStartTimestamp", timestamp(s.begun)},
		{"ExecMainExitTimestamp", timestamp(s.ended)},
		{"ExecMainPID", strconv.Itoa(s.mainPID)},
		{"ExecMainCode", strconv.Itoa(code)},
		{"ExecMainStatus", strconv.Itoa(status)},
		{"Id", u.name + ".service"},
		{"Names", u.name + ".service"},
		{"Description", u.description},
		{"LoadState", load},
		{"ActiveState", s.active},
		{"SubState", s.sub},
		{"FragmentPath", u.path},
		{"UnitFileState", file},
		{"StateChangeTimestamp", timestamp(s.changed)},
		{"NeedDaemonReload", "no"},
	}
}
