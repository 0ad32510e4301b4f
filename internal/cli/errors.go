package cli

import "errors"

// usageError marks a command line that can't be understood.
type usageError struct{ error }

// shownError marks an error that was already shown: a hook's in Juju's log, which also gets its stderr; an operation's
// on a node as its answer.
type shownError struct{ error }

func (e shownError) Unwrap() error { return e.error }

// errProblems is the error of `status --exit-code` if there are warnings or errors, which are shown already.
var errProblems = errors.New("there are problems")
