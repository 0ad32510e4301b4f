// Package present renders findings: the status line, the first screen of the action cluster-status, the action
// health, and documents for programs. No other package renders findings.
package present

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/version"
)

// StatusWidth is the number of characters that `juju status` shows of a longer message, without the ellipsis
// (maxMessageLength in cmd/juju/status/output_tabular.go of Juju 3.6 and 4.0).
const StatusWidth = 120 - len("...")

// ready is the beginning of an active unit's message. Programs wait for it, as they do with the Python charm
// (wait_for_application_states of zaza's model.py).
const ready = "Unit is ready ("

// Ready returns the message of an active unit, with text in parentheses.
func Ready(text string) string { return ready + text + ")" }

// Workload returns the word and the message of a unit's workload status: the most important finding with its first
// remedy and its details, then the lines of the other findings, then tail. A command that does not fit into
// [StatusWidth] with its condition is replaced by a reference to cluster-status. Quiet findings are left out.
func Workload(v juju.Version, all []finding.Finding, tail ...string) (juju.StatusWord, string) {
	word, width := wordOf(all), StatusWidth
	if word == juju.Active {
		width -= len(ready)
	}
	var parts []string
	for _, f := range finding.Sort(all) {
		switch {
		case finding.Lookup(f.Code).Quiet:
		case len(parts) == 0:
			parts = append(parts, headline(v, f, width))
		default:
			parts = append(parts, f.Line())
		}
	}
	parts = slices.DeleteFunc(append(parts, tail...), func(text string) bool { return text == "" })
	text := strings.Join(parts, "; ")
	if word == juju.Active {
		return word, Ready(text)
	}
	return word, text
}

func wordOf(all []finding.Finding) juju.StatusWord {
	switch worst := finding.Worst(all); {
	case worst == finding.Error:
		return juju.Blocked
	case finding.Has(all, finding.Paused):
		return juju.Maintenance
	case worst == finding.Waiting:
		return juju.Waiting
	}
	return juju.Active
}

// headline returns a finding with its first remedy if both fit into width characters, and then the details.
func headline(v juju.Version, f finding.Finding, width int) string {
	text := f.Line()
	if len(f.Remedies) > 0 {
		first := Remedy(v, f, f.Remedies[0])
		fits := func(whole string) bool { return utf8.RuneCountInString(whole) <= width }
		switch command, unconditional := strings.CutPrefix(first, runs); {
		case fits(text + "; " + first):
			text += "; " + first
		case unconditional && fits(text+": "+command):
			text += ": " + command
		default:
			text += "; run cluster-status"
		}
	}
	if details := f.Details(); len(details) > 0 {
		text += " (" + strings.Join(details, "; ") + ")"
	}
	return text
}

// runs precedes a command without a condition.
const runs = "run: "

// Remedy renders a remedy in one line, the condition first: `if this lasts: juju run …`.
func Remedy(v juju.Version, f finding.Finding, r finding.Remedy) string {
	condition, words := f.Condition(r), commands(v, r)
	alone := len(words) == 0
	if deed := f.Deed(r); deed != "" {
		words = append(words, deed)
	}
	switch what := strings.Join(words, "; "); {
	case condition != "":
		return condition + ": " + what
	case alone:
		return what
	default:
		return runs + what
	}
}

// remedyLines renders a remedy. A command has a line of its own, so that it can be copied.
func remedyLines(v juju.Version, f finding.Finding, r finding.Remedy) (lines []string) {
	typed := commands(v, r)
	if len(typed) == 0 {
		return []string{Remedy(v, f, r)}
	}
	if condition := f.Condition(r); condition != "" {
		lines = append(lines, condition+":")
	}
	lines = append(lines, typed...)
	if deed := f.Deed(r); deed != "" {
		lines = append(lines, deed)
	}
	return lines
}

func commands(v juju.Version, r finding.Remedy) (all []string) {
	if line := v.Render(r.Command); line != "" {
		all = append(all, line)
	}
	for _, c := range r.Then {
		all = append(all, v.Render(c))
	}
	return all
}

