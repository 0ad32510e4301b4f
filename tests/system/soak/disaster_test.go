package soak

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDisasters_same_seed_same_disasters(t *testing.T) {
	t.Parallel()
	did := map[string]int{}
	disasters, alone := 0, 0
	for seed := range uint64(500) {
		s := GenerateDisaster(seed)
		require.Equal(t, s, GenerateDisaster(seed))
		var read Schedule
		require.NoError(t, json.Unmarshal([]byte(s.JSON()), &read))
		require.Equal(t, s, read)
		require.GreaterOrEqual(t, s.Units, 2)
		require.LessOrEqual(t, s.Units, maxUnits)
		require.Equal(t, "end", s.Steps[len(s.Steps)-1].Do, "each comes to its end")
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

// A majority is lost in each disaster, but where a backup is restored, and one unit is left.
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
				assert.False(t, lost[step.Unit], "it is asked of a unit that is left")
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
