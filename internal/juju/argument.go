package juju

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxArgument is how long one argument of a program may be, in bytes. Source:
// Linux, MAX_ARG_STRLEN: 32 pages of 4 KiB, the NUL at the end included.
const MaxArgument = 128<<10 - 1

// argument makes a message one argument: without NUL, which ends one, and cut at
// [MaxArgument]. A message that is cut still says more than a call that failed.
func argument(message string) string {
	return clip(strings.ReplaceAll(message, "\x00", ""), MaxArgument)
}

// oneLine folds what breaks a line, and other control characters, to one space.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r)
	}), " ")
}

// clip cuts s to at most size bytes, between two characters, and shows by an
// ellipsis that it did.
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
