package present

import (
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
)

// Document is a finding for programs. Fields are only ever added.
type Document struct {
	Code     string           `json:"code" yaml:"code"`
	Severity string           `json:"severity" yaml:"severity"`
	Subject  string           `json:"subject" yaml:"subject"`
	Message  string           `json:"message" yaml:"message"`
	Since    string           `json:"since,omitempty" yaml:"since,omitempty"`
	Remedies []RemedyDocument `json:"remedies" yaml:"remedies"`
	Docs     string           `json:"docs" yaml:"docs"`
	// Units are the other units, and Address is where a server is, that the finding names.
	Units   []string `json:"units,omitempty" yaml:"units,omitempty"`
	Address string   `json:"address,omitempty" yaml:"address,omitempty"`
	// Causes are what the finding follows from.
	Causes []Document `json:"causes,omitempty" yaml:"causes,omitempty"`
}

// RemedyDocument is one way out: Condition names the condition that When is the text of, Commands are typed in this order,
// Deed is what no command does.
type RemedyDocument struct {
	Condition string   `json:"condition,omitempty" yaml:"condition,omitempty"`
	When      string   `json:"when,omitempty" yaml:"when,omitempty"`
	Commands  []string `json:"commands,omitempty" yaml:"commands,omitempty"`
	Deed      string   `json:"deed,omitempty" yaml:"deed,omitempty"`
}

// Documents are findings for programs, the most important first.
func Documents(v juju.Version, all []finding.Finding) []Document {
	docs := []Document{}
	for _, f := range finding.Sort(all) {
		d := Document{
			Code: string(f.Code), Severity: f.Severity.String(), Subject: f.Subject.String(), Message: f.Message(),
			Remedies: []RemedyDocument{}, Docs: URL(f.Code), Units: f.Args.Units, Address: f.Args.Address,
		}
		if f.Args.Unit != "" && len(d.Units) == 0 {
			d.Units = []string{f.Args.Unit}
		}
		if !f.Since.IsZero() {
			d.Since = f.Since.UTC().Format(time.RFC3339)
		}
		for _, r := range f.Remedies {
			d.Remedies = append(d.Remedies, RemedyDocument{Condition: string(r.When), When: f.Condition(r), Commands: commands(v, r), Deed: f.Deed(r)})
		}
		if len(f.Causes) > 0 {
			d.Causes = Documents(v, f.Causes)
		}
		docs = append(docs, d)
	}
	return docs
}
