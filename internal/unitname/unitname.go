// Package unitname parses Juju's names of units, APPLICATION/NUMBER (github.com/juju/names, unit.go).
package unitname

import (
	"cmp"
	"strconv"
	"strings"
)

// Application returns the part before the number.
func Application(unit string) string {
	application, _, _ := strings.Cut(unit, "/")
	return application
}

// Number returns the part after the application; 0 if there is none.
func Number(unit string) int {
	_, text, _ := strings.Cut(unit, "/")
	n, _ := strconv.Atoi(text)
	return n
}

// Compare orders units by application, then by number.
func Compare(a, b string) int {
	return cmp.Or(cmp.Compare(Application(a), Application(b)), cmp.Compare(Number(a), Number(b)), cmp.Compare(a, b))
}

// IsOf reports whether name is the name of a unit of the application.
func IsOf(name, application string) bool {
	number, found := strings.CutPrefix(name, application+"/")
	n, err := strconv.ParseUint(number, 10, 32)
	return found && application != "" && err == nil && strconv.FormatUint(n, 10) == number
}