// Failure renders an error. The remedies of a refusal follow, each once, a line each: `next: if ovn-central/1 is lost
// for good: juju …`.
func Failure(v juju.Version, err error) string {
	lines := []string{err.Error()}
	for _, f := range finding.Sort(finding.Reasons(err)) {
		for _, r := range f.Remedies {
			if line := "next: " + strings.TrimPrefix(Remedy(v, f, r), runs); !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	return strings.Join(lines, "\n")
}

// Messages renders each finding in one line.
func Messages(all []finding.Finding) (lines []string) {
	for _, f := range finding.Sort(all) {
		lines = append(lines, f.Message())
	}
	return lines
}

// alikeShown is how many of the findings that are alike [Lines] renders. It counts the others.
const alikeShown = 3

// kindsShown is how many kinds of findings with the same code [Lines] renders. It counts the findings of the others.
const kindsShown = 20

// Lines renders the findings, each with its remedies below it. It counts the rest of many findings that are about
// different subjects and alike otherwise: a chassis that is gone can be a candidate of a thousand gateways. If each
// needs a command of its own, such as the rows of a thousand candidates, it counts the rest last.
func Lines(v juju.Version, all []finding.Finding) (lines []string) {
	said, kinds, rest := map[string]bool{}, map[finding.Code]int{}, map[finding.Code]int{}
	for _, alike := range groups(v, finding.Sort(all)) {
		code := alike[0].Code
		if kinds[code]++; kinds[code] > kindsShown {
			rest[code] += len(alike)
			continue
		}
		for i, f := range alike {
			if i == alikeShown && len(alike) > alikeShown+1 {
				lines = append(lines, fmt.Sprintf("… and %d more like it: %s", len(alike)-i, f.Code))
				break
			}
			lines = append(append(lines, f.Message()), indented(v, f, said)...)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(rest)) {
		lines = append(lines, fmt.Sprintf("… and %d more: %s", rest[code], code))
	}
	return lines
}

// groups returns the findings by kind, in the order of the first one of each kind.
func groups(v juju.Version, all []finding.Finding) (groups [][]finding.Finding) {
	at := map[string]int{}
	for _, f := range all {
		kind := []string{string(f.Code), f.Args.Value}
		kind = append(kind, f.Details()...)
		for _, r := range f.Remedies {
			kind = append(kind, Remedy(v, f, r))
		}
		key := strings.Join(kind, "\n")
		i, found := at[key]
		if !found {
			i, groups = len(groups), append(groups, nil)
			at[key] = i
		}
		groups[i] = append(groups[i], f)
	}
	return groups
}

// indented renders the remedies of a finding, unless an earlier one has the same: said records them.
func indented(v juju.Version, f finding.Finding, said map[string]bool) (lines []string) {
	for _, r := range f.Remedies {
		for _, line := range remedyLines(v, f, r) {
			lines = append(lines, "    "+line)
		}
	}
	key := strings.Join(lines, "\n")
	if said[key] {
		return nil
	}
	said[key] = true
	return lines
}

// InLine renders a finding with its remedies in one line.
func InLine(v juju.Version, f finding.Finding) string {
	parts := []string{f.Message()}
	for _, r := range f.Remedies {
		parts = append(parts, Remedy(v, f, r))
	}
	return strings.Join(parts, "; ")
}

// Ways renders the remedies of the findings, each once: a condition, and the commands below it.
func Ways(v juju.Version, all []finding.Finding) (lines []string) {
	said := map[string]bool{}
	for _, f := range finding.Sort(all) {
		for _, r := range f.Remedies {
			way := remedyLines(v, f, r)
			if key := strings.Join(way, "\n"); !said[key] {
				said[key] = true
				lines = append(lines, way...)
			}
		}
	}
	return lines
}

// screenLines limits the first screen of cluster-status.
const screenLines = 24

// Row is a unit in the table of cluster-status.
type Row struct {
	Unit, Address, NB, SB, Northd, Up string
}

// well returns the line for a unit that sees no problem. A cluster that tolerates no failure is worth a command.
func well(v juju.Version, all []finding.Finding) string {
	fragile := func(f finding.Finding) bool { return f.Code == finding.FewMembers && len(f.Remedies) > 0 }
	at := slices.IndexFunc(all, fragile)
	if at < 0 {
		return "nothing is wrong"
	}
	return "nothing is wrong, but no member may fail: " + Remedy(v, all[at], all[at].Remedies[0])
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
	wrong := problems(all)
	if len(wrong) == 0 {
		return strings.Join(append(lines, well(v, all)), "\n") + "\n"
	}
	lines = append(lines, "")
	said := map[string]bool{}
	for i, f := range wrong {
		one := append([]string{fmt.Sprintf("%s: %s", f.Code, f.Message())}, indented(v, f, said)...)
		rest := len(wrong) - i - 1
		if room := screenLines - len(lines) - min(1, rest); len(one) > room && i > 0 {
			more := v.Render(command.Command{
				Unit: unit, Action: "health",
				Params: []command.Param{{Key: "detail", Value: "true"}},
			})
			lines = append(lines, fmt.Sprintf("%d more; run: %s", rest+1, more))
			break
		}
		lines = append(lines, one...)
	}
	return strings.Join(lines, "\n") + "\n"
}

// problems returns the findings with a severity above Info, sorted.
func problems(all []finding.Finding) []finding.Finding {
	return slices.DeleteFunc(finding.Sort(all), func(f finding.Finding) bool { return f.Severity == finding.Info })
}

// URL returns the address of a code on the page of findings.
func URL(code finding.Code) string {
	return version.Docs + "reference/findings.html#" + Anchor(code)
}

// Anchor returns a code's anchor on the page of findings, in the form in which the documents' generator derives it
// from a title.
func Anchor(code finding.Code) string {
	return strings.ToLower(strings.ReplaceAll(string(code), "_", "-"))
}

// Verdict returns OK, WARN or ERR. A finding that ends by itself counts as a warning.
func Verdict(all []finding.Finding) string {
	switch finding.Worst(all) {
	case finding.Error:
		return "ERR"
	case finding.Waiting, finding.Warning:
		return "WARN"
	}
	return "OK"
}

// Health returns the verdict and the findings' lines, in one line.
func Health(all []finding.Finding) string {
	var lines []string
	for _, f := range problems(all) {
		lines = append(lines, f.Line())
	}
	return strings.TrimSuffix(Verdict(all)+" "+strings.Join(lines, "; "), " ")
}

// Details returns each finding with its details, remedies and page.
func Details(v juju.Version, all []finding.Finding) string {
	var b strings.Builder
	for _, f := range finding.Sort(all) {
		fmt.Fprintf(&b, "%s %s: %s\n", strings.ToUpper(f.Severity.String()), f.Code, f.Line())
		lines := slices.Clone(f.Details())
		if !f.Since.IsZero() {
			lines = append(lines, "since "+f.Since.UTC().Format("2006-01-02 15:04:05 MST"))
		}
		for _, r := range f.Remedies {
			lines = append(lines, remedyLines(v, f, r)...)
		}
		for _, line := range append(lines, "see "+URL(f.Code)) {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	return b.String()
}
