// Package docs embeds the page of the documents that the program quotes.
package docs

import (
	_ "embed"
	"strings"
)

// Findings is the page that explains each finding.
//
//go:embed reference/findings.md
var Findings string

// Explanations returns the paragraphs about each code on a page of findings: its meaning, then what to do after "Do: ".
// Either may be missing.
func Explanations(page string) map[string]string {
	all := map[string]string{}
	for section := range strings.SplitSeq(page, "\n### ") {
		section, _, _ = strings.Cut(section, "\n## ")
		code, rest, _ := strings.Cut(section, "\n\n")
		_, text, _ := strings.Cut(rest, "\n\n") // the first paragraph has the facts
		all[code] = strings.TrimSpace(text)
	}
	return all
}
