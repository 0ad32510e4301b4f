package tls

import (
	"fmt"
	"strings"
	"unicode"
)

// Kind is what is wrong with credentials.
type Kind string

// The kinds of problems, in the order in which [Check] looks for them.
const (
	// Malformed is what can't be read: no PEM, cut off, damaged, of another kind.
	Malformed Kind = "malformed"
	// KeyMismatch is a certificate for another key.
	KeyMismatch Kind = "key-mismatch"
	// NotYetValid is a certificate, or one above it, for which it is too early.
	NotYetValid Kind = "not-yet-valid"
	// Expired is a certificate, or one above it, for which it is too late.
	Expired Kind = "expired"
	// Untrusted is a certificate that other members would refuse.
	Untrusted Kind = "untrusted"
	// MissingAddress is a certificate for other names or addresses than the
	// unit's. One that answers an older request is such.
	MissingAddress Kind = "missing-address"
)

// Problem is the error of [Check] for credentials that the unit can't use.
type Problem struct {
	Kind Kind
	// Text is one line for the unit's status: what differs, and from what.
	Text string
}

// Error is the text.
func (p *Problem) Error() string { return p.Text }

// problem makes one line of it, whatever stands in a certificate.
func problem(kind Kind, format string, args ...any) *Problem {
	return &Problem{kind, strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, fmt.Sprintf(format, args...))}
}
