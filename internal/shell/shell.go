// Package shell quotes commands that a person pastes into a shell. Each printed command with a text of another party
// goes through it, so that a name in a database can't become a command.
package shell

import (
	"regexp"
	"strings"
)

// bare matches words that have no special meaning in a shell.
var bare = regexp.MustCompile(`^[A-Za-z0-9._/:,@%+=-]+$`)

// Quote returns the word in a form that a shell reads as that word.
func Quote(word string) string {
	if bare.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Line returns the command with these words.
func Line(words ...string) string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = Quote(word)
	}
	return strings.Join(all, " ")
}
