package agent

// line is a line of the log. Pure functions return lines, so that tests see what is logged.
type line struct {
	message    string
	attributes []any
}
