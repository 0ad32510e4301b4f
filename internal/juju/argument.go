package juju

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxArgument is how long one argument of a program may be, in bytes. Source:
// Linux, MAX_ARG_STRLEN: 32 pages of 4 KiB, the NUL at the end included.
const MaxArgument = 128<<10 - 1

// argument makes a message one argument: without NUL, which ends an argument, and cut at [MaxArgument], since a cut
// message is better than a failed call.
func argument(message string) string {
	return clip(strings.ReplaceAll(message, "\x00", ""), MaxArgument)
}

// oneLine folds line breaks and other control characters to one space.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r)
	}), " ")
}

// clip cuts s to at most size bytes, between two characters, and marks the cut by an ellipsis.
func clip(s string, size int) string {
	const ellipsis = "…"
	if len(s) <= size {
		return s
	}
	end := size - len(ellipsis)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + ellipsis
}
