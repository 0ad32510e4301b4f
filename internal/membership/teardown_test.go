package membership

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
)

// A unit that stays waits for its turn though all others go: it is not being removed.
func TestAbortIfTearingDown(t *testing.T) {
	t.Parallel()
	const unit = "ovn-central/0"
	goal := func(own, other string) map[string]juju.UnitGoal {
		return map[string]juju.UnitGoal{unit: {Status: own}, "ovn-central/1": {Status: other}}
	}
	for name, tt := range map[string]struct {
		goal map[string]juju.UnitGoal
		err  error
		want error
	}{
		"all stay":                {goal: goal("active", "active")},
		"all others go":           {goal: goal("active", "dying")},
		"it goes, another stays":  {goal: goal("dying", "active")},
		"all go":                  {goal: goal("dying", "dying"), want: errTeardown},
		"it is gone, all go":      {goal: map[string]juju.UnitGoal{"ovn-central/1": {Status: "dying"}}, want: errTeardown},
		"Juju could not be asked": {err: errors.New("connection is shut down")},
	} {
		s := &Changer{
			Machine: &observe.Machine{Now: time.Now},
			Goal:    func(context.Context) (juju.GoalState, error) { return juju.GoalState{Units: tt.goal}, tt.err },
		}
		assert.ErrorIs(t, s.abortIfTearingDown(observe.Application{Unit: unit})(t.Context()), tt.want, name)
	}
}
