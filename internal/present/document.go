package present

import (
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
)

// Document is a finding for programs.
type Document = finding.Document

// Documents returns findings for programs, the most important first.
func Documents(v juju.Version, all []finding.Finding) []Document {
	docs := []Document{}
	for _, f := range finding.Sort(all) {
		d := Document{
			Code: string(f.Code), Severity: f.Severity.String(), Subject: f.Subject.String(), Message: f.Message(),
			Remedies: []finding.RemedyDocument{}, Docs: URL(f.Code), Units: f.Args.Units, Address: f.Args.Address,
		}
		if f.Args.Unit != "" && len(d.Units) == 0 {
			d.Units = []string{f.Args.Unit}
		}
		if !f.Since.IsZero() {
			d.Since = f.Since.UTC().Format(time.RFC3339)
		}
		for _, r := range f.Remedies {
			d.Remedies = append(d.Remedies, finding.RemedyDocument{
				Condition: string(r.When), When: f.Condition(r),
				Commands: commands(v, r), Deed: f.Deed(r),
			})
		}
		if len(f.Causes) > 0 {
			d.Causes = Documents(v, f.Causes)
		}
		docs = append(docs, d)
	}
	return docs
}
