package present

import (
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
)

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
