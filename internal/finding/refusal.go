package finding

import (
	"errors"
	"slices"
	"strings"
)

// Condition returns the text of a remedy's condition; empty if it has none.
func (f Finding) Condition(r Remedy) string { return f.with(r).expand(conditions[r.When]) }

// Deed returns the text of a remedy's deed; empty if the remedy has commands only.
func (f Finding) Deed(r Remedy) string { return f.with(r).expand(string(r.Deed)) }

func (f Finding) with(r Remedy) Finding {
	if r.Unit != "" {
		f.Args.Unit = r.Unit
	}
	return f
}

// RefusedError reports why an operation was refused. Its findings have remedies; package present renders both.
type RefusedError struct{ Findings []Finding }

// Refuse returns a [*RefusedError] with these reasons, each with its own remedies and then the shared ones; nil if
// there are no reasons.
func Refuse(reasons []Finding, ways ...Remedy) error {
	if len(reasons) == 0 {
		return nil
	}
	all := slices.Clone(reasons)
	for i, f := range all {
		all[i].Remedies = slices.Concat(f.Remedies, ways)
	}
	return &RefusedError{all}
}

// Error returns each reason once, without remedies: the syntax of their commands depends on Juju's version.
func (e *RefusedError) Error() string {
	var lines []string
	reasons := slices.Clone(e.Findings)
	for i := range reasons {
		reasons[i].Remedies = nil // otherwise the same reason for both databases would be listed twice
	}
	for _, f := range Sort(reasons) {
		lines = append(lines, f.Message())
	}
	return strings.Join(lines, "; ")
}

// Reasons returns the findings of all refusals in the tree of an error.
func Reasons(err error) (all []Finding) {
	if refused, is := err.(*RefusedError); is { //nolint:errorlint // each of the tree is visited
		return refused.Findings
	}
	if several, is := err.(interface{ Unwrap() []error }); is {
		for _, one := range several.Unwrap() {
			all = append(all, Reasons(one)...)
		}
		return all
	}
	if err != nil {
		return Reasons(errors.Unwrap(err))
	}
	return nil
}
