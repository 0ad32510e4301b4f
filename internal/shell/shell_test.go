package shell_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/shell"
	"github.com/ovn-central/ovn-central-operator/internal/shelltest"
)

func TestQuote(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"gw1.example": "gw1.example", "ssl:10.0.0.1:6641": "ssl:10.0.0.1:6641", "": "''", "a b": "'a b'",
		"it's": `'it'\''s'`, "$(id)": "'$(id)'", "x;id;#": "'x;id;#'", "~root": "'~root'", "*": "'*'",
	} {
		assert.Equal(t, want, shell.Quote(word))
	}
	assert.Equal(t, "ovn-nbctl lr-del 'a b'", shell.Line("ovn-nbctl", "lr-del", "a b"))
}

func FuzzLine(f *testing.F) {
	for _, word := range append([]string{"", "a\nb", "\u202e", "\xff"}, shelltest.Hostile...) {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if strings.Contains(word, "\x00") {
			return // no argument has one
		}
		assert.Equal(t, []string{"a", word, "b"}, shelltest.Words(t, shell.Line("a", word, "b")))
	})
}
