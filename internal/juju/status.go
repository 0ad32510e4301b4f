package juju

import (
	"context"
	"fmt"
)

// StatusWord is a state that a charm may give its unit. Others, `error` for
// one, only Juju sets.
type StatusWord string

// The four words. Source: jujuc/status-set.go.
const (
	Maintenance StatusWord = "maintenance"
	Blocked     StatusWord = "blocked"
	Waiting     StatusWord = "waiting"
	Active      StatusWord = "active"
)

// StatusSet sets the unit's status and its message, which is folded to one line.
// It is seen at once and stays even if the hook fails.
func (t *Tools) StatusSet(ctx context.Context, word StatusWord, message string) error {
	if err := t.tell(ctx, "status-set", "--", string(word), argument(oneLine(message))); err != nil {
		return fmt.Errorf("cannot set status %s: %w", word, err)
	}
	return nil
}

// IsLeader says whether this unit leads the application. Juju guarantees a yes
// for 30 s more; after an error assume no.
func (t *Tools) IsLeader(ctx context.Context) (bool, error) {
	var leader bool
	if err := t.query(ctx, &leader, "is-leader"); err != nil {
		return false, fmt.Errorf("cannot ask for leadership: %w", err)
	}
	return leader, nil
}

// GoalState is what Juju's model holds of this application.
type GoalState struct {
	// Units are the units of this application, this one included, that exist or
	// are still to come, by name. A unit that is dead but not yet removed is not
	// among them.
	Units map[string]UnitGoal `json:"units"`
}

// UnitGoal is one unit in a [GoalState].
type UnitGoal struct {
	// Status is the word of the unit's workload status, or `dying` for a unit
	// that is being removed.
	Status string `json:"status"`
	// Since is the UTC time of that status, as in `2026-01-01 00:00:00Z`.
	Since string `json:"since"`
}

// Dying says whether the unit is being removed. It is false for a unit that the
// model does not hold: whether it does is a question to Units.
func (g GoalState) Dying(unit string) bool {
	return g.Units[unit].Status == "dying"
}

// GoalState reads which units the model holds. The relations to other
// applications, which Juju answers as well, are left out.
func (t *Tools) GoalState(ctx context.Context) (GoalState, error) {
	var state GoalState
	if err := t.query(ctx, &state, "goal-state"); err != nil {
		return GoalState{}, fmt.Errorf("cannot read goal state: %w", err)
	}
	return state, nil
}
