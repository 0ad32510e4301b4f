package present

import (
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
)

// Failure is an error in words. Below what has failed, and each reason of a refusal, are the ways out, a line each.
func Failure(v juju.Version, err error) string {
	return strings.Join(append([]string{err.Error()}, Next(v, finding.Reasons(err))...), "\n")
}

// Next are the ways out of the findings, each once: `next: if ovn-central/1 is lost for good: juju …`.
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
