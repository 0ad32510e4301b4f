package present

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
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

// Save writes findings to a file, for the unit's agent and the next hook. It always writes, so the file's time is the
// time of the last call.
func Save(path string, docs []Document) error {
	text, err := json.Marshal(docs)
	if err != nil {
		return fmt.Errorf("cannot write the findings: %w", err)
	}
	return atomicfile.Write(path, text, 0o600)
}

// Load reads the findings that [Save] wrote; none if there is no file.
func Load(path string) (docs []Document, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &docs)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the findings: %w", err)
	}
	return docs, nil
}

// Dated returns the findings, sorted, each with the time when it was first found: from the earlier documents, or now.
func Dated(all []finding.Finding, before []Document, now time.Time) []finding.Finding {
	since := map[string]time.Time{}
	for _, d := range before {
		if at, err := time.Parse(time.RFC3339, d.Since); err == nil {
			since[d.Code+" "+d.Subject] = at
		}
	}
	dated := finding.Sort(all)
	for i, f := range dated {
		at, known := since[string(f.Code)+" "+f.Subject.String()]
		if !known || at.After(now) {
			at = now.Truncate(time.Second)
		}
		dated[i].Since = at
	}
	return dated
}
