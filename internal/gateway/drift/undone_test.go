package drift_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/drift"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// among returns a gateway on these chassis, best first.
func among(chassis ...string) schedule.Group {
	g := schedule.Group{Name: "g"}
	for i, c := range chassis {
		g.Candidates = append(g.Candidates, schedule.Candidate{Chassis: c, Priority: 9 - i})
	}
	return g
}

// undone writes candidates and has them undone that many times, with the journals that told returns before and after.
// It returns the gateways that are left alone each time.
func undone(u *drift.Undone, times int, pause time.Duration, told func() drift.Journal) (left []string) {
	now := time.Minute
	for range times {
		u.Wrote(among("a", "b"), told().Rows())
		more, _ := u.Observe([]schedule.Group{among("a", "b")}, nil, now)
		left = append(left, more...)
		more, _ = u.Observe([]schedule.Group{among("a")}, told(), now)
		left = append(left, more...)
		now += pause
	}
	return left
}

func nothing() drift.Journal { return nil }

func TestUndone_twice_in_an_hour(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"g"}, undone(new(drift.Undone), 3, 20*time.Minute, nothing), "once")
	assert.Empty(t, undone(new(drift.Undone), 3, 90*time.Minute, nothing))
}

// A rebalancing by a person, or a drain by the agent, is not Neutron's.
func TestUndone_journalled_change(t *testing.T) {
	t.Parallel()
	change := func(before schedule.Group) []schedule.AppliedChange {
		return []schedule.AppliedChange{{Group: "g", Before: before.Candidates, After: among("a").Candidates}}
	}
	calls := 0
	assert.Empty(t, undone(new(drift.Undone), 6, time.Minute, func() drift.Journal {
		if calls++; calls%2 == 1 { // before the write
			return nil
		}
		return drift.Journal{"row": change(among("a", "b"))}
	}))
	assert.NotEmpty(t, undone(new(drift.Undone), 2, time.Minute, func() drift.Journal {
		return drift.Journal{"row": change(among("a", "b"))}
	}), "old rows do not count")
	calls = 0
	assert.NotEmpty(t, undone(new(drift.Undone), 2, time.Minute, func() drift.Journal {
		if calls++; calls%2 == 1 {
			return nil
		}
		return drift.Journal{"row": change(among("c"))}
	}), "a change from other candidates")
}

// Only changes of candidates count as undoing.
func TestUndone_other_changes(t *testing.T) {
	t.Parallel()
	u := new(drift.Undone)
	u.Wrote(among("a", "b"), nil)
	g := among("a", "b")
	g.Zones, g.Ports = []string{"z"}, []schedule.Port{{Name: "p", Network: "other", Active: "b"}}
	g.Candidates[0], g.Candidates[1] = g.Candidates[1], g.Candidates[0] // rows have no order
	assert.False(t, u.Suspects([]schedule.Group{g}))
	assert.True(t, u.Suspects([]schedule.Group{among("b", "a")}))
}

func TestUndone_again_after_a_day(t *testing.T) {
	t.Parallel()
	u := new(drift.Undone)
	require.Equal(t, []string{"g"}, undone(u, 2, time.Minute, nothing))
	left := time.Minute + time.Minute // the time at which it was left alone
	_, again := u.Observe(nil, nil, left+24*time.Hour-time.Second)
	assert.Empty(t, again)
	assert.True(t, u.Left("g"))
	_, again = u.Observe(nil, nil, left+24*time.Hour)
	assert.Equal(t, []string{"g"}, again)
	assert.False(t, u.Left("g"))
	_, again = u.Observe(nil, nil, left+25*time.Hour)
	assert.Empty(t, again, "once")
}
