// Package shelltest shows how a shell reads printed commands.
package shelltest

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Hostile are names that, unquoted, would turn a printed command into another command or several.
var Hostile = []string{
	"x;touch /tmp/x;# evil", "$(touch x)", "`id`", "it's", `"`, "--yes", "-x", `a\`, "!!", "*", "~root", "{a,b}", "a b",
	"a&b", "a|b", "a>b", "#", "größer", "…",
}

// Words returns the words into which sh splits a line. It runs nothing of the line, unless the line is not a simple
// command.
func Words(t *testing.T, line string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh")
	cmd.Stdin = strings.NewReader("set -f; set -- " + line + "\n" + `printf '%s\000' "$@"`)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: %s", line, out)
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
