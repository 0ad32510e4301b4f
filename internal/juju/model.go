package juju

import (
	"context"
	"fmt"
	"maps"
)

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
	// Units are this application's units by name, this one included, that exist or will exist. A unit that is dead but
	// not yet removed is not among them.
	Units map[string]UnitGoal `json:"units"`
	// Relations are, by this application's endpoint, the other applications and their units by name, whether they have
	// joined yet or not. Juju omits peer relations and applications that consume an offer of this one; for an offer
	// that this application consumes it has the URL and no units.
	Relations map[string]map[string]UnitGoal `json:"relations"`
}

// UnitGoal is one unit in a [GoalState], or an application in its Relations.
type UnitGoal struct {
	// Status is the unit's workload status, or `dying` if it is being removed. For an application it is that of the
	// relation: `joining`, `joined`, `broken`, `suspended`, `error`.
	Status string `json:"status"`
}

// Dying reports whether the unit of this application is being removed. It is false for a unit that is not in Units.
func (g GoalState) Dying(unit string) bool {
	return g.Units[unit].Status == "dying"
}

// GoalState reads the model's units and relations.
func (t *Tools) GoalState(ctx context.Context) (GoalState, error) {
	var state GoalState
	err := t.query(ctx, &state, "goal-state")
	return state, cannot(err, "read goal state")
}
