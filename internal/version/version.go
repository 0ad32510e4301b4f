// Package version says which build this is, and where its documents are.
package version

import (
	"regexp"
	"strings"
)

// Version is set when the binary is linked (see the Makefile).
var Version = "unknown"

// Docs is where the documents of this build are, with a slash at the end. It is set like Version.
var Docs = "https://ovn-central.github.io/ovn-central-operator/docs/"

// page is the path of a page in the repository. On a unit there is no such file.
var page = regexp.MustCompile(`\bdocs/[\w/-]+\.md\b`)

// Linked is a text with the URLs of pages in the place of their paths in the repository: docs/how-to/grow.md.
func Linked(text string) string {
	return page.ReplaceAllStringFunc(text, func(path string) string {
		return Docs + strings.TrimSuffix(strings.TrimPrefix(path, "docs/"), ".md") + ".html"
	})
}
