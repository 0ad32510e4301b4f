package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

const findingsIntro = `# Findings

<!-- Written by "make generate" from internal/finding. -->

A finding is one thing that is wrong with the application, or worth knowing. It has a code, which never changes its
meaning.
` + "`juju status`" + ` begins with the most important one ([read the status](../how-to/read-the-status.md));
` + "`juju run ovn-central/0 health detail=true`" + ` lists them with the commands to type;
` + "`health format=json`, `cluster-status format=json`" + ` and [alerts](monitoring.md) have the
codes: the alert of ` + "`MEMBER_DOWN` is `OVNCentralMemberDown`" + `.

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

var (
	argument = regexp.MustCompile(`\{\w+\}`)
	// document is the path of a page, from the root.
	document = regexp.MustCompile(`docs/[\w/-]+\.md`)
)

// findingsPage describes the catalogue, sorted by the subjects of findings and by their codes.
func findingsPage(root string) ([]byte, error) {
	var out strings.Builder
	out.WriteString(findingsIntro)
	entries := finding.Catalogue()
	slices.SortFunc(entries, func(a, b finding.Entry) int { return cmp.Compare(a.Code, b.Code) })
	for _, k := range kinds {
		fmt.Fprintf(&out, "\n## %s\n", k.title)
		for _, e := range entries {
			if e.Kind == k.kind {
				writeFinding(&out, root, e)
			}
		}
	}
	return []byte(out.String()), nil
}

func writeFinding(out *strings.Builder, root string, e finding.Entry) {
	facts := []string{e.Severity.String()}
	if e.Quiet {
		facts = append(facts, "quiet")
	}
	if e.For > 0 {
		facts = append(facts, fmt.Sprintf("alert after %d min", int(e.For.Minutes())))
	}
	fmt.Fprintf(out, "\n### %s\n\n*%s*", e.Code, strings.Join(facts, ", "))
	if argument.ReplaceAllString(e.Line, "") != "" { // otherwise the whole line is the finding's own
		line := argument.ReplaceAllStringFunc(e.Line, func(name string) string {
			return strings.ToUpper(strings.Trim(name, "{}"))
		})
		fmt.Fprintf(out, ": `%s`", line)
	}
	out.WriteString("\n")
	if e.Meaning != "" {
		fmt.Fprintf(out, "\n%s\n", linked(root, e.Meaning))
	}
	if e.Do != "" {
		fmt.Fprintf(out, "\nDo: %s\n", linked(root, e.Do))
	}
}

// linked returns a text of the catalogue with links in the place of the paths of pages. If a page does not exist, the
// test of the documents' links says so.
func linked(root, text string) string {
	return document.ReplaceAllStringFunc(text, func(path string) string {
		title := path
		if page, err := os.ReadFile(filepath.Join(root, path)); err == nil {
			first, _, _ := strings.Cut(string(page), "\n")
			title = strings.TrimPrefix(first, "# ")
		}
		to := strings.TrimPrefix(path, reference+"/")
		if to == path {
			to = "../" + strings.TrimPrefix(path, "docs/")
		}
		return fmt.Sprintf("[%s](%s)", title, to)
	})
}
