package finding

import (
	"slices"
	"time"
)

// Code names an entry of the catalogue. It never changes its meaning.
type Code string

// Severity is the urgency of a finding.
type Severity int

// Kind is the kind of a finding's subject.
type Kind string

// The severities, the lowest first.
const (
	// Info is worth knowing.
	Info Severity = iota
	// Warning needs an operator's attention while the unit works.
	Warning
	// Waiting ends by itself.
	Waiting
	// Error keeps the unit from working until an operator does something.
	Error
)

// The kinds of subjects.
const (
	Database    Kind = "database"
	Member      Kind = "member"
	Unit        Kind = "unit"
	Northd      Kind = "northd"
	Option      Kind = "option"
	Node        Kind = "node"
	Application Kind = "application"
	Gateway     Kind = "gateway"
	Chassis     Kind = "chassis"
)

// Entry describes a code.
type Entry struct {
	Code     Code
	Severity Severity
	Kind     Kind
	// Line names the problem in at most 80 characters. Words in braces are arguments.
	Line string
	// Meaning explains the line on the page of findings; it may be empty. Do is the instruction for operators; it is
	// empty if there is nothing to do.
	Meaning, Do string
	// Quiet findings are listed, but not shown in the status line.
	Quiet bool
	// For is how long the finding lasts before the alert fires. It is 0 if there is no such alert, or if alerts.json of
	// monitoring/content has an alert on a metric instead, which fires once for all units that see the problem.
	For time.Duration
}

func entry(code Code, severity Severity, kind Kind, line, meaning, do string) Entry {
	return Entry{Code: code, Severity: severity, Kind: kind, Line: line, Meaning: meaning, Do: do}
}

func (e Entry) alert(after time.Duration) Entry {
	e.For = after
	return e
}

func (e Entry) quiet() Entry {
	e.Quiet = true
	return e
}

// catalogue has every code, in the order of importance among codes of the same severity.
var catalogue = slices.Concat(machineEntries, serverEntries, clusterEntries, recoveryEntries, memberEntries,
	certificateEntries,
	northdEntries, unitEntries, noteEntries, refusalEntries, gatewayEntries, nodeEntries)

// position returns the place of a code in the catalogue; -1 if the code has no entry.
func position(code Code) int {
	return slices.IndexFunc(catalogue, func(e Entry) bool { return e.Code == code })
}

// Catalogue returns all entries, the most important first.
func Catalogue() []Entry { return slices.Clone(catalogue) }

// Known reports whether a code has an entry. A code that another release has stored may have none.
func Known(code Code) bool { return position(code) >= 0 }

// Lookup returns the entry of a code. It panics if the code has no entry: codes are constants.
func Lookup(code Code) Entry {
	i := position(code)
	if i < 0 {
		panic("finding: no entry for " + string(code))
	}
	return catalogue[i]
}
