package finding

import (
	"errors"
	"slices"
	"strings"
)

// RefusedError reports that something was not done, and why: each finding has its ways out.
// Package present writes both.
type RefusedError struct{ Findings []Finding }

// Refuse is the error of these reasons, each with its own ways out and then those that all
// share; nil if there are none.
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

// Error has each reason once, without the ways out: how they are typed depends on the Juju that runs.
func (e *RefusedError) Error() string {
	var lines []string
	reasons := slices.Clone(e.Findings)
	for i := range reasons {
		reasons[i].Remedies = nil // else one reason of both databases would be two
	}
	for _, f := range Sort(reasons) {
		lines = append(lines, f.Message())
	}
	return strings.Join(lines, "; ")
}

// Reasons are the findings of all refusals that an error is made of.
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
