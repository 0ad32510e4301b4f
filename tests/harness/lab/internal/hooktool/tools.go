// Package hooktool has the lab's versions of Juju's hook tools. A hook calls a tool by its name. The tool's client
// (tests/harness/lab/hooktool) sends its arguments over the socket that the hook's environment names. [Context.Run]
// answers from the model, with the answers, error texts and exit codes of Juju 3.6's jujuc. A tool supports only the
// forms in which the charm calls it.
package hooktool

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
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

// configGet prints the options; those without a value only with --all.
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

// levels are those of Juju's logger; any other word counts as INFO.
var levels = []string{"TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}

func jujuLog(c *call) error {
	o := newOptions()
	level := o.String("l", "INFO", "")
	args, err := o.parse(c, -1)
	switch {
	case err != nil:
		return err
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

// Names returns the tools that the charm calls; others don't exist.
func Names() []string { return slices.Sorted(maps.Keys(tools)) }

// NamesIn returns the tools of one Juju: 4 has no leader settings any more (its documentation, list of hook commands).
func NamesIn(w model.Quirks) []string {
	names := Names()
	if w.NoLeaderSettings {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "leader-get" || name == "leader-set" })
	}
	return names
}

// options are those of a tool, before its other arguments, in the forms that the charm and the tests use.
type options struct {
	*flag.FlagSet
	format, relation string
}

func newOptions() *options {
	o := &options{FlagSet: flag.NewFlagSet("", flag.ContinueOnError)}
	o.SetOutput(io.Discard)
	return o
}

// prints adds --format, which accepts json only.
func (o *options) prints() *options {
	o.StringVar(&o.format, "format", "", "")
	return o
}

func (o *options) relates() *options {
	o.StringVar(&o.relation, "r", "", "")
	return o
}

// parse returns what follows the options: count arguments, or any number if it is -1.
func (o *options) parse(c *call, count int) ([]string, error) {
	err := o.FlagSet.Parse(c.request.Args)
	switch {
	case err == nil && o.Lookup("format") != nil && o.format != "json":
		err = errors.New("the lab prints JSON alone, by --format=json")
	case err == nil && count >= 0 && o.NArg() != count:
		err = fmt.Errorf("the lab doesn't play this form: %q", c.request.Args)
	}
	if err != nil {
		return nil, errUsage{err}
	}
	return o.Args(), nil
}

func (o *options) chosen(c *call) (*relation, error) {
	id, err := strconv.Atoi(o.relation[strings.LastIndex(o.relation, ":")+1:])
	if err != nil {
		return nil, errUsage{errors.New("no relation id specified")}
	}
	if r := c.relations[id]; r != nil {
		return r, nil
	}
	return nil, errUsage{fmt.Errorf("invalid value %q for option -r: relation not found", o.relation)}
}

func (c *call) print(value any) error {
	return json.NewEncoder(&c.stdout).Encode(value)
}

// errUsage marks an error in the arguments: exit code 2 instead of 1.
type errUsage struct{ error }

func (e errUsage) Unwrap() error { return e.error }
