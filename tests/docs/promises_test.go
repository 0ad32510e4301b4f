package docs_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Programs that read cluster-status of the Python charm go on to find its document: the
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

// What a program reads is only kept if a test reads it too.
func TestEachRowOfTheCompatibilityNamesItsTest(t *testing.T) {
	_, table, found := strings.Cut(readRepository(t).documents["docs/reference/compatibility.md"].text, "| Test |\n|---|---|---|\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")
	require.Greater(t, len(rows), 10)
	for _, row := range rows {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		require.Len(t, cells, 3, row)
		assert.Regexp(t, testName, cells[2])
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
