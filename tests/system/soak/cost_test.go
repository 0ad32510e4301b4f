package soak_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/system/soak"
)

func TestInvariants_lost_quorum_is_attributed(t *testing.T) {
	t.Parallel()
	const up, fresh, old, asked, ours = soak.Up, soak.New, soak.Standing, soak.Asked, soak.Ours
	for _, c := range []struct {
		name    string
		before  bool
		members []soak.Why
		want    soak.Verdict
	}{
		{"all are up", true, []soak.Why{up, up, up}, soak.Serves},
		{"a majority is up", true, []soak.Why{up, old, up}, soak.Serves},
		{"it comes back", false, []soak.Why{up, old, up}, soak.Serves},
		{"two faults of three", true, []soak.Why{up, fresh, old}, soak.Faults},
		{"there was none before", false, []soak.Why{up, old, ours}, soak.Faults},
		{"two members left beside one that is down", true, []soak.Why{up, old}, soak.OurDoing},
		{"one was stopped beside one that is down", true, []soak.Why{up, old, ours}, soak.OurDoing},
		{"one was stopped, then one died", true, []soak.Why{up, up, ours, fresh, fresh}, soak.Faults},
		{"two were stopped", true, []soak.Why{up, ours, ours}, soak.OurDoing},
		{"the only one was paused", true, []soak.Why{asked}, soak.Faults},
		{"a configuration that can't be seen any more", true, nil, soak.OurDoing},
		{"the only one was stopped without being asked", true, []soak.Why{ours}, soak.OurDoing},
		{"one died in the step that added it", true, []soak.Why{up, up, old, fresh}, soak.Faults},
	} {
		assert.Equal(t, c.want, soak.Cost{Before: c.before, Members: c.members}.Judge(), c.name)
	}
}

func TestSchedule_same_seed_same_schedule(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		s := soak.Generate(seed, 0)
		require.Equal(t, s, soak.Generate(seed, 0))
		var read soak.Schedule
		require.NoError(t, json.Unmarshal([]byte(s.JSON()), &read))
		require.Equal(t, s, read)
		require.GreaterOrEqual(t, len(soak.Generate(seed, 30).Steps), 30)
	}
}

// Shrink finds the two steps that it takes, in whatever else there is.
func TestSchedule_is_shrunk(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		s := soak.Generate(seed, 0)
		s.Steps = slices.Insert(s.Steps, 1, soak.Step{Do: "cause", With: []soak.Step{{Do: "not needed"}, {Do: "needed"}}})
		s.Steps = append(s.Steps, soak.Step{Do: "effect"})
		tries := 0
		short := soak.Shrink(s, func(try soak.Schedule) bool {
			tries++
			cause := slices.IndexFunc(try.Steps, func(s soak.Step) bool {
				return s.Do == "cause" && slices.ContainsFunc(s.With, func(w soak.Step) bool { return w.Do == "needed" })
			})
			return cause >= 0 && slices.ContainsFunc(try.Steps[cause:], func(s soak.Step) bool { return s.Do == "effect" })
		})
		assert.Equal(t, []soak.Step{{Do: "cause", With: []soak.Step{{Do: "needed"}}}, {Do: "effect"}}, short.Steps)
		assert.Less(t, tries, 60)
	}
}
