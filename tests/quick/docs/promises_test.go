package docs_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/version"
)

// Programs that read cluster-status of the Python charm still find its document: the printed command to refresh from
// that charm sets the option.
func TestAdoption_keeps_what_programs_read(t *testing.T) {
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

// A document for programs only stays compatible if a test reads it, too. So each row names tests that exist, below
// tests/ or next to the code.
func TestDocuments_each_compatibility_row_names_test(t *testing.T) {
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

var noLetter = regexp.MustCompile(`[^a-z0-9]+`)

// siteAnchors returns the anchors of a page's headings in the site, as docutils makes them (make_id), and how many
// headings have each. In Markdown the anchors differ: [document.anchors].
func siteAnchors(d document) map[string]int {
	all := map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(d.prose(), -1) {
		all[strings.Trim(noLetter.ReplaceAllString(strings.ToLower(m[1]), "-"), "-")]++
	}
	return all
}

func TestDocuments_every_finding_has_heading(t *testing.T) {
	r := readRepository(t)
	require.NotEmpty(t, finding.Catalogue())
	for _, e := range finding.Catalogue() {
		assert.Contains(t, r.documents["docs/reference/findings.md"].text, "\n### "+string(e.Code)+"\n")

		path, found := strings.CutPrefix(present.URL(e.Code), version.Docs)
		require.True(t, found, present.URL(e.Code))
		page, anchor, _ := strings.Cut(path, "#")
		d, found := r.documents["docs/"+strings.TrimSuffix(page, ".html")+".md"]
		require.True(t, found, page)
		assert.Equal(t, present.Anchor(e.Code), anchor)
		assert.Equal(t, 1, siteAnchors(d)[anchor], "headings of %s with the anchor %s", page, anchor)
	}
}

var codeSpan = regexp.MustCompile("`([^`]+)`")

// codenames are the code names of Ubuntu's releases, after which sources are named.
var codenames = map[string]string{"22.04": "jammy", "24.04": "noble", "26.04": "resolute"}

// The page's description of `source` matches the charm: the charm accepts each value there, takes it from the archive
// that the page names, and no value is missing.
func TestDocuments_sources_are_accepted_by_charm(t *testing.T) {
	page := readRepository(t).documents["docs/reference/supported-versions.md"]
	shown := map[string][]string{}
	for line := range strings.Lines(page.text) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 7 || codenames[strings.TrimSpace(cells[4])] == "" {
			continue
		}
		ubuntu := strings.TrimSpace(cells[4])
		for _, m := range codeSpan.FindAllStringSubmatch(cells[3], -1) {
			source, err := apt.ParseSource(m[1], apt.OS{ID: "ubuntu", VersionID: ubuntu, Codename: codenames[ubuntu]})
			require.NoError(t, err, line)
			own := strings.TrimSpace(cells[5]) == "Ubuntu's own"
			assert.Equal(t, own, source.Line == "", line)
			if !strings.Contains(m[1], ":") && m[1] != "distro" {
				shown[ubuntu] = append(shown[ubuntu], m[1])
			}
		}
	}
	require.Len(t, shown, len(codenames))
	for ubuntu, releases := range shown {
		_, err := apt.ParseSource("ussuri", apt.OS{ID: "ubuntu", VersionID: ubuntu, Codename: codenames[ubuntu]})
		require.Error(t, err)
		_, has, found := strings.Cut(err.Error(), "it has ")
		require.True(t, found, err)
		slices.Sort(releases)
		assert.Equal(t, slices.Sorted(slices.Values(strings.Split(has, ", "))), releases, ubuntu)
	}
}

// The README is read whole: what is longer belongs into the documents.
func TestReadme_is_short(t *testing.T) {
	text := readRepository(t).documents["README.md"].text
	assert.LessOrEqual(t, strings.Count(text, "\n"), 105)
	for _, has := range []string{"## Deploy", "## Refresh from the Python charm", "## Every day", "## More"} {
		assert.Contains(t, text, has)
	}
}
