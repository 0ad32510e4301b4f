package cluster

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/present"
)

// Findings are what a unit finds wrong, the most important first.
type Findings []present.Document

// ReadFindings reads the results of the action health with format=json.
func ReadFindings(results any) (all Findings, err error) {
	text, is := results.(string)
	if !is {
		return nil, fmt.Errorf("cannot read findings: %v is no text", results)
	}
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, fmt.Errorf("cannot read findings: %w", err)
	}
	return all, nil
}

// Find returns the first finding with the code that is about a subject: about a database, a unit or a member, or
// several of them, as in `nb sb ovn-central/2`. Any subject will do if it is empty.
func (all Findings) Find(code finding.Code, subject string) (found present.Document, is bool) {
	i := slices.IndexFunc(all, func(d present.Document) bool {
		words := strings.Fields(d.Subject)
		return d.Code == string(code) && !slices.ContainsFunc(strings.Fields(subject), func(word string) bool { return !slices.Contains(words, word) })
	})
	if i < 0 {
		return found, false
	}
	return all[i], true
}

// Has reports whether there is such a finding.
func (all Findings) Has(code finding.Code, subject string) bool {
	_, is := all.Find(code, subject)
	return is
}

// Next are the commands to type now, the most important first: of each finding the first one of its first remedy, if
// that is a command and has no condition.
func (all Findings) Next() (commands []string) {
	for _, d := range all {
		if len(d.Remedies) == 0 || d.Remedies[0].When != "" || len(d.Remedies[0].Commands) == 0 {
			continue
		}
		if first := d.Remedies[0].Commands[0]; !slices.Contains(commands, first) {
			commands = append(commands, first)
		}
	}
	return commands
}

// Commands are those of a finding's remedies, whatever their conditions.
func Commands(d present.Document) (all []string) {
	for _, r := range d.Remedies {
		all = append(all, r.Commands...)
	}
	return all
}

// String is a line for each finding.
func (all Findings) String() string {
	var lines []string
	for _, d := range all {
		lines = append(lines, fmt.Sprintf("%s %s %q: %s", d.Severity, d.Code, d.Subject, d.Message))
	}
	return strings.Join(lines, "\n")
}
