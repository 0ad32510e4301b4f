package hooktool

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/juju/utils/v3/keyvalues"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

var tools = map[string]func(*call) error{
	"action-fail": actionFail, "action-get": actionGet, "action-log": actionLog, "action-set": actionSet,
	"application-version-set": applicationVersionSet,
	"close-port":              closePort, "open-port": openPort,
	"config-get": configGet, "goal-state": goalState, "juju-log": jujuLog, "network-get": networkGet,
	"is-leader": isLeader, "leader-get": leaderGet, "leader-set": leaderSet,
	"relation-get": relationGet, "relation-ids": relationIDs, "relation-list": relationList, "relation-set": relationSet,
	"status-set": statusSet,
}

func isLeader(c *call) error {
	if _, err := newOptions().prints().parse(c, 0); err != nil {
		return err
	}
	return c.print(c.isLeader())
}

func leaderGet(c *call) error {
	if _, err := newOptions().prints().parse(c, 0); err != nil {
		return err
	}
	settings := map[string]string{}
	c.Model.Do(func(s *model.State) { maps.Copy(settings, s.LeaderSettings) })
	return c.print(settings)
}

func leaderSet(c *call) error {
	args, err := newOptions().parse(c, -1)
	if err != nil {
		return err
	}
	values, err := keyvalues.Parse(args, true)
	if err != nil {
		return errUsage{err}
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

// configGet prints all options; those without a value only with --all.
func configGet(c *call) error {
	o := newOptions().prints()
	all := o.Bool("all", false, "")
	if _, err := o.parse(c, 0); err != nil {
		return err
	}
	settings := map[string]any{}
	maps.Copy(settings, c.Charm.Options)
	c.Model.Do(func(s *model.State) { maps.Copy(settings, s.Config) })
	if !*all {
		maps.DeleteFunc(settings, func(_ string, v any) bool { return v == nil })
	}
	return c.print(settings)
}

func applicationVersionSet(c *call) error {
	args, err := newOptions().parse(c, 1)
	if err != nil {
		return err
	}
	c.Model.Do(func(s *model.State) { s.WorkloadVersion = args[0] })
	return nil
}

// levels are those of Juju's logger; another word counts as INFO.
var levels = []string{"TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}

func jujuLog(c *call) error {
	o := newOptions()
	level := o.String("l", "INFO", "")
	args, err := o.parse(c, -1)
	switch {
	case err != nil:
		return err
	case len(args) == 0:
		return errUsage{errors.New("no message specified")}
	case !slices.Contains(levels, *level):
		c.Log("WARNING", fmt.Sprintf("Specified log level of %q is not valid", *level))
		*level = "INFO"
	}
	message := strings.Join(args, " ")
	if r := c.relations[c.Hook.RelationID]; r != nil {
		message = r.fullID() + ": " + message
	}
	c.Log(*level, message)
	return nil
}
