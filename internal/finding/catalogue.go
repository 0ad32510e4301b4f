package finding

import (
	"slices"
	"time"
)

// Entry describes a code.
type Entry struct {
	Code     Code
	Severity Severity
	Kind     Kind
	// Line names the problem in at most 80 characters. Words in braces are arguments.
	Line string
	// Meaning explains the line, and Do what to do about it, for the page of findings. A refusal may need neither.
	Meaning, Do string
	// Quiet findings are listed, but not in the status line.
	Quiet bool
	// For is how long the finding lasts before the alert fires. It is 0 if there is no such alert, or if alerts.json
	// has one on a metric.
	For time.Duration
}

// catalogue has every code, in the order of importance among those of the same severity.
var catalogue = slices.Concat(machineEntries, serverEntries, clusterEntries, recoveryEntries, memberEntries, certificateEntries,
	northdEntries, unitEntries, noteEntries, refusalEntries, gatewayEntries, nodeEntries)

var (
	entries  = map[Code]Entry{}
	position = map[Code]int{}
)

func init() {
	for i, e := range catalogue {
		entries[e.Code], position[e.Code] = e, i
	}
}

// Catalogue is every entry, the most important first.
func Catalogue() []Entry { return slices.Clone(catalogue) }

// Known reports whether a code has an entry. One that another release has stored may have none.
func Known(code Code) bool {
	_, found := entries[code]
	return found
}

// Lookup returns the entry of a code. It panics if the code has no entry: codes are constants.
func Lookup(code Code) Entry {
	e, found := entries[code]
	if !found {
		panic("finding: no entry for " + string(code))
	}
	return e
}
