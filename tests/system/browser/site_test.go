package browser

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// page is what a browser has made of a page of the site.
type page struct {
	// Wider are the elements that reach over the right edge of the window and can't be scrolled.
	Wider []string
	// CutOff are lines of code that don't fit their block.
	CutOff []string
	// Cards are the cards of the start page, Columns how many of them are beside each other.
	Cards, Columns int
	// Copies are the buttons that copy code, Contents the entries of the page's own table of contents.
	Copies, Contents int
	// Search reports whether the field to search is above all links to pages; Dark whether one can choose a dark page.
	Search, Dark bool
	// Player reports whether the recording of the demo plays here.
	Player bool
	// Target is the place in the page that the address leads to.
	Target string
}

// inspect is added to each page that the test serves, and waits for the page's own scripts.
const inspect = `<script>window.addEventListener("load", () => setTimeout(() => {
const found = {Wider: [], CutOff: []}, width = document.documentElement.clientWidth;
const all = s => [...document.querySelectorAll(s)];
for (const e of all("article *")) {
  const r = e.getBoundingClientRect();
  if (r.width && r.right > width + 1 && !e.closest("table, pre, svg, .headerlink, .ap-wrapper")) found.Wider.push(e.tagName + " " + e.textContent.slice(0, 60));
}
for (const e of all("article pre")) if (e.scrollWidth > e.clientWidth + 1 && !e.closest(".ap-wrapper")) found.CutOff.push(e.textContent.slice(0, 200));
const cards = all("#learn, #get-something-done, #look-it-up, #understand");
found.Cards = cards.length;
found.Columns = new Set(cards.map(c => Math.round(c.getBoundingClientRect().left))).size;
found.Copies = all("button.copybtn").length;
found.Contents = all(".toc-tree a").length;
const search = document.querySelector("input[name=q]"), link = document.querySelector(".sidebar-tree a");
found.Search = search.getBoundingClientRect().top < link.getBoundingClientRect().top;
found.Dark = all(".theme-toggle").some(e => getComputedStyle(e.parentElement).display != "none");
found.Target = document.querySelector(":target")?.id;
found.Player = all(".ap-player").length > 0;
document.body.innerHTML = "<pre>" + btoa(unescape(encodeURIComponent(JSON.stringify(found)))) + "</pre>";
}, 500))</script></body>`

// site builds the site and serves it, with inspect in each page but that of the search.
func site(t *testing.T) string {
	t.Helper()
	build := exec.CommandContext(t.Context(), "make", "docs")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "build/site/index.html")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file := filepath.Join(root, "build/site", filepath.Clean("/"+r.URL.Path))
		text, err := os.ReadFile(file)
		if err != nil || !strings.HasSuffix(file, ".html") || strings.HasSuffix(file, "search.html") {
			http.ServeFile(w, r, file)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(strings.Replace(string(text), "</body>", inspect, 1)))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// hit is a result of the search, in the page that shows them.
var hit = regexp.MustCompile(`<li[^>]*><a href="([^"?]+)[^"]*"`)

func TestSiteIsReadableAndFound(t *testing.T) {
	at := site(t)
	look := func(path string, width int) (p page) {
		found(t, dump(t, at+path, width), &p)
		assert.Empty(t, p.Wider, "%s at %d", path, width)
		assert.Empty(t, p.CutOff, "%s at %d", path, width)
		return p
	}
	for _, width := range []int{1500, 390} {
		start := look("/docs/index.html", width)
		assert.Equal(t, 4, start.Cards)
		assert.Equal(t, map[int]int{1500: 2, 390: 1}[width], start.Columns)
		assert.True(t, start.Dark)
		howTo := look("/docs/how-to/kick-a-stale-member.html", width)
		assert.Positive(t, howTo.Copies)
		findings := look("/docs/reference/findings.html", width)
		assert.Greater(t, findings.Contents, 50)
		if width > 1000 {
			assert.True(t, start.Search)
			assert.Greater(t, howTo.Contents, 2)
		}
	}
	assert.Equal(t, "no-quorum", look("/docs/reference/findings.html#NO_QUORUM", 1500).Target, "as the dashboard links to it")
	demo := look("/docs/tutorial/first-look.html", 1500)
	if _, err := exec.LookPath("npm"); err == nil {
		assert.True(t, demo.Player)
	}
	for words, first := range map[string]string{
		"lacks entries": "docs/reference/findings.html", "disk full": "docs/reference/findings.html",
		"stale member": "docs/reference/findings.html", "no quorum": "docs/reference/findings.html",
		"OVNCentralNoQuorum": "docs/reference/findings.html",
		"hook failed stop":   "docs/how-to/",
	} {
		results := dump(t, at+"/search.html?q="+url.QueryEscape(words), 1200)
		m := hit.FindSubmatch(results)
		require.NotNil(t, m, "%s: %s", words, results)
		assert.True(t, strings.HasPrefix(string(m[1]), first), "%s: %s", words, m[1])
		for _, page := range []string{"ARCHITECTURE.html", "CHANGELOG.html", "CONTRIBUTING.html"} {
			assert.NotContains(t, string(results), page+"?", words)
		}
	}
}
