package machine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
)

// active is systemd's ActiveState. A service that systemctl started and that is
// gone has failed; the lab doesn't see how it ended.
func (m *Machine) active(unit string) string {
	if unit == Umbrella {
		if m.flag(unit, started) {
			return stateActive
		}
		return stateInactive
	}
	_, alive := m.Find(unit)
	switch {
	case alive:
		return stateActive
	case m.flag(unit, started):
		return stateFailed
	}
	return stateInactive
}

// unitFileState is what `is-enabled` says. The package's northd unit has no
// [Install] section.
func (m *Machine) unitFileState(unit string) string {
	switch {
	case m.flag(unit, masked):
		return "masked"
	case unit == Northd:
		return "static"
	case m.flag(unit, enabled):
		return unitFileEnabled
	}
	return "disabled"
}

func (c *command) say(text string) {
	if !c.quiet {
		fmt.Fprintln(c.out, text)
	}
}

// query is is-active, is-failed or is-enabled: 0 where it is so for one unit.
func (c *command) query(verb string, units []string) int {
	good, unknown := false, true
	if len(units) == 0 {
		return c.each(units, nil)
	}
	for _, unit := range units {
		if !known(unit) {
			if verb == "is-enabled" {
				fmt.Fprintf(c.errs, "Failed to get unit file state for %s.service: No such file or directory\n", unit)
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
			good = good || state == unitFileEnabled || state == "static"
		}
		c.say(state)
	}
	switch {
	case good:
		return 0
	case verb != "is-active":
		return exitFailure
	case unknown:
		return exitUnknown
	}
	return exitNotActive
}

// unitFile enables, disables, masks or unmasks one unit; with --now it is
// started or stopped too.
func (c *command) unitFile(ctx context.Context, verb, unit string) int {
	if !known(unit) {
		fmt.Fprintf(c.errs, "Failed to %s unit: Unit file %s.service does not exist.\n", verb, unit)
		return exitFailure
	}
	if verb == "enable" && c.flag(unit, masked) {
		fmt.Fprintf(c.errs, "Failed to enable unit: Unit file /etc/systemd/system/%s.service is masked.\n", unit)
		return exitFailure
	}
	var err error
	switch verb {
	case "enable", "disable":
		err = c.setFlag(unit, enabled, verb == "enable")
	case "mask", "unmask":
		err = c.setFlag(unit, masked, verb == "mask")
	}
	if err != nil {
		fmt.Fprintf(c.errs, "Failed to %s unit: %v\n", verb, err)
		return exitFailure
	}
	switch {
	case !c.now || verb == "unmask":
		return 0
	case verb == "enable":
		return c.job(ctx, "start", unit)
	}
	return c.job(ctx, "stop", unit)
}

func (c *command) resetFailed(units []string) int {
	if len(units) == 0 {
		units = slices.Clone(parts)
	}
	return c.each(units, func(unit string) int {
		if !known(unit) {
			fmt.Fprintf(c.errs, "Failed to reset failed state of unit %s.service: Unit %s.service not loaded.\n", unit, unit)
			return exitFailure
		}
		if c.active(unit) != stateFailed {
			return 0
		}
		if err := c.setFlag(unit, started, false); err != nil {
			fmt.Fprintln(c.errs, err)
			return exitFailure
		}
		return 0
	})
}

// show prints properties as NAME=VALUE, or with --value as VALUE.
func (c *command) show(unit string) int {
	load, state, file, main := "not-found", stateInactive, "", 0
	if known(unit) {
		load, state, file = "loaded", c.active(unit), c.unitFileState(unit)
		if file == "masked" {
			load = "masked"
		}
		if p, alive := c.Find(unit); alive {
			main = p.PID
		}
	}
	sub := map[string]string{stateActive: "running", stateInactive: "dead", stateFailed: "failed"}[state]
	if unit == Umbrella && state == stateActive {
		sub = "exited"
	}
	result := "success"
	if state == stateFailed {
		result = "exit-code"
	}
	all := []struct{ name, value string }{
		{"Id", unit + ".service"},
		{"LoadState", load},
		{"ActiveState", state},
		{"SubState", sub},
		{"UnitFileState", file},
		{"MainPID", strconv.Itoa(main)},
		{"Result", result},
		{"NRestarts", "0"},
	}
	for _, property := range all {
		switch {
		case len(c.properties) > 0 && !slices.Contains(c.properties, property.name):
		case c.value:
			c.say(property.value)
		default:
			c.say(property.name + "=" + property.value)
		}
	}
	return 0
}

// Wanted are the services that systemctl was last asked to run.
func (m *Machine) Wanted() []string {
	var wanted []string
	for _, part := range parts {
		if m.flag(part, started) {
			wanted = append(wanted, part)
		}
	}
	return wanted
}
