package site

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/monitoring/content"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/version"
)

const (
	phone, desktop = 390, 1500

	start, howTo, demo = "/docs/index.html", "/docs/how-to/kick-a-stale-member.html", "/docs/tutorial/first-look.html"
	findings           = "/docs/reference/findings.html"
	// linked is a finding as the dashboard links to it: by its code.
	linked = findings + "#NO_QUORUM"
)

// firstHits has the place that a search for words must show first.
var firstHits = map[string]string{
	"lacks entries":           "docs/reference/findings.html#file-lacks-entries",
	"disk full":               "docs/reference/findings.html#disk-full",
	"no space left on device": "docs/reference/findings.html#disk-full",
	"stale member":            "docs/reference/findings.html#stale-member",
	"no quorum":               "docs/reference/findings.html#no-quorum",
	"northd hangs":            "docs/reference/findings.html#northd-hangs",
	"OVNCentralMemberDown":    "docs/reference/findings.html#member-down",
	"OVNQuorumLost":           "docs/reference/findings.html#no-quorum",
	"OVNChassisUnresponsive":  "docs/reference/findings.html#gateway-host-silent",
	"hook failed stop":        "docs/how-to/remove-a-unit.html#if-the-unit-stays-in-error",
	`hook failed: "stop"`:     "docs/how-to/remove-a-unit.html#if-the-unit-stays-in-error",
	"certificate has expired": "docs/how-to/rotate-certificates.html#when-a-certificate-has-expired",
	"drain a node":            "docs/how-to/take-a-node-out.html",
	"ovn-gateways":            "docs/how-to/spread-gateways.html",
	"recover quorum":          "docs/how-to/recover-quorum.html",
}

// build builds the site.
func build(t *testing.T) {
	t.Helper()
	makeDocs := exec.CommandContext(t.Context(), "make", "docs")
	makeDocs.Dir = root
	out, err := makeDocs.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "build/site/index.html", "it says what to open")
}

