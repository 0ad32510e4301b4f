// Package present renders findings: the status line, the first screen of the action cluster-status, the action health,
// and documents for programs. No other package does.
package present

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
)

// StatusWidth is the number of characters that `juju status` shows of a longer message, without the ellipsis
// (maxMessageLength in cmd/juju/status/output_tabular.go of Juju 3.6 and 4.0).
const StatusWidth = 120 - len("...")

// ready is the beginning of an active unit's message. Programs wait for it, as with the Python charm
// (wait_for_application_states of zaza's model.py).
const ready = "Unit is ready ("

// Ready returns the message of an active unit, with text in parentheses.
func Ready(text string) string { return ready + text + ")" }

// Workload returns the word and the message of a unit's workload status: the most important finding with its first
// remedy and its details, then the lines of the other findings, then tail. A command that does not fit into
// [StatusWidth] with its condition is replaced by a reference to cluster-status. Quiet findings are left out.
func Workload(v juju.Version, all []finding.Finding, tail ...string) (juju.StatusWord, string) {
	word := wordOf(all)
	width := StatusWidth
	if word == juju.Active {
		width -= len(ready)
	}
	var parts []string
	for _, f := range finding.Sort(all) {
		if finding.Lookup(f.Code).Quiet {
			continue
		}
		text := f.Line()
		if len(parts) == 0 {
			text = headline(v, f, width)
		}
		parts = append(parts, text)
	}
	for _, text := range tail {
		if text != "" {
			parts = append(parts, text)
		}
	}
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

// headline returns a finding with its first remedy, if both fit into width characters, and then the details.
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

// Remedy renders a remedy, the condition first: `if this lasts: juju run …`.
func Remedy(v juju.Version, f finding.Finding, r finding.Remedy) string {
	condition, what := f.Condition(r), f.Deed(r)
	if what == "" {
		what = strings.Join(commands(v, r), "; ")
		if condition == "" {
			return runs + what
		}
	}
	if condition == "" {
		return what
	}
	return condition + ": " + what
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

// Failure renders an error. The remedies of a refusal follow, a line each.
func Failure(v juju.Version, err error) string {
	return strings.Join(append([]string{err.Error()}, Next(v, finding.Reasons(err))...), "\n")
}

// Next renders the remedies of the findings, each once: `next: if ovn-central/1 is lost for good: juju …`.
func Next(v juju.Version, all []finding.Finding) (lines []string) {
	for _, f := range finding.Sort(all) {
		for _, r := range f.Remedies {
			if line := "next: " + strings.TrimPrefix(Remedy(v, f, r), runs); !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// Messages renders each finding in one line.
func Messages(all []finding.Finding) (lines []string) {
	for _, f := range finding.Sort(all) {
		lines = append(lines, f.Message())
	}
	return lines
}

// Lines renders the findings, each with its remedies below it.
func Lines(v juju.Version, all []finding.Finding) (lines []string) {
	said := map[string]bool{}
	for _, f := range finding.Sort(all) {
		one := brief(v, f, said)
		lines = append(append(lines, f.Message()), one[1:]...)
	}
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
			var b strings.Builder
			if writeRemedy(&b, v, f, r); !said[b.String()] {
				for line := range strings.Lines(b.String()) {
					lines = append(lines, strings.TrimSpace(line))
				}
			}
			said[b.String()] = true
		}
	}
	return lines
}
