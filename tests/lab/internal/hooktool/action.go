package hooktool

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	keyRule  = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$`)
	reserved = []string{"stdout", "stdout-encoding", "stderr", "stderr-encoding"}
)

var errNoAction = errors.New("not running an action")

func actionGet(c *call) error {
	var out output
	f := flags{}
	out.flags(f, "smart", "json", "yaml")
	args, err := f.parse(c.request.Args)
	switch {
	case err != nil:
		return usage(err)
	case len(args) > 1:
		return usage(none(args[1:]))
	case c.Action == nil:
		return errNoAction
	}
	var answer any = c.Action.Params
	if len(args) == 1 {
		for _, key := range strings.Split(args[0], ".") {
			within, _ := answer.(map[string]any)
			answer = within[key]
		}
	}
	return out.write(c, answer)
}

func actionSet(c *call) error {
	args, err := flags{}.parse(c.request.Args)
	if err != nil {
		return usage(err)
	}
	type pair struct {
		keys  []string
		value string
	}
	var pairs []pair
	for _, arg := range args {
		path, value, found := strings.Cut(arg, "=")
		if !found {
			return usage(fmt.Errorf("argument %q must be of the form key...=value", arg))
		}
		keys := strings.Split(path, ".")
		for _, key := range keys {
			if !keyRule.MatchString(key) {
				return usage(c.badKey(key))
			}
			if slices.Contains(reserved, key) {
				return usage(fmt.Errorf("cannot set reserved action key %q", key))
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
	if !c.juju.since(3, 6) {
		allowed = "lowercase alphanumeric, hyphens and periods"
	}
	return fmt.Errorf("key %q must start and end with lowercase alphanumeric, and contain only %s", key, allowed)
}

// Nest puts value into a tree of maps, at the path keys; what stands in the way
// is replaced.
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
	args, err := flags{}.parse(c.request.Args)
	message := "action failed without reason given, check action for errors"
	switch {
	case err != nil:
		return usage(err)
	case len(args) > 1:
		return usage(none(args[1:]))
	case len(args) == 1:
		message = args[0]
	}
	if c.Action == nil {
		return errNoAction
	}
	c.Action.Message, c.Action.Failed = message, true
	return nil
}

func actionLog(c *call) error {
	args, err := flags{}.parse(c.request.Args)
	switch {
	case err != nil:
		return usage(err)
	case len(args) == 0:
		return usage(errors.New("no message specified"))
	case c.Action == nil:
		return errNoAction
	}
	c.Action.Log = append(c.Action.Log, strings.Join(args, " "))
	return nil
}
