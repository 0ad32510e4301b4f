package unitstate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// Digest returns 16 hex digits that differ if any of the parts does. Sections store it for files that were written.
func Digest(parts ...[]byte) string {
	sum := sha256.Sum256(bytes.Join(parts, []byte{0}))
	return hex.EncodeToString(sum[:8])
}
