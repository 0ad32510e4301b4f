package labtest

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// maxSteps bounds an order of events; three units that are deployed take about 80.
const maxSteps = 800

// PlayOrder plays events and the hooks of all units in an order that is drawn, until no event is left
// and no hook is pending. deliver runs a hook of a unit that has one pending; after is called after
// each step.
func (m *Model) PlayOrder(random *rand.Rand, events []func(), deliver func(*lab.Unit), after func()) {
	m.T.Helper()
	events = slices.Clone(events)
	random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	for step := 0; ; step++ {
		require.Less(m.T, step, maxSteps, "the units don't come to rest\n%s", m.Statuses())
		var choices []func()
		for _, u := range m.Units() {
			for range m.Pending(u) {
				choices = append(choices, func() { deliver(u) })
			}
		}
		if len(events) > 0 {
			choices = append(choices, func() { events[0](); events = events[1:] })
		}
		if len(choices) == 0 {
			return
		}
		choices[random.IntN(len(choices))]()
		after()
	}
}

// DeliverAny runs one of the hooks that are pending now: agents enter relations as they are asked what
// they would do, so that the hooks of a moment ago may not be pending any more.
func (m *Model) DeliverAny(random *rand.Rand, u *lab.Unit) {
	m.T.Helper()
	if hooks := m.Pending(u); len(hooks) > 0 {
		require.NoError(m.T, m.DeliverHook(m.T.Context(), u, hooks[random.IntN(len(hooks))]))
	}
}

// DeliverAll runs all pending hooks of a unit.
func (m *Model) DeliverAll(u *lab.Unit) {
	m.T.Helper()
	for len(m.Next(u)) > 0 {
		_, err := m.Deliver(m.T.Context(), u)
		require.NoError(m.T, err)
	}
}

// DeliverUntil runs the pending hooks of a unit until this one is next.
func (m *Model) DeliverUntil(u *lab.Unit, hook string) {
	m.T.Helper()
	for {
		next := m.Next(u)
		require.NotEmpty(m.T, next, "%s came to rest before %s: %v", u.Name(), hook, u.Hooks())
		if strings.HasPrefix(next[0], hook) {
			return
		}
		_, err := m.Deliver(m.T.Context(), u)
		require.NoError(m.T, err)
	}
}

// Next are the pending hooks of a unit once its agent has heard of what is on its way: with Juju 4 it
// hears late of what others wrote.
func (m *Model) Next(u *lab.Unit) []string {
	m.T.Helper()
	for {
		pending, at := m.Pending(u), m.Coming(u)
		if len(pending) > 0 || at.IsZero() {
			return pending
		}
		select {
		case <-time.After(time.Until(at)):
		case <-m.T.Context().Done():
			m.T.Fatal(context.Cause(m.T.Context()))
		}
	}
}
