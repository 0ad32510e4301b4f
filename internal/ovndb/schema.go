package ovndb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// SchemaVersion is the version of a database's schema, X.Y.Z (RFC 7047, section 3.1).
type SchemaVersion [3]uint64

// ParseSchemaVersion parses a version.
func ParseSchemaVersion(text string) (v SchemaVersion, err error) {
	text = strings.TrimSpace(text)
	parts := strings.Split(text, ".")
	if len(parts) != len(v) {
		return v, fmt.Errorf("not a version: %q", text)
	}
	for i, part := range parts {
		if v[i], err = strconv.ParseUint(part, 10, 32); err != nil {
			return v, fmt.Errorf("not a version: %q", text)
		}
	}
	return v, nil
}

// Before reports whether v is lower than w.
func (v SchemaVersion) Before(w SchemaVersion) bool { return slices.Compare(v[:], w[:]) < 0 }

// String returns the version as it is written.
func (v SchemaVersion) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }
