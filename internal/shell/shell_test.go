package shell_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/shell"
)

func TestWordIsQuotedNoMoreThanItNeeds(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"gw1.example": "gw1.example", "ssl:10.0.0.1:6641": "ssl:10.0.0.1:6641", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(id)": "'$(id)'", "x;id;#": "'x;id;#'", "~root": "'~root'", "*": "'*'",
	} {
		assert.Equal(t, want, shell.Quote(word))
	}
	assert.Equal(t, "ovn-nbctl lr-del 'a b'", shell.Line("ovn-nbctl", "lr-del", "a b"))
}

// split are the words that a shell makes of a command.
func split(t *testing.T, line string) []string {
	t.Helper()
	out, err := run.Exec{}.Run(t.Context(), run.Command{Name: "sh", Stdin: []byte("set -f; set -- " + line + "\n" + `printf '%s\000' "$@"`)})
	require.NoError(t, err, line)
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

func FuzzLine(f *testing.F) {
	for _, word := range []string{"x;touch /tmp/x;# evil", "$(touch x)", "`id`", "it's", "--yes", "a\\", "!!", "\"", "a\nb", "~", "", "*", "{a,b}", "é\u202e"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if strings.Contains(word, "\x00") {
			t.Skip("no argument has one")
		}
		assert.Equal(t, []string{"a", word, "b"}, split(t, shell.Line("a", word, "b")))
	})
}
