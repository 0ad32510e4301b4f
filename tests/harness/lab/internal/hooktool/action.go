package hooktool

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// KeyRule is that of each part of a key, of an action's parameters and of its results.
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

// badKey is the refusal of a key; before Juju 3.6 it names periods, which part
// keys.
func (c *call) badKey(key string) error {
	allowed := "lowercase alphanumeric and hyphens"
	if !c.since36 {
		allowed = "lowercase alphanumeric, hyphens and periods"
	}
	return fmt.Errorf("key %q must start and end with lowercase alphanumeric, and contain only %s", key, allowed)
}

// Nest puts value into a tree of maps, at the path keys; a value on the path that is
// not a map is replaced.
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
