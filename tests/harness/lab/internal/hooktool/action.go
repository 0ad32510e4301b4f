package hooktool

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// KeyRule matches each part of a key of an action's parameters and results.
var KeyRule = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$`)

var reserved = []string{"stdout", "stdout-encoding", "stderr", "stderr-encoding"}

var errNoAction = errors.New("not running an action")

func actionGet(c *call) error {
	if _, err := newOptions().prints().parse(c, 0); err != nil {
		return err
	}
	if c.Action == nil {
		return errNoAction
	}
	return c.print(c.Action.Params)
}

func actionSet(c *call) error {
	args, err := newOptions().parse(c, -1)
	if err != nil {
		return err
	}
	type pair struct {
		keys  []string
		value string
	}
	var pairs []pair
	for _, arg := range args {
		path, value, found := strings.Cut(arg, "=")
		if !found {
			return errUsage{fmt.Errorf("argument %q must be of the form key...=value", arg)}
		}
		keys := strings.Split(path, ".")
		for _, key := range keys {
			if !KeyRule.MatchString(key) {
				return errUsage{c.badKey(key)}
			}
			if slices.Contains(reserved, key) {
				return errUsage{fmt.Errorf("cannot set reserved action key %q", key)}
			}
		}
		pairs = append(pairs, pair{keys, value})
	}
	if c.Action == nil {
		return errNoAction
	}
	for _, p := range pairs {
		Nest(c.Action.Results, p.keys, p.value)
	}
	return nil
}

// badKey refuses a key. Before Juju 3.6 the message mentions periods, which separate keys.
func (c *call) badKey(key string) error {
	allowed := "lowercase alphanumeric and hyphens"
	if !c.since36 {
		allowed = "lowercase alphanumeric, hyphens and periods"
	}
	return fmt.Errorf("key %q must start and end with lowercase alphanumeric, and contain only %s", key, allowed)
}

// Nest puts value into a tree of maps, at the path keys. If a value on the path is not a map, it is replaced.
func Nest(tree map[string]any, keys []string, value any) {
	last := len(keys) - 1
	for _, key := range keys[:last] {
		next, isMap := tree[key].(map[string]any)
		if !isMap {
			next = map[string]any{}
			tree[key] = next
		}
		tree = next
	}
	tree[keys[last]] = value
}

func actionFail(c *call) error {
	args, err := newOptions().parse(c, 1)
	switch {
	case err != nil:
		return err
	case c.Action == nil:
		return errNoAction
	}
	c.Action.Message, c.Action.Failed = args[0], true
	return nil
}

func actionLog(c *call) error {
	args, err := newOptions().parse(c, -1)
	switch {
	case err != nil:
		return err
	case c.Action == nil:
		return errNoAction
	}
	c.Action.Log = append(c.Action.Log, strings.Join(args, " "))
	return nil
}

var settable = []string{"maintenance", "blocked", "waiting", "active"}

func statusSet(c *call) error {
	args, err := newOptions().parse(c, 2)
	if err != nil {
		return err
	}
	if !slices.Contains(settable, args[0]) {
		return errUsage{fmt.Errorf("invalid status %q, expected one of %v", args[0], settable)}
	}
	c.Model.Do(func(s *model.State) {
		u := s.Units[c.Unit]
		u.Workload = model.Status{Status: args[0], Message: args[1], Since: time.Now()}
		u.Uniter.StatusSet = true
	})
	return nil
}

type goalUnit struct {
	Status string `json:"status"`
	Since  string `json:"since,omitempty"`
}

// sinceForm is the format of times in goal-state.
const sinceForm = "2006-01-02 15:04:05Z"

// otherGoal returns the other application of a relation in goal-state, whose units all count as active.
func otherGoal(r *model.Relation) map[string]goalUnit {
	status := "joined"
	if r.Dying {
		status = "broken"
	}
	since := r.Since.UTC().Format(sinceForm)
	goal := map[string]goalUnit{r.Remote: {status, since}}
	for unit, bag := range r.RemoteUnits {
		if bag.InScope {
			goal[unit] = goalUnit{"active", since}
		}
	}
	return goal
}

func goalState(c *call) error {
	if _, err := newOptions().prints().parse(c, 0); err != nil {
		return err
	}
	goal := struct {
		Units     map[string]goalUnit            `json:"units"`
		Relations map[string]map[string]goalUnit `json:"relations"`
	}{map[string]goalUnit{}, map[string]map[string]goalUnit{}}
	c.Model.Do(func(s *model.State) {
		for _, r := range s.Relations {
			if r.Peer() {
				continue // relation-list omits them
			}
			if goal.Relations[r.Name] == nil {
				goal.Relations[r.Name] = map[string]goalUnit{}
			}
			maps.Copy(goal.Relations[r.Name], otherGoal(r))
		}
		for _, u := range s.Units {
			status := u.VisibleStatus()
			if u.Dying {
				status.Status = "dying"
			}
			goal.Units[u.Name] = goalUnit{status.Status, status.Since.UTC().Format(sinceForm)}
		}
	})
	return c.print(goal)
}
