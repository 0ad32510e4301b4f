package finding

import (
	"slices"
)

// catalogue has every code, in the order of importance among those of the same severity.
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
