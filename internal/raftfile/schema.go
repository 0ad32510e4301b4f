package raftfile

import (
	"encoding/json"
	"fmt"
	"os"
)

// SchemaVersion returns the version of the schema in a file (RFC 7047, section 3.2).
func SchemaVersion(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var head struct{ Version string }
	if err := json.Unmarshal(text, &head); err != nil {
		return "", fmt.Errorf("cannot read %s: %w", path, err)
	}
	return head.Version, nil
}
