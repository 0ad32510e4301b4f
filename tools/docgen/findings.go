package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/docs"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

const findingsIntro = `# Findings

<!-- "make generate" writes this page but for the explanations: edit these here. -->

A finding is one thing that is wrong with the application, or worth knowing. It has a code, which never changes its
meaning.
` + "`juju status`" + ` begins with the most important one ([read the status](../how-to/read-the-status.md));
` + "`juju run ovn-central/0 health detail=true`" + ` lists them with the commands to type;
` + "`health format=json`, `cluster-status format=json`" + ` and [alerts](monitoring.md) have the
codes: the alert of ` + "`NO_QUORUM` is `OVNCentralNoQuorum`" + `.

| Severity | Meaning |
|---|---|
| error | It keeps the unit from working until an operator does something: the unit is ` + "`blocked`" + `. |
| waiting | It ends by itself: the unit is ` + "`waiting`" + `. |
| warning | It needs an operator's attention, while the unit works. |
| info | It is worth knowing. |

*Quiet* findings are not in the status line. If one has no "Do", nothing has to be done. A finding can be less or
more severe than this page says if other facts are known. Words in capitals are names and numbers of the finding.
` + "`nb: `, `sb: ` or `nb, sb: `" + ` precede a line that is about databases.
`

// kinds are the subjects of findings, in the order of the page, with their headings.
var kinds = []struct {
	kind  finding.Kind
	title string
}{
	{finding.Application, "Findings about the application"},
	{finding.Database, "Findings about a database"},
	{finding.Member, "Findings about a member"},
	{finding.Gateway, "Findings about gateways"},
	{finding.Chassis, "Findings about chassis"},
	{finding.Northd, "Findings about ovn-northd"},
	{finding.Node, "Refusals about a node"},
	{finding.Option, "Findings about options"},
	{finding.Unit, "Findings about a unit"},
}

var argument = regexp.MustCompile(`\{\w+\}`)

// findingsPage describes the catalogue, by what findings are about and by their codes. It keeps the explanations that
// the page has.
func findingsPage(root string) ([]byte, error) {
	written, err := os.ReadFile(filepath.Join(root, reference, "findings.md"))
	if err != nil {
		return nil, err
	}
	explanations := docs.Explanations(string(written))
	var out strings.Builder
	out.WriteString(findingsIntro)
	entries := finding.Catalogue()
	slices.SortFunc(entries, func(a, b finding.Entry) int { return cmp.Compare(a.Code, b.Code) })
	for _, k := range kinds {
		fmt.Fprintf(&out, "\n## %s\n", k.title)
		for _, e := range entries {
			if e.Kind != k.kind {
				continue
			}
			fmt.Fprintf(&out, "\n### %s\n\n%s\n", e.Code, facts(e))
			if text := explanations[string(e.Code)]; text != "" {
				fmt.Fprintf(&out, "\n%s\n", text)
			}
		}
	}
	return []byte(out.String()), nil
}

// facts is the paragraph with the severity and the line of a finding.
func facts(e finding.Entry) string {
	words := []string{e.Severity.String()}
	if e.Quiet {
		words = append(words, "quiet")
	}
	if e.For > 0 {
		words = append(words, fmt.Sprintf("alert after %d min", int(e.For.Minutes())))
	}
	text := "*" + strings.Join(words, ", ") + "*"
	if argument.ReplaceAllString(e.Line, "") == "" { // the whole line is an argument
		return text
	}
	return text + ": `" + argument.ReplaceAllStringFunc(e.Line, func(name string) string {
		return strings.ToUpper(strings.Trim(name, "{}"))
	}) + "`"
}
