// Package shell writes commands that a person pastes into a shell. Each printed command that has text of another party
// in it goes through it: a name in a database is not to become a command.
package shell

import (
	"regexp"
	"strings"
)

// bare words mean themselves to a shell.
var bare = regexp.MustCompile(`^[A-Za-z0-9._/:,@%+=-]+$`)

// Quote returns a word as it is typed, so that a shell reads it as it is.
func Quote(word string) string {
	if bare.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Line returns the command of these words.
func Line(words ...string) string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = Quote(word)
	}
	return strings.Join(all, " ")
}
