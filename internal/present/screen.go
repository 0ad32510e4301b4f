package present

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
)

// screenLines limits the first screen of cluster-status.
const screenLines = 24

// Row is a unit in the table of cluster-status.
type Row struct {
	Unit, Address, NB, SB, Northd, Up string
}

// Screen renders the first screen of cluster-status on a unit: a table of the units, the summary, and the findings with
// their remedies.
func Screen(v juju.Version, unit string, rows []Row, all []finding.Finding, summary string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "UNIT\tADDRESS\tNB\tSB\tNORTHD\tUP")
	for _, r := range rows {
		fmt.Fprintln(w, strings.Join([]string{r.Unit, r.Address, r.NB, r.SB, r.Northd, r.Up}, "\t"))
	}
	_ = w.Flush() // a strings.Builder does not fail
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if summary != "" {
		lines = append(lines, "", summary)
	}
	wrong := slices.DeleteFunc(finding.Sort(all), func(f finding.Finding) bool { return f.Severity == finding.Info })
	if len(wrong) == 0 {
		return strings.Join(append(lines, "nothing is wrong"), "\n") + "\n"
	}
	lines = append(lines, "")
	said := map[string]bool{}
	for i, f := range wrong {
		one := brief(v, f, said)
		rest := len(wrong) - i - 1
		if room := screenLines - len(lines) - min(1, rest); len(one) > room && i > 0 {
			rest++
			more := v.Render(command.Command{
				Unit: unit, Action: "health",
				Params: []command.Param{{Key: "detail", Value: "true"}},
			})
			lines = append(lines, fmt.Sprintf("%d more; run: %s", rest, more))
			break
		}
		lines = append(lines, one...)
	}
	return strings.Join(lines, "\n") + "\n"
}

// brief renders a finding and its remedies, a line each. It omits remedies that an earlier finding has too; said
// records them.
func brief(v juju.Version, f finding.Finding, said map[string]bool) []string {
	var b strings.Builder
	for _, r := range f.Remedies {
		writeRemedy(&b, v, f, r)
	}
	if said[b.String()] {
		b.Reset()
	}
	said[b.String()] = true
	lines := []string{fmt.Sprintf("%s: %s", f.Code, f.Message())}
	if text := strings.TrimSuffix(b.String(), "\n"); text != "" {
		lines = append(lines, strings.Split(text, "\n")...)
	}
	return lines
}
