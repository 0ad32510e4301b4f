package runtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// KeepCall is a line of a script for [Install] that records its arguments, for [Calls].
const KeepCall = `echo "$*" >>"$HERE/calls"`

// Install puts shell scripts first in PATH; $HERE is their directory.
func Install(t *testing.T, scripts map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, script := range scripts {
		text := "#!/bin/sh\nHERE='" + dir + "'\n" + script + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir
}

// Calls returns the arguments of each call recorded in the directory of [Install].
func Calls(t *testing.T, dir string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "calls"))
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}
