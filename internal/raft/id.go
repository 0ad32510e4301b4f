package raft

// ParseID parses a full ID: 36 characters in lower case. ok is false for anything else, including the all-zero ID of a
// server without an ID.
func ParseID(text string) (id ID, ok bool) {
	if !isUUID(text) || text == "00000000-0000-0000-0000-000000000000" {
		return "", false
	}
	return ID(text), true
}

// IsIdentity reports whether text has the form of an identity: four hex digits in lower case.
func IsIdentity(text string) bool { return isNick(text) }
