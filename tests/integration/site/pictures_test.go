package site

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
  const out = b.left < all.left || b.right > all.right || b.top < all.top || b.bottom > all.bottom;
  if (out) found.Outside.push(text.textContent);
  const y = (b.top + b.bottom) / 2, x = (b.left + b.right) / 2;
  for (const box of boxes) {
    if (y <= box.top || y >= box.bottom) continue;
    const wider = x > box.left && x < box.right && (b.left < box.left || b.right > box.right);
    const reachesIn = b.left < box.left && b.right > box.left + 2 && x < box.left;
    if (wider || reachesIn) found.Over.push(text.textContent);
  }
}
document.body.innerHTML = "<pre>" + btoa(unescape(encodeURIComponent(JSON.stringify(found)))) + "</pre>";
`

var answer = regexp.MustCompile(`<pre>([A-Za-z0-9+/=]+)</pre>`)

func draw(t *testing.T, svg string) (s shown) {
	t.Helper()
	page := filepath.Join(t.TempDir(), "page.html")
	html := "<!doctype html><meta charset=utf-8><body style='margin:0'>" + svg + "<script>" + measure + "</script>"
	require.NoError(t, os.WriteFile(page, []byte(html), 0o600))
	out := dump(t, "file://"+page, time.Minute)
	m := answer.FindSubmatch(out)
	require.NotNil(t, m, "%s", out)
	var text []byte
	require.NoError(t, json.Unmarshal(fmt.Appendf(nil, "%q", m[1]), &text))
	require.NoError(t, json.Unmarshal(text, &s))
	return s
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
