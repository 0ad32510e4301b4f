package membership_test

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
)

// on changes the membership of the unit of a scenario, on a machine.
func on(s observetest.Scenario, m *observetest.Machine) *membership.Changer {
	o := s.ObserverOn(m)
	return &membership.Changer{
		Machine: o.Machine, Observer: o,
		Progress: func(context.Context, string) {},
		Goal:     func(context.Context) (juju.GoalState, error) { return juju.GoalState{Units: s.Application().Goal}, nil },
	}
}
