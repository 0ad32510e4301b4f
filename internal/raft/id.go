package raft

// ParseID reads a full ID: 36 characters in lower case. ok is false for
// anything else, the all-zero ID of a server that has none yet included.
func ParseID(text string) (id ID, ok bool) {
	if !isUUID(text) || text == "00000000-0000-0000-0000-000000000000" {
		return "", false
	}
	return ID(text), true
}

// IsIdentity says whether text has the form of an identity: four hex digits in
// lower case.
func IsIdentity(text string) bool { return isNick(text) }
