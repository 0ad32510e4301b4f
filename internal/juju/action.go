package juju

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// resultKey is what Juju takes as the key of a result. Source:
// jujuc/action-set.go, by charm.GetActionNameRule.
var resultKey = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$`)

// reservedKeys are the results that Juju sets itself. Source:
// jujuc/action-set.go.
var reservedKeys = []string{"stdout", "stdout-encoding", "stderr", "stderr-encoding"}

// ActionParams returns the parameters of the running action, with the defaults of actions.yaml filled in. A number is a
// [json.Number], which keeps its digits, a boolean a bool, an object a map[string]any. In a hook it returns
// [ErrNotAnAction].
//
// Juju has read what a person typed as YAML: the identity 3974 arrives as a number, 0017 as the number 15.
func (t *Tools) ActionParams(ctx context.Context) (map[string]any, error) {
	var params map[string]any
	err := t.query(ctx, &params, "action-get")
	return params, cannot(err, "read action parameters")
}

// ActionSet adds results to those of the running action, in one call. It sets nothing if a key is not of lower-case
// letters, digits and inner hyphens, is one of Juju's own (stdout, stderr, …-encoding), or is with its value longer
// than [MaxArgument]. All of them together must fit the command line (2 MiB if the stack is limited to 8 MiB). Too long
// results are an [ErrTooLarge]. In a hook it returns [ErrNotAnAction].
func (t *Tools) ActionSet(ctx context.Context, results map[string]string) error {
	if len(results) == 0 {
		return nil
	}
	var args []string
	for _, key := range slices.Sorted(maps.Keys(results)) {
		arg := key + "=" + run.Redact(results[key])
		switch {
		case !resultKey.MatchString(key):
			return fmt.Errorf("cannot set action result %q: a key starts and ends with a-z or 0-9 and has "+
				"only these and - between", key)
		case slices.Contains(reservedKeys, key):
			return fmt.Errorf("cannot set action result %q: Juju sets it itself", key)
		case strings.ContainsRune(arg, 0):
			return fmt.Errorf("cannot set action result %q: it has a NUL byte", key)
		case len(arg) > MaxArgument:
			return fmt.Errorf("cannot set action result %q: %w: %d bytes with its key, at most %d", key, ErrTooLarge, len(arg),
				MaxArgument)
		}
		args = append(args, arg)
	}
	return cannot(t.tell(ctx, "action-set", args...), "set action results")
}

// ActionFail marks the running action as failed, with the reason. End the program with exit code 0 then: with any
// other, Juju replaces the message by "exit status N". In a hook it returns [ErrNotAnAction].
func (t *Tools) ActionFail(ctx context.Context, message string) error {
	err := t.tell(ctx, "action-fail", "--", argument(run.Redact(message)))
	return cannot(err, "mark the action as failed (%s)", oneLine(run.Redact(message)))
}

// ActionLog sends a message to the client that waits for the running action, at once. In a hook it returns
// [ErrNotAnAction].
func (t *Tools) ActionLog(ctx context.Context, message string) error {
	return cannot(t.tell(ctx, "action-log", "--", argument(run.Redact(message))), "log to the action")
}
