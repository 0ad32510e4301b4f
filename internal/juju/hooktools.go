package juju

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// ActionParams returns the parameters of the running action, with the defaults of actions.yaml filled in. A number is a
// [json.Number], which keeps its digits, a boolean a bool, an object a map[string]any. In a hook it fails.
//
// Juju reads what a person typed as YAML: the identity 3974 arrives as a number, 0017 as the number 15.
func (t *Tools) ActionParams(ctx context.Context) (map[string]any, error) {
	var params map[string]any
	err := t.query(ctx, &params, "action-get")
	return params, cannot(err, "read action parameters")
}

// ActionSet adds results to those of the running action, in one call. It sets nothing if Juju refuses a key, or if a
// result with its key is longer than [MaxArgument]. All of them together must fit the command line (2 MiB if the
// stack is limited to 8 MiB).
func (t *Tools) ActionSet(ctx context.Context, results map[string]string) error {
	args := pairs(results)
	for i := range args {
		args[i] = run.Redact(args[i])
	}
	return cannot(t.tell(ctx, "action-set", args...), "set action results")
}

// pairs returns values as arguments, KEY=VALUE, in a stable order.
func pairs(values map[string]string) (args []string) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		args = append(args, key+"="+values[key])
	}
	return args
}

// ActionFail marks the running action as failed, with the reason. The program must then exit with code 0: with any
// other code, Juju replaces the message by "exit status N".
func (t *Tools) ActionFail(ctx context.Context, message string) error {
	err := t.tell(ctx, "action-fail", "--", argument(run.Redact(message)))
	return cannot(err, "mark the action as failed (%s)", oneLine(run.Redact(message)))
}

// ActionLog sends a message to the client that waits for the running action, at once.
func (t *Tools) ActionLog(ctx context.Context, message string) error {
	return cannot(t.tell(ctx, "action-log", "--", argument(run.Redact(message))), "log to the action")
}

// IsLeader reports whether this unit leads the application. If so, Juju guarantees that for 30 s more. After an error
// assume false.
func (t *Tools) IsLeader(ctx context.Context) (bool, error) {
	var leader bool
	err := t.query(ctx, &leader, "is-leader")
	return leader, cannot(err, "ask for leadership")
}

// LeaderGet returns the settings that the application's leaders have written; empty if there are none. It treats long
// values as [Tools.RelationGet] does. If this Juju has no leader settings, the error is [ErrNoTool].
func (t *Tools) LeaderGet(ctx context.Context) (map[string]string, error) {
	settings, err := t.data(ctx, "leader-get")
	return settings, cannot(err, "read leader settings")
}

// LeaderSet writes leader settings, all in one step. Other keys keep their values, and an empty value removes its key.
// Juju stores the settings at once and keeps them even if the hook fails. If this unit does not lead, the error is
// [ErrNotLeader], and nothing is stored; other errors are those of [Tools.LeaderGet].
//
// The settings are passed as arguments, which a list of processes shows, so they must not be secret. Juju trims spaces
// around them.
func (t *Tools) LeaderSet(ctx context.Context, settings map[string]string) error {
	return cannot(t.tell(ctx, "leader-set", append([]string{"--"}, pairs(settings)...)...), "write leader settings")
}

// Config returns the options of the application, with the defaults of config.yaml filled in. A number is a
// [json.Number], a boolean a bool, anything else a string. An option without value and default is absent; an option
// that was set to the empty text is empty.
func (t *Tools) Config(ctx context.Context) (map[string]any, error) {
	var options map[string]any
	if err := t.queryOnce(ctx, &options, "config-get", "--all"); err != nil {
		return nil, fmt.Errorf("cannot read the configuration: %w", err)
	}
	maps.DeleteFunc(options, func(_ string, value any) bool { return value == nil })
	return options, nil
}

// GoalState is the part of Juju's model about this application and its relations.
type GoalState struct {
	// Units are this application's units by name, including this one, that exist or will exist. A unit that is dead but
	// not yet removed is not among them.
	Units map[string]UnitGoal `json:"units"`
	// Relations has, by this application's endpoint, the other applications and their units by name, whether they have
	// joined yet or not. Juju omits peer relations and applications that consume an offer of this one. For an offer that
	// this application consumes, Juju shows the URL and no units.
	Relations map[string]map[string]UnitGoal `json:"relations"`
}

// UnitGoal is one unit in a [GoalState], or an application in its Relations.
type UnitGoal struct {
	// Status is the unit's workload status, or `dying` if it is being removed. For an application it is the status of
	// the relation: `joining`, `joined`, `broken`, `suspended`, `error`.
	Status string `json:"status"`
}

// Dying reports whether the unit of this application is being removed. It reports false for a unit that is not in
// Units.
func (g GoalState) Dying(unit string) bool {
	return g.Units[unit].Status == "dying"
}

// GoalState reads the model's units and relations.
func (t *Tools) GoalState(ctx context.Context) (GoalState, error) {
	var state GoalState
	err := t.query(ctx, &state, "goal-state")
	return state, cannot(err, "read goal state")
}

// StatusWord is a state that a charm may set for its unit. Only Juju sets others, such as `error`.
type StatusWord string

// The words of status-set. Source: jujuc/status-set.go.
const (
	Maintenance StatusWord = "maintenance"
	Blocked     StatusWord = "blocked"
	Waiting     StatusWord = "waiting"
	Active      StatusWord = "active"
)

// StatusSet sets the unit's status and its message, folded to one line. It takes effect at once, and even if the hook
// fails.
func (t *Tools) StatusSet(ctx context.Context, word StatusWord, message string) error {
	err := t.tell(ctx, "status-set", "--", string(word), argument(run.Redact(oneLine(message))))
	return cannot(err, "set status %s", word)
}

// OpenPorts asks Juju to let others reach TCP ports of this unit, for all endpoints, if the application is exposed. A
// port that is already open is no error. Juju opens the ports after the hook succeeds.
func (t *Tools) OpenPorts(ctx context.Context, ports ...int) error {
	for _, port := range ports { // the tool takes no list
		if err := t.tell(ctx, "open-port", strconv.Itoa(port)+"/tcp"); err != nil {
			return fmt.Errorf("cannot open TCP port %d: %w", port, err)
		}
	}
	return nil
}

// ApplicationVersionSet sets the workload version in `juju status`. It takes effect at once, and even if the hook
// fails.
func (t *Tools) ApplicationVersionSet(ctx context.Context, version string) error {
	err := t.tell(ctx, "application-version-set", "--", argument(oneLine(version)))
	return cannot(err, "set the application's version")
}
