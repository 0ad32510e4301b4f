package soak

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var schedules = flag.String("schedules", "testdata/*.json", "the files of schedules that are played again")

func TestMain(m *testing.M) { Main(m) }

// Every schedule below testdata once broke an invariant.
func TestStoredSchedules_break_nothing(t *testing.T) {
	files, err := filepath.Glob(*schedules)
	require.NoError(t, err)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var s Schedule
			require.NoError(t, json.Unmarshal(text, &s))
			p := play(t.Context(), s, 0)
			require.NoError(t, p.err, "%s", tail(p.log))
			assert.Empty(t, p.Broken, "%s\nin step %d\n%s", s.Found, p.At, tail(p.log))
		})
	}
}
