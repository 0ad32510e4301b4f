package version_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/version"
)

func TestLinked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"see docs/how-to/grow.md.": "see " + version.Docs + "how-to/grow.html.",
		"(docs/how-to/grow.md), docs/reference/ports.md: x": "(" + version.Docs + "how-to/grow.html), " + version.Docs +
			"reference/ports.html: x",
		version.Docs + "how-to/grow.html": version.Docs + "how-to/grow.html",
		"https://example.com/docs/":       "https://example.com/docs/",
	} {
		assert.Equal(t, want, version.Linked(text))
	}
}
