package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	return string(text)
}

// People guess the names of a few targets, and a test runs because of its directory, not of its name.
func TestMakefile_has_few_targets_and_selects_no_test_by_name(t *testing.T) {
	t.Parallel()
	makefile := read(t, "Makefile")
	targets := target.FindAllString(makefile, -1)
	assert.NotEmpty(t, targets)
	assert.LessOrEqual(t, len(targets), 20, targets)
	for _, text := range []string{makefile, read(t, ".ci/run")} {
		for _, m := range regexp.MustCompile(`-(?:run|skip)[ =](\S+)`).FindAllStringSubmatch(text, -1) {
			assert.Equal(t, "'^$$'", m[1], "benchmarks need no test; nothing else is selected")
		}
	}
}

// CI runs the same list each time.
func TestCI_runs_one_short_list(t *testing.T) {
	t.Parallel()
	ci := read(t, ".ci/run")
	assert.LessOrEqual(t, strings.Count(ci, "\n"), 40)
	for _, suite := range []string{"lint", "docs", "test", "test-integration", "story"} {
		assert.Contains(t, ci, "\nsuite "+suite+"\n")
	}
	assert.Contains(t, ci, "suite soak SEED=")
	assert.NotRegexp(t, `(?m)^\s*(if|case|for|while)\b`, ci)
}

// A reader sees the whole picture without zooming.
func TestPictures_of_architecture_have_at_most_25_boxes(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"docs/pictures/architecture.svg", "docs/reference/layers.svg"} {
		boxes := strings.Count(read(t, path), "<rect") - 1 // the background
		assert.Positive(t, boxes, path)
		assert.LessOrEqual(t, boxes, 25, path)
	}
}

func TestDecisions_have_status_date_and_alternatives(t *testing.T) {
	t.Parallel()
	all, err := filepath.Glob(filepath.Join(root, "docs/adr/[0-9]*.md"))
	require.NoError(t, err)
	assert.NotEmpty(t, all)
	for _, path := range all {
		name, _ := filepath.Rel(root, path)
		text := read(t, name)
		assert.Regexp(t, `(?m)^Status: [a-z].*, 20\d\d-\d\d-\d\d\.`, text, name)
		for _, part := range []string{"Decision", "Why", "Alternatives"} {
			assert.Contains(t, text, "\n**"+part+".** ", name)
		}
	}
}
