package docs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/version"
)

var noLetter = regexp.MustCompile(`[^a-z0-9]+`)

// siteAnchors are the anchors of a page's headings in the site, as docutils makes them (make_id), and how many headings have
// each. In Markdown they are others: [document.anchors].
func siteAnchors(d document) map[string]int {
	all := map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(d.prose(), -1) {
		all[strings.Trim(noLetter.ReplaceAllString(strings.ToLower(m[1]), "-"), "-")]++
	}
	return all
}

func TestEveryFindingHasItsHeading(t *testing.T) {
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

func TestSiteAnchorsAreThoseOfDocutils(t *testing.T) {
	d := document{"a.md", "# Why `stop` can refuse\n\n## MEMBER_DOWN\n\n## Member down\n"}
	assert.Equal(t, map[string]int{"why-stop-can-refuse": 1, "member-down": 2}, siteAnchors(d))
}