// paths returns the paths of all pages with text, as in addresses.
func paths(t *testing.T) (all []string) {
	t.Helper()
	for _, pattern := range []string{"[A-Z]*.html", "docs/*.html", "docs/*/*.html", "tests/*/*/*.html"} {
		files, err := filepath.Glob(filepath.Join(built, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, files, pattern)
		for _, file := range files {
			all = append(all, strings.TrimPrefix(file, built))
		}
	}
	return all
}

func TestSite(t *testing.T) {
	build(t)
	want := wanted{Pages: []visit{{Path: linked, Widths: []int{desktop}}}}
	for _, path := range paths(t) {
		want.Pages = append(want.Pages, visit{path, []int{desktop, phone}, path == start})
	}
	require.Greater(t, len(want.Pages), 60)
	for words := range firstHits {
		want.Searches = append(want.Searches, words)
	}
	site := browse(t, light, want)

	var all []string
	for path, look := range site.Pages {
		for width, page := range look.At {
			for _, problem := range problems(page) {
				all = append(all, fmt.Sprintf("%s at %d: %s", path, width, problem))
			}
		}
	}
	assert.Empty(t, strings.Join(all, "\n"))
	t.Run("start", func(t *testing.T) { startPage(t, site.Pages[start]) })
	t.Run("findings", func(t *testing.T) { anchors(t, site.Pages) })
	t.Run("demo", func(t *testing.T) { recording(t, site.Pages[demo].At[desktop]) })
	t.Run("search", func(t *testing.T) { searched(t, site.Hits) })
	t.Run("links", links)
	t.Run("dark", func(t *testing.T) {
		asked := browse(t, dark, wanted{Pages: []visit{{Path: howTo, Widths: []int{desktop}}}}).Pages[howTo]
		assert.Equal(t, black, asked.At[desktop].Background, "as the browser asks for")
		assert.Equal(t, []string{"rgba(0, 0, 0, 0)"}, asked.At[desktop].Icons, "no bright squares")
	})
}

const black, white = "rgb(19, 20, 22)", "rgb(255, 255, 255)"

// problems returns what is wrong with a page, of which no part may be out of reach, and which has what every page has.
func problems(p page) (all []string) {
	for _, e := range p.Wider {
		all = append(all, "wider than the window: "+e)
	}
	for _, code := range p.CutOff {
		all = append(all, "cut off: "+code)
	}
	for _, table := range p.Scrolls {
		all = append(all, "must be scrolled: "+table)
	}
	if p.Sideways != 0 {
		all = append(all, fmt.Sprintf("the page is %d pixels wider than the window", p.Sideways))
	}
	if p.Copies != p.Code {
		all = append(all, fmt.Sprintf("%d copy buttons for %d blocks of code", p.Copies, p.Code))
	}
	if p.Themes != 1 {
		all = append(all, fmt.Sprintf("%d switches of colours", p.Themes))
	}
	if p.Background != white {
		all = append(all, "the browser asks for a light page, the background is "+p.Background)
	}
	return all
}

func startPage(t *testing.T, l look) {
	t.Helper()
	assert.True(t, l.At[desktop].SearchOnTop)
	assert.Subset(t, l.Clicked, []string{black, white}, "the switch of colours")
	for width, columns := range map[int]int{desktop: 2, phone: 1} {
		assert.Equal(t, 4, l.At[width].Cards, width)
		assert.Equal(t, columns, l.At[width].Columns, width)
		require.Len(t, l.At[width].Pictures, 1, "the architecture")
		assert.Positive(t, l.At[width].Pictures[0])
	}
}

// Each code has a place, which the page's own table of contents names.
func anchors(t *testing.T, pages map[string]look) {
	t.Helper()
	assert.Greater(t, pages[howTo].At[desktop].Contents, 2)
	page := pages[findings].At[desktop]
	codes := finding.Catalogue()
	assert.Greater(t, page.Contents, len(codes))
	var missing []finding.Code
	for _, entry := range codes {
		if !slices.Contains(page.Anchors, strings.ReplaceAll(strings.ToLower(string(entry.Code)), "_", "-")) {
			missing = append(missing, entry.Code)
		}
	}
	assert.Empty(t, missing)
	assert.Equal(t, "no-quorum", pages[linked].At[desktop].Target)
}

// The recording pauses at the printed command. Without npm, make docs has no player.
func recording(t *testing.T, p page) {
	t.Helper()
	if _, err := exec.LookPath("npm"); err == nil {
		assert.True(t, p.Player)
		assert.Contains(t, strings.Join(p.Pauses, "\n"), "what to type next")
	}
}

func searched(t *testing.T, hits map[string][]string) {
	t.Helper()
	for words, first := range firstHits {
		found := hits[words]
		require.NotEmpty(t, found, words)
		assert.Equal(t, first, found[0], words)
		for _, page := range []string{"ARCHITECTURE.html", "CHANGELOG.html", "CONTRIBUTING.html"} {
			assert.False(t, slices.ContainsFunc(found, func(hit string) bool { return strings.HasPrefix(hit, page) }), words)
		}
	}
}

// links checks that each link of an alert, and of the dashboard, leads to a place in the site.
func links(t *testing.T) {
	var all []string
	for _, rules := range []relation.AlertRules{
		content.AlertRules(), content.ExporterAlertRules(), content.LogAlertRules(),
	} {
		for _, group := range rules.Groups {
			for _, rule := range group.Rules {
				require.NotEmpty(t, rule.Annotations["runbook_url"], rule.Alert)
				all = append(all, rule.Annotations["runbook_url"])
			}
		}
	}
	alerts := len(all)
	var dashboard any
	require.NoError(t, json.Unmarshal(unpacked(t, content.Dashboards()[0]), &dashboard))
	all = append(all, urls(dashboard)...)
	assert.Greater(t, len(all), alerts+20)
	for _, url := range all {
		path, ours := strings.CutPrefix(url, version.Docs)
		require.True(t, ours, url)
		path, anchor, _ := strings.Cut(path, "#")
		text, err := os.ReadFile(filepath.Join(built, "docs", path))
		require.NoError(t, err, url)
		if anchor != "" && !strings.HasPrefix(anchor, "$") { // Grafana's variable
			exists := strings.Contains(string(text), ` id="`+anchor+`"`)
			assert.True(t, exists, url)
		}
	}
}

// unpacked returns a dashboard as the relation has it, in its own form.
func unpacked(t *testing.T, dashboard string) []byte {
	t.Helper()
	packed, err := base64.StdEncoding.DecodeString(dashboard)
	require.NoError(t, err)
	xz := exec.CommandContext(t.Context(), "xz", "-dc")
	xz.Stdin = strings.NewReader(string(packed))
	text, err := xz.Output()
	require.NoError(t, err)
	return text
}

// urls returns the value of each key url in JSON.
func urls(value any) (all []string) {
	switch v := value.(type) {
	case map[string]any:
		for key, inside := range v {
			if url, is := inside.(string); is && key == "url" {
				all = append(all, url)
				continue
			}
			all = append(all, urls(inside)...)
		}
	case []any:
		for _, inside := range v {
			all = append(all, urls(inside)...)
		}
	}
	return all
}
