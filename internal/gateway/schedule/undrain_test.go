package schedule_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// An undrain names the gateways that it leaves in natural order.
func TestUndrain_findings_in_natural_order(t *testing.T) {
	t.Parallel()
	taken := []schedule.AppliedChange{{Group: "lrp-10"}, {Group: "lrp-2"}}
	assert.Equal(t, []string{"info GATEWAY_GONE lrp-2", "info GATEWAY_GONE lrp-10"},
		findingtest.All(schedule.Undrain(schedule.State{}, "c1", taken).Blocked))
}

// Drains and undrains in any order restore the state.
func TestUndrain_after_several_drains(t *testing.T) {
	t.Parallel()
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 9))
		s := small(r)
		now, was := s, map[string]map[string]bool{}
		for _, name := range shuffled(r, []string{"c0", "c1"}) {
			next, _, p := drained(now, name)
			now, was[name] = next, map[string]bool{}
			for _, c := range p.Changes {
				was[name][c.Group] = true
			}
		}
		for _, name := range shuffled(r, slices.Sorted(maps.Keys(was))) {
			now = now.WithCordon(name, false)
			var back []schedule.AppliedChange
			for i, g := range now.Groups {
				if was[name][g.Name] {
					back = append(back, schedule.AppliedChange{Group: g.Name, Before: s.Groups[i].Candidates, After: g.Candidates})
				}
			}
			p := schedule.Undrain(now, name, back)
			assert.Empty(t, p.Blocked)
			now = applied(now, p)
		}
		require.Equal(t, fmt.Sprint(s), fmt.Sprint(now), "seed %d", seed)
	}
}

func TestUndrain_leaves_changes_by_others(t *testing.T) {
	t.Parallel()
	s := schedule.State{
		Chassis: pool("provnet1", "c1", "c2", "c3"),
		Groups:  append(many(0, 4, "c1", "c2", "c3"), hosted(4, "c3", "c1", "c2")),
	}
	after, ranks, p := drained(s, "c1")
	require.Equal(t, 4, p.Moves())
	require.Equal(t, []string{"c3", "c2", "c1"}, order(after, s.Groups[4].Name))
	name := func(i int) string { return s.Groups[i].Name }
	after.Groups[0] = hosted(0, "c3", "c2", "c1") // the same candidates in another order
	after.Groups[1] = hosted(1, "c3", "c2")       // it is no longer a candidate
	after.Groups[4] = hosted(4, "c1", "c3")       // it was a backup, and is now first
	after.Groups = slices.Delete(after.Groups, 2, 3)

	stays := schedule.Undrain(after, "c1", ranks)
	assert.True(t, stays.Empty(), "a chassis that is cordoned gets nothing back")
	require.Len(t, stays.Blocked, 5)
	assert.Equal(t, "info GATEWAY_NOT_RESTORED "+name(0)+" Value=c1 Reasons=CANNOT_RETURN c1 (IS_CORDONED)",
		findingtest.All(stays.Blocked)[0])

	open := after.WithCordon("c1", false)
	back := schedule.Undrain(open, "c1", ranks)
	restored := applied(open, back)
	assert.Equal(t, []string{"c1", "c3", "c2"}, order(restored, name(0)))
	assert.Equal(t, []string{"c3", "c2"}, order(restored, name(1)))
	assert.Equal(t, []string{"c1", "c2", "c3"}, order(restored, name(3)))
	assert.Equal(t, []string{"c1", "c3"}, order(restored, name(4)), "a better rank is kept")
	assert.Equal(t, []string{
		"info CANDIDATES_CHANGED " + name(0) + " Value=c1 Reasons=ONLY_ITS_RANK c1",
		"info GATEWAY_NOT_RESTORED " + name(1) + " Value=c1 Reasons=NO_LONGER_CANDIDATE c1",
		"info GATEWAY_GONE " + name(2),
		"info CANDIDATES_CHANGED " + name(4) + " Value=c1 Reasons=ONLY_ITS_RANK c1",
	}, findingtest.All(back.Blocked))
}

// A chassis that is still cordoned or dead gets no rank ahead of one that can host: it would take the gateway over when
// it comes back.
func TestUndrain_chassis_that_cannot_host_does_not_rise(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*schedule.Chassis){
		"cordoned": func(c *schedule.Chassis) { c.Cordoned = true },
		"silent":   func(c *schedule.Chassis) { c.Unresponsive = true },
	} {
		s := schedule.State{
			Chassis: pool("provnet1", "c1", "c2", "c3"), Groups: []schedule.Group{hosted(0, "c3", "c2", "c1")},
		}
		change(&s.Chassis[1])
		g := s.Groups[0]
		taken := []schedule.AppliedChange{{Group: g.Name, Before: candidates("c2", "c1", "c3"), After: g.Candidates}}
		p := schedule.Undrain(s, "c1", taken)
		assert.Empty(t, p.Blocked, name)
		assert.Equal(t, []string{"c1", "c3", "c2"}, order(applied(s, p), g.Name), name)
	}
}
