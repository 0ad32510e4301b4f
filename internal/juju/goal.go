package juju

import (
	"context"
	"fmt"
)

// GoalState is what Juju's model holds of this application and of those that it
// is related to.
type GoalState struct {
	// Units are the units of this application, this one included, that exist or
	// are still to come, by name. A unit that is dead but not yet removed is not
	// among them.
	Units map[string]UnitGoal `json:"units"`
	// Relations are, by this application's endpoint, the other applications and
	// their units by name, whether they have joined yet or not. Peer relations
	// are left out by Juju, and so are applications that reach this one by an
	// offer; of one that this application reaches by an offer there is its URL
	// and no unit.
	Relations map[string]map[string]UnitGoal `json:"relations"`
}

// UnitGoal is one unit in a [GoalState], or an application in its Relations.
type UnitGoal struct {
	// Status is the word of the unit's workload status, or `dying` for a unit
	// that is being removed. Of an application it is that of the relation:
	// `joining`, `joined`, `broken`, `suspended`, `error`.
	Status string `json:"status"`
}

// Dying says whether the unit of this application is being removed. It is false
// for a unit that the model does not hold: whether it does is a question to Units.
func (g GoalState) Dying(unit string) bool {
	return g.Units[unit].Status == "dying"
}

// GoalState reads which units and relations the model holds.
func (t *Tools) GoalState(ctx context.Context) (GoalState, error) {
	var state GoalState
	if err := t.query(ctx, &state, "goal-state"); err != nil {
		return GoalState{}, fmt.Errorf("cannot read goal state: %w", err)
	}
	return state, nil
}
