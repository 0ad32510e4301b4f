package hooktool

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/model"
)

var tools = map[string]func(*call) error{
	"action-fail": actionFail, "action-get": actionGet, "action-log": actionLog, "action-set": actionSet,
	"application-version-set": applicationVersionSet,
	"close-port":              closePort, "open-port": openPort, "opened-ports": openedPorts,
	"config-get": configGet, "goal-state": goalState, "juju-log": jujuLog, "network-get": networkGet, "unit-get": unitGet,
	"is-leader": isLeader, "leader-get": leaderGet, "leader-set": leaderSet,
	"relation-get": relationGet, "relation-ids": relationIDs, "relation-list": relationList, "relation-set": relationSet,
	"state-delete": stateDelete, "state-get": stateGet, "state-set": stateSet,
	"status-get": statusGet, "status-set": statusSet,
}

// read parses the options of a tool that prints and takes at most one argument.
func read(c *call, out *output, f flags) (string, error) {
	out.flags(f, "smart", "json", "yaml")
	args, err := f.parse(c.request.Args)
	if err != nil {
		return "", usage(err)
	}
	if len(args) == 0 {
		return "", nil
	}
	return args[0], usage(none(args[1:]))
}

func isLeader(c *call) error {
	var out output
	rest, err := read(c, &out, flags{})
	if err != nil {
		return err
	}
	if rest != "" {
		return usage(none([]string{rest}))
	}
	return out.write(c, c.isLeader())
}

func leaderGet(c *call) error {
	var out output
	key, err := read(c, &out, flags{})
	if err != nil {
		return err
	}
	if strings.Contains(key, "=") {
		return usage(fmt.Errorf("invalid key %q", key))
	}
	settings := map[string]string{}
	c.Model.Do(func(s *model.State) { maps.Copy(settings, s.LeaderSettings) })
	if key == "" || key == "-" {
		return out.write(c, settings)
	}
	if value, found := settings[key]; found {
		return out.write(c, value)
	}
	return out.write(c, nil)
}

func leaderSet(c *call) error {
	args, err := flags{}.parse(c.request.Args)
	if err != nil {
		return usage(err)
	}
	values, err := keyValues(args)
	if err != nil {
		return usage(err)
	}
	c.Model.Do(func(s *model.State) {
		if s.Leader != c.Unit {
			err = errors.New("cannot write leadership settings: cannot write settings: not the leader")
			return
		}
		s.WriteLeaderSettings(values)
	})
	return err
}

func configGet(c *call) error {
	var out output
	var all bool
	f := flags{}
	f.boolean(&all, "a", "all")
	key, err := read(c, &out, f)
	if err != nil {
		return err
	}
	if key != "" && all {
		return usage(fmt.Errorf("cannot use argument --all together with key %q", key))
	}
	settings := map[string]any{}
	maps.Copy(settings, c.Charm.Options)
	c.Model.Do(func(s *model.State) { maps.Copy(settings, s.Config) })
	if key != "" {
		return out.write(c, settings[key])
	}
	if !all {
		maps.DeleteFunc(settings, func(_ string, v any) bool { return v == nil })
	}
	return out.write(c, settings)
}

func applicationVersionSet(c *call) error {
	args, err := flags{}.parse(c.request.Args)
	switch {
	case err != nil:
		return usage(err)
	case len(args) == 0:
		return usage(errors.New("no version specified"))
	case len(args) > 1:
		return usage(none(args[1:]))
	}
	c.Model.Do(func(s *model.State) { s.WorkloadVersion = args[0] })
	return nil
}

// deprecated is what tools say to a --format that they have for old charms' sake.
func (c *call) deprecated(format string) {
	if format != "" {
		fmt.Fprintf(&c.stderr, "--format flag deprecated for command %q", c.request.Name)
	}
}

// levels are those of Juju's logger; another word counts as INFO.
var levels = []string{"TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}

func jujuLog(c *call) error {
	level, debug, format := "INFO", false, ""
	f := flags{}
	f.text(&level, "l", "log-level")
	f.boolean(&debug, "debug")
	f.text(&format, "format")
	args, err := f.parse(c.request.Args)
	if err != nil {
		return usage(err)
	}
	if len(args) == 0 {
		return usage(errors.New("no message specified"))
	}
	c.deprecated(format)
	given := level
	level = strings.ToUpper(level)
	switch {
	case debug:
		level = "DEBUG"
	case level == "WARN":
		level = "WARNING"
	case !slices.Contains(levels, level):
		c.Log("WARNING", fmt.Sprintf("Specified log level of %q is not valid", given))
		level = "INFO"
	}
	message := strings.Join(args, " ")
	if r := c.relations[c.Hook.RelationID]; r != nil {
		message = r.fullID() + ": " + message
	}
	c.Log(level, message)
	return nil
}
