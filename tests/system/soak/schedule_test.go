package soak

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInvariants_lost_quorum_is_attributed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		before  bool
		members []Why
		want    Verdict
	}{
		{"all are up", true, []Why{Up, Up, Up}, Serves},
		{"a majority is up", true, []Why{Up, Standing, Up}, Serves},
		{"it comes back", false, []Why{Up, Standing, Up}, Serves},
		{"two faults of three", true, []Why{Up, New, Standing}, Faults},
		{"there was none before", false, []Why{Up, Standing, Ours}, Faults},
		{"two members left while a third is down", true, []Why{Up, Standing}, OurDoing},
		{"one was stopped while another is down", true, []Why{Up, Standing, Ours}, OurDoing},
		{"one was stopped, then one died", true, []Why{Up, Up, Ours, New, New}, Faults},
		{"two were stopped", true, []Why{Up, Ours, Ours}, OurDoing},
		{"the only one was paused", true, []Why{Asked}, Faults},
		{"a configuration that can't be seen any more", true, nil, OurDoing},
		{"the only one was stopped without being asked", true, []Why{Ours}, OurDoing},
		{"one died in the step that added it", true, []Why{Up, Up, Standing, New}, Faults},
	} {
		assert.Equal(t, c.want, Cost{Before: c.before, Members: c.members}.Judge(), c.name)
	}
}

func TestSchedule_same_seed_same_schedule(t *testing.T) {
	t.Parallel()
	for _, generate := range []func(uint64) Schedule{Generate, GenerateDisaster} {
		for seed := range uint64(500) {
			s := generate(seed)
			require.Equal(t, s, generate(seed))
			var read Schedule
			require.NoError(t, json.Unmarshal([]byte(s.JSON()), &read))
			require.Equal(t, s, read)
		}
	}
}

// Shrink keeps the two steps that break something, and no other.
func TestSchedule_is_shrunk(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		s := Generate(seed)
		s.Steps = slices.Insert(s.Steps, 1, Step{Do: "cause", With: []Step{{Do: "not needed"}, {Do: "needed"}}})
		s.Steps = append(s.Steps, Step{Do: "effect"})
		tries := 0
		short := Shrink(s, func(try Schedule) bool {
			tries++
			cause := slices.IndexFunc(try.Steps, func(s Step) bool {
				return s.Do == "cause" && slices.ContainsFunc(s.With, func(w Step) bool { return w.Do == "needed" })
			})
			return cause >= 0 && slices.ContainsFunc(try.Steps[cause:], func(s Step) bool { return s.Do == "effect" })
		})
		assert.Equal(t, []Step{{Do: "cause", With: []Step{{Do: "needed"}}}, {Do: "effect"}}, short.Steps)
		assert.Less(t, tries, 60)
	}
}

func TestDisasters_have_every_operation_and_fault(t *testing.T) {
	t.Parallel()
	did := map[string]int{}
	disasters, alone := 0, 0
	for seed := range uint64(500) {
		s := GenerateDisaster(seed)
		require.GreaterOrEqual(t, s.Units, 2)
		require.LessOrEqual(t, s.Units, maxUnits)
		require.Equal(t, "end", s.Steps[len(s.Steps)-1].Do, "each ends")
		disasters += s.Disasters()
		for _, step := range s.Steps {
			did[step.Do]++
			if step.Do == "insist" && step.DB != "" {
				alone++
			}
			for _, with := range step.With {
				did[step.Do+" + "+with.Do]++
				if step.Do == "recover" && isFault(with.Do) {
					assert.Positive(t, with.Call)
					assert.LessOrEqual(t, with.Call, lastCall)
				}
			}
		}
	}
	for _, what := range []string{
		"kill", "write", "lead", "notice", "backup", "restore", "lose", "lose + power-off", "lose + destroy", "power-off", "destroy", "recover", "insist",
		"recover + kill-hook", "recover + kill", "recover + power-off", "recover + power-on", "recover + recover", "insist + kill-hook", "power-on", "update-status",
	} {
		assert.Positive(t, did[what], what)
	}
	assert.Equal(t, disasters, did["end"])
	assert.InDelta(t, disasters/5, alone, float64(disasters)/20, "one database only in a fifth")
	assert.InDelta(t, disasters/10, did["backup"], float64(disasters)/30, "a backup in a tenth")
}

// Each disaster loses a majority, unless a backup is restored, and leaves one unit.
func TestDisaster_loses_majority_and_leaves_a_unit(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		s := GenerateDisaster(seed)
		lost, restored := map[int]bool{}, false
		for _, step := range s.Steps {
			for _, fault := range append([]Step{step}, step.With...) {
				if (fault.Do == "power-off" || fault.Do == "destroy") && fault.Call == 0 {
					lost[fault.Unit] = true
				}
			}
			switch step.Do {
			case "restore":
				restored = true
			case "recover":
				assert.False(t, lost[step.Unit], "a unit that is left is asked")
			case "end":
				if len(lost) > 0 || !restored {
					assert.GreaterOrEqual(t, 2*len(lost), s.Units, "seed %d", seed)
					assert.Less(t, len(lost), s.Units, "seed %d", seed)
				}
				lost, restored = map[int]bool{}, false
			}
		}
	}
}
