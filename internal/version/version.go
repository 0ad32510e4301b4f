// Package version has this build's version and the place of its documents.
package version

import (
	"regexp"
	"strings"
)

// Version is set when the binary is linked (see the Makefile).
var Version = unknown

const unknown = "unknown"

// Known returns [Version], or an empty text if the build has no version.
func Known() string {
	if Version == unknown {
		return ""
	}
	return Version
}

// Docs is the URL of this build's documents, ending in a slash. It is set like Version.
var Docs = "https://ovn-central.github.io/ovn-central-operator/docs/"

// page matches the path of a page in the repository, which does not exist on a unit.
var page = regexp.MustCompile(`\bdocs/[\w/-]+\.md\b`)

// Linked returns a text with paths of pages, such as docs/how-to/grow.md, replaced by their URLs.
func Linked(text string) string {
	return page.ReplaceAllStringFunc(text, func(path string) string {
		return Docs + strings.TrimSuffix(strings.TrimPrefix(path, "docs/"), ".md") + ".html"
	})
}
