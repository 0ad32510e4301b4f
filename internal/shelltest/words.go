// Package shelltest shows what a shell makes of printed commands.
package shelltest

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Hostile are names by which a printed command would be another one, or several.
var Hostile = []string{
	"x;touch /tmp/x;# evil", "$(touch x)", "`id`", "it's", `"`, "--yes", "-x", `a\`, "!!", "*", "~root", "{a,b}", "a b",
	"a&b", "a|b", "a>b", "#", "größer", "…",
}

// Words are the words that sh makes of a line. It runs nothing of it, unless the line is not a simple command.
func Words(t *testing.T, line string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh")
	cmd.Stdin = strings.NewReader("set -f; set -- " + line + "\n" + `printf '%s\000' "$@"`)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: %s", line, out)
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
