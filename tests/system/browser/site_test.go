// Package browser looks at the documents' pictures and at their site in a real browser.
package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
	// Background is the colour behind the text.
	Background string
	// Player reports whether the recording of the demo plays here. Pauses are the labels of the places where it pauses.
	Player bool
	Pauses []string
	// Pictures are the widths of the pictures.
	Pictures []int
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
found.Background = getComputedStyle(document.body).backgroundColor;
found.Target = document.querySelector(":target")?.id;
found.Player = all(".ap-player").length > 0;
found.Pauses = all(".ap-marker-container .ap-tooltip").map(e => e.textContent);
found.Pictures = all("article img:not(.copybtn img)").map(e => e.naturalWidth);
document.body.innerHTML = "<pre>" + btoa(unescape(encodeURIComponent(JSON.stringify(found)))) + "</pre>";
}, 500))</script></body>`

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

// look looks at a page in a window of that width. Nothing of it may be cut off.
func look(t *testing.T, url string, width int) (p page) {
	t.Helper()
	found(t, dump(t, url, width), &p)
	assert.Empty(t, p.Wider, "%s at %d", url, width)
	assert.Empty(t, p.CutOff, "%s at %d", url, width)
	return p
}

var hit = regexp.MustCompile(`<li[^>]*><a href="([^"?]+)[^"]*"`)

func TestSite_is_readable_and_found(t *testing.T) {
	at := site(t)
	look := func(path string, width int) page { return look(t, at+path, width) }
	for _, width := range []int{1500, 390} {
		start := look("/docs/index.html", width)
		assert.Equal(t, 4, start.Cards)
		assert.Equal(t, map[int]int{1500: 2, 390: 1}[width], start.Columns)
		assert.True(t, start.Dark)
		require.Len(t, start.Pictures, 1, "the architecture")
		assert.Positive(t, start.Pictures[0])
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
		assert.Regexp(t, `what to type next`, strings.Join(demo.Pauses, "\n"), "it pauses at the printed command")
	}
	for scheme, background := range []string{"rgb(19, 20, 22)", "rgb(255, 255, 255)"} { // 0 is dark, 1 is light
		var start page
		found(t, dump(t, at+"/docs/index.html", 1500, fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme)), &start)
		assert.Equal(t, background, start.Background, "as the browser asks for")
	}
	for words, first := range map[string]string{
		"lacks entries": "docs/reference/findings.html", "disk full": "docs/reference/findings.html",
		"stale member": "docs/reference/findings.html", "no quorum": "docs/reference/findings.html",
		"OVNCentralMemberDown": "docs/reference/findings.html",
		"hook failed stop":     "docs/how-to/",
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

// A page that is not named above has the same limits.
func TestSite_no_page_is_cut_off(t *testing.T) {
	at := site(t)
	pages, err := filepath.Glob(filepath.Join(root, "build/site/docs/*/*.html"))
	require.NoError(t, err)
	require.Greater(t, len(pages), 40)
	for _, page := range pages {
		path, err := filepath.Rel(filepath.Join(root, "build/site"), page)
		require.NoError(t, err)
		for _, width := range []int{1500, 390} {
			look(t, at+"/"+path, width)
		}
	}
}

const root = "../../.."

type shown struct {
	// Texts, Boxes and Arrows are how many of each it has drawn.
	Texts, Boxes, Arrows int
	// Outside has the texts that reach out of the picture, Over the texts that are wider than the box around them.
	Outside, Over []string
}

const measure = `
const svg = document.querySelector("svg"), all = svg.getBoundingClientRect();
const found = {Texts: 0, Boxes: 0, Arrows: svg.querySelectorAll("[marker-end]").length, Outside: [], Over: []};
const boxes = [...svg.querySelectorAll("rect[rx]")].map(r => r.getBoundingClientRect()).filter(b => b.height < 100);
found.Boxes = boxes.length;
for (const text of svg.querySelectorAll("text")) {
  const b = text.getBoundingClientRect();
  found.Texts++;
  if (b.width == 0) continue;
  if (b.left < all.left || b.right > all.right || b.top < all.top || b.bottom > all.bottom) found.Outside.push(text.textContent);
  const y = (b.top + b.bottom) / 2, x = (b.left + b.right) / 2;
  for (const box of boxes)
    if (x > box.left && x < box.right && y > box.top && y < box.bottom && (b.left < box.left || b.right > box.right)) found.Over.push(text.textContent);
  for (const box of boxes)
    if (y > box.top && y < box.bottom && b.left < box.left && b.right > box.left + 2 && x < box.left) found.Over.push(text.textContent);
}
document.body.innerHTML = "<pre>" + btoa(unescape(encodeURIComponent(JSON.stringify(found)))) + "</pre>";
`

var answer = regexp.MustCompile(`<pre>([A-Za-z0-9+/=]+)</pre>`)

func draw(t *testing.T, svg string) (s shown) {
	t.Helper()
	page := filepath.Join(t.TempDir(), "page.html")
	html := "<!doctype html><meta charset=utf-8><body style='margin:0'>" + svg + "<script>" + measure + "</script>"
	require.NoError(t, os.WriteFile(page, []byte(html), 0o600))
	found(t, dump(t, "file://"+page, 1200), &s)
	return s
}

// dump returns a page as a browser window of that width renders it.
func dump(t *testing.T, url string, width int, flags ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// Its sandbox does not work for root.
	flags = append(flags, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
		fmt.Sprintf("--window-size=%d,900", width), "--virtual-time-budget=10000", "--user-data-dir="+t.TempDir(), "--dump-dom", url)
	out, err := exec.CommandContext(ctx, "chromium-headless-shell", flags...).Output()
	require.NoError(t, err)
	return out
}

func found(t *testing.T, page []byte, into any) {
	t.Helper()
	m := answer.FindSubmatch(page)
	require.NotNil(t, m, "%s", page)
	var text []byte
	require.NoError(t, json.Unmarshal(fmt.Appendf(nil, "%q", m[1]), &text))
	require.NoError(t, json.Unmarshal(text, into))
}

func TestPictures_texts_fit_their_boxes(t *testing.T) {
	for file, least := range map[string]shown{
		"docs/pictures/architecture.svg":                  {Texts: 40, Boxes: 20, Arrows: 9},
		"docs/pictures/removal.svg":                       {Texts: 50, Boxes: 18, Arrows: 5},
		"docs/reference/layers.svg":                       {Texts: 25, Boxes: 10, Arrows: 9},
		"internal/gateway/picture/testdata/rebalance.svg": {Texts: 20, Boxes: 12, Arrows: 2},
		"internal/gateway/picture/testdata/names.svg":     {Texts: 8, Boxes: 3, Arrows: 1},
	} {
		t.Run(file, func(t *testing.T) {
			svg, err := os.ReadFile(filepath.Join(root, file))
			require.NoError(t, err)
			s := draw(t, string(svg))
			assert.GreaterOrEqual(t, s.Texts, least.Texts)
			assert.GreaterOrEqual(t, s.Boxes, least.Boxes)
			assert.GreaterOrEqual(t, s.Arrows, least.Arrows)
			assert.Empty(t, s.Outside)
			assert.Empty(t, s.Over)
		})
	}
}

// A check that finds nothing must be able to find something.
func TestPictures_overflow_is_found(t *testing.T) {
	svg := `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 100" width="200" height="100">` +
		`<rect x="10" y="10" width="40" height="20" rx="3"/><text x="30" y="25" text-anchor="middle">much-too-long</text>` +
		`<text x="150" y="80">` + strings.Repeat("x", 40) + `</text><text x="5" y="60">well</text></svg>`
	s := draw(t, svg)
	assert.Equal(t, []string{"much-too-long"}, s.Over)
	assert.Contains(t, s.Outside, strings.Repeat("x", 40))
	assert.NotContains(t, s.Outside, "well")
}
