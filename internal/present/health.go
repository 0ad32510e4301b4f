package present

import (
	"fmt"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/version"
)

// URL returns the address of a code on the page of findings.
func URL(code finding.Code) string {
	return version.Docs + "reference/findings.html#" + Anchor(code)
}

// Anchor returns a code's anchor on the page of findings, as the documents' generator derives it from a title.
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
	for _, f := range finding.Sort(all) {
		if f.Severity > finding.Info {
			lines = append(lines, f.Line())
		}
	}
	return strings.TrimSuffix(Verdict(all)+" "+strings.Join(lines, "; "), " ")
}

// Details returns each finding with its details, remedies and page.
func Details(v juju.Version, all []finding.Finding) string {
	var b strings.Builder
	for _, f := range finding.Sort(all) {
		fmt.Fprintf(&b, "%s %s: %s\n", strings.ToUpper(f.Severity.String()), f.Code, f.Line())
		for _, text := range f.Details() {
			fmt.Fprintf(&b, "    %s\n", text)
		}
		if !f.Since.IsZero() {
			fmt.Fprintf(&b, "    since %s\n", f.Since.UTC().Format("2006-01-02 15:04:05 MST"))
		}
		for _, r := range f.Remedies {
			writeRemedy(&b, v, f, r)
		}
		fmt.Fprintf(&b, "    see %s\n", URL(f.Code))
	}
	return b.String()
}

// writeRemedy writes a remedy. A command has a line of its own, so that it can be copied.
func writeRemedy(b *strings.Builder, v juju.Version, f finding.Finding, r finding.Remedy) {
	condition := f.Condition(r)
	if deed := f.Deed(r); deed != "" {
		if condition != "" {
			deed = condition + ": " + deed
		}
		fmt.Fprintf(b, "    %s\n", deed)
		return
	}
	if condition != "" {
		fmt.Fprintf(b, "    %s:\n", condition)
	}
	for _, c := range commands(v, r) {
		fmt.Fprintf(b, "    %s\n", c)
	}
}
