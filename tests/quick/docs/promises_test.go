package docs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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

// CI makes what shows this contract each time, and first.
func TestCompatibilityIsATargetOfItsOwn(t *testing.T) {
	r := readRepository(t)
	makefile, err := os.ReadFile(root + "/Makefile")
	require.NoError(t, err)
	m := regexp.MustCompile(`(?m)^COMPATIBILITY := (.+)$`).FindSubmatch(makefile)
	require.NotNil(t, m)
	pattern := regexp.MustCompile(string(m[1]))
	tests, err := filepath.Glob(root + "/tests/integration/deployment/*_test.go")
	require.NoError(t, err)
	page, named := r.documents["docs/reference/compatibility.md"].text, 0
	for _, file := range tests {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)`).FindAllSubmatch(text, -1) {
			name := string(m[1])
			assert.Equal(t, strings.Contains(page, "`"+name+"`"), pattern.MatchString(name), name)
			if pattern.MatchString(name) {
				named++
			}
		}
	}
	assert.Greater(t, named, 5)
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

// What is promised of the pipeline is in it.
func TestPipelineBuildsTheSiteAndDrawsThePictures(t *testing.T) {
	script, err := os.ReadFile(root + "/.ci/run")
	require.NoError(t, err)
	targets := readRepository(t).targets
	for target, made := range map[string]string{
		"lint": "make lint", "check-generated": "make check-generated", "docs": "docs", "browser": "browser",
		"reproducible": `\tprintf .* reproducible`, "deployment": `\tprintf 'deployment`, "compatibility": "compatibility", "agent-life": "agent-life", "test": "test", "lab": `\tprintf .* lab`,
		"conformance": `\tprintf .* conformance`, "check-deb": `\tprintf .* check-deb`, "demo": "demo", "e2e": `\$limit e2e RUN=TestStory`, "gateways": `\tprintf .* gateways`, "life": `\tprintf .* life`,
		"functional": `\tprintf 'functional`, "recovery": `\tprintf 'recovery`, "dataplane": "dataplane=dataplane",
	} {
		assert.Regexp(t, `(?m)^`+made+`( .*)?$`, string(script))
		assert.True(t, targets[target], target)
	}
}

// It stops itself by then, and says what was not made.
func TestPipelineEndsWithin65Minutes(t *testing.T) {
	script, err := os.ReadFile(root + "/.ci/run")
	require.NoError(t, err)
	m := regexp.MustCompile(`(?m)^limit=\$\{1:-(\d+)\}$`).FindSubmatch(script)
	require.NotNil(t, m)
	limit, err := strconv.Atoi(string(m[1]))
	require.NoError(t, err)
	assert.LessOrEqual(t, time.Duration(limit)*time.Second, 65*time.Minute)
}

// What comes late on a slow machine is left out, and the soak was the last: it was not made for weeks.
func TestPipelineMakesTheSoakEachTime(t *testing.T) {
	script, err := os.ReadFile(root + "/.ci/run")
	require.NoError(t, err)
	m := regexp.MustCompile(`(?ms)s/\^/\$limit /" >"\$queue" <<'TARGETS'\n(.*?)^TARGETS$`).FindSubmatch(script)
	require.NotNil(t, m)
	assert.Regexp(t, `(?m)^soak SEED=\d+ FOR=90s LABS=2 SLOW=2$`, string(m[1]))
}

// The demo is recorded in asciinema's format, and its page is of the recording.
func TestDemoIsRecorded(t *testing.T) {
	cast, err := os.ReadFile(root + "/docs/tutorial/demo.cast")
	require.NoError(t, err)
	head, events, _ := strings.Cut(string(cast), "\n")
	var header struct{ Version, Width, Height int }
	require.NoError(t, json.Unmarshal([]byte(head), &header))
	assert.Equal(t, 2, header.Version)
	page := readRepository(t).documents["docs/tutorial/watch-the-demo.md"].text
	shown := 0
	for line := range strings.Lines(events) {
		var event []any
		require.NoError(t, json.Unmarshal([]byte(line), &event))
		text, ok := event[2].(string)
		require.True(t, ok, line)
		if command := strings.TrimSpace(text); strings.HasPrefix(command, "$ ") {
			assert.Contains(t, page, command)
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
