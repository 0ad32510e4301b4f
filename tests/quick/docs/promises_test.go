package docs_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Programs that read cluster-status of the Python charm still find its document: the
// command that refreshes from it is one with the option.
func TestRefreshFromThePythonCharmKeepsWhatProgramsRead(t *testing.T) {
	r := readRepository(t)
	switches := regexp.MustCompile(`^juju refresh ovn-central --switch \S+(.*)`)
	for _, name := range []string{"README.md", "docs/how-to/replace-the-python-charm.md"} {
		var found int
		for _, line := range r.documents[name].code() {
			if m := switches.FindStringSubmatch(line); m != nil {
				assert.Equal(t, " --config cluster-status-format=yaml", m[1], name)
				found++
			}
		}
		assert.Equal(t, 1, found, name)
	}
}

// Documents speak as Juju 3 does, and one of them says how 2.9 does.
func TestRelationsAreMadeInTheWordsOfJuju3(t *testing.T) {
	var old []string
	integrates := 0
	for name, d := range readRepository(t).documents {
		for _, line := range d.code() {
			if strings.HasPrefix(line, "juju relate") || strings.HasPrefix(line, "juju add-relation") {
				old = append(old, name)
			}
			if strings.HasPrefix(line, "juju integrate") {
				integrates++
			}
		}
	}
	assert.Equal(t, []string{"README.md"}, slices.DeleteFunc(old, func(name string) bool { return name == "CHANGELOG.md" }))
	assert.Greater(t, integrates, 5)
}

// What a program reads is only kept if a test reads it too: each row names tests that exist, below tests/ or beside
// the code.
func TestEachRowOfTheCompatibilityNamesItsTest(t *testing.T) {
	r := readRepository(t)
	_, table, found := strings.Cut(r.documents["docs/reference/compatibility.md"].text, "| Test |\n|---|---|---|\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")
	require.Greater(t, len(rows), 10)
	for _, row := range rows {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		require.Len(t, cells, 3, row)
		names := testName.FindAllString(cells[2], -1)
		assert.NotEmpty(t, names, row)
		for _, name := range names {
			assert.True(t, r.tests[name], "%s does not exist: %s", name, row)
		}
	}
}

// The README is read whole: what is longer belongs into the documents.
func TestReadmeIsShort(t *testing.T) {
	text := readRepository(t).documents["README.md"].text
	assert.LessOrEqual(t, strings.Count(text, "\n"), 105)
	for _, has := range []string{"## Deploy", "## Refresh from the Python charm", "## Every day", "## More"} {
		assert.Contains(t, text, has)
	}
}

// What people notice leads to a cause and to a command.
func TestSymptomsLeadToACauseAndACommand(t *testing.T) {
	text := readRepository(t).documents["docs/how-to/find-the-cause.md"].text
	for _, symptom := range []string{"Virtual machines get no ports", "Neutron is slow", "The term keeps rising"} {
		_, rows, found := strings.Cut(text, "\n| "+symptom)
		require.True(t, found, symptom)
		row, _, _ := strings.Cut(rows, "\n")
		cells := strings.Split(row, " | ")
		require.Len(t, cells, 4, row)
		assert.NotEmpty(t, cells[1], "a cause: %s", row)
		assert.Regexp(t, "`[^`]+`|\\[[^]]+\\]\\(", cells[2]+cells[3], "what to type: %s", row)
	}
}

// The demo is recorded in asciinema's format.
func TestDemoIsRecorded(t *testing.T) {
	cast, err := os.ReadFile(root + "/docs/tutorial/demo.cast")
	require.NoError(t, err)
	head, events, _ := strings.Cut(string(cast), "\n")
	var header struct{ Version, Width, Height int }
	require.NoError(t, json.Unmarshal([]byte(head), &header))
	assert.Equal(t, 2, header.Version)
	shown := 0
	for line := range strings.Lines(events) {
		var event []any
		require.NoError(t, json.Unmarshal([]byte(line), &event))
		text, ok := event[2].(string)
		require.True(t, ok, line)
		if strings.HasPrefix(text, "$ ") {
			shown++
		}
	}
	assert.Greater(t, shown, 5)
}

// A program that reads a document where it expected text, or the reverse, leads to the reason here.
func TestClusterStatusSaysWhichFormItHas(t *testing.T) {
	actions, err := os.ReadFile(root + "/actions.yaml")
	require.NoError(t, err)
	assert.Regexp(t, `the option cluster-status-format\s+decides`, string(actions))
	for _, name := range []string{"docs/reference/actions.md", "docs/reference/compatibility.md", "docs/how-to/read-the-status.md"} {
		assert.Contains(t, readRepository(t).documents[name].text, "cluster-status-format", name)
	}
}
