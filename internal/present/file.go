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
)

// Save keeps findings for the unit's agent and for the next hook: [Load] reads them. The file's time is that of the
// last call.
func Save(path string, docs []Document) error {
	text, err := json.Marshal(docs)
	if err != nil {
		return fmt.Errorf("cannot write the findings: %w", err)
	}
	return atomicfile.Write(path, text, 0o600)
}

// Load is what [Save] has kept; nothing if there is no file.
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

// Dated is all, each with the time since which it is among what was found before, or else now.
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
