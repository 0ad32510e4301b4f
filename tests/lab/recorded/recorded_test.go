package recorded_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/lab/recorded"
)

var update = flag.Bool("update", false, "write the recordings in their form")

const dir = "../testdata/juju"

// What is written by hand, for Juju to answer, is brought into the form by -update.
func TestRecordingsStandInTheirForm(t *testing.T) {
	for _, file := range recorded.Files {
		stories, err := recorded.Read(dir, file)
		require.NoError(t, err)
		want, err := recorded.Format(stories)
		require.NoError(t, err)
		path := filepath.Join(dir, file)
		if *update {
			require.NoError(t, os.WriteFile(path, want, 0o644))
		}
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), file)
	}
}

func TestEveryCallOfARecordingIsAtAHook(t *testing.T) {
	for _, file := range recorded.Files {
		stories, err := recorded.Read(dir, file)
		require.NoError(t, err)
		require.NotEmpty(t, stories, file)
		for _, story := range stories {
			for i, step := range story.Steps {
				assert.Equal(t, step.At != nil, len(step.Answers) > 0, "%s, %s, step %d", file, story.Name, i+1)
			}
		}
	}
}
