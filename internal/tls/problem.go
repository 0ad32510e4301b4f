package tls

import (
	"fmt"
	"strings"
	"unicode"
)

// Kind is the kind of a problem with credentials.
type Kind string

// The kinds of problems, in the order in which [Check] searches them.
const (
	// Malformed is data without PEM, truncated, damaged, or of another kind.
	Malformed Kind = "malformed"
	// KeyMismatch is a certificate for another key.
	KeyMismatch Kind = "key-mismatch"
	// NotYetValid is a certificate, or one above it, that is not valid yet.
	NotYetValid Kind = "not-yet-valid"
	// Expired is a certificate, or one above it, that has expired.
	Expired Kind = "expired"
	// Untrusted is a certificate that other members would refuse.
	Untrusted Kind = "untrusted"
	// MissingAddress is a certificate for other names or addresses than the unit's, such as the answer to an older
	// request.
	MissingAddress Kind = "missing-address"
)

// Problem is the error of [Check] for unusable credentials.
type Problem struct {
	Kind Kind
	// Text is one line for the unit's status: what differs, and from what.
	Text string
}

func (p *Problem) Error() string { return p.Text }

// problem replaces unprintable characters, which a certificate may contain.
func problem(kind Kind, format string, args ...any) *Problem {
	return &Problem{kind, strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, fmt.Sprintf(format, args...))}
}
