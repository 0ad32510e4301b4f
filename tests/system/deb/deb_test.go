// Package deb_test installs the package that make deb builds. What is in it, tests/integration/deb checks.
package deb_test

import (
	_ "embed"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../../.."

//go:embed install.sh
var installScript string

// apt and dpkg install and purge the package on an overlay of this machine; its users' programs run in between.
func TestDeb_is_installed_used_and_purged(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "make", "-C", root, "deb", "ARCH="+runtime.GOARCH).CombinedOutput()
	require.NoError(t, err, "%s", out)
	deb, err := filepath.Abs(filepath.Join(root, "build", "ovn-gateways_"+runtime.GOARCH+".deb"))
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "bash", "-c", installScript, "install.sh", deb, t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS} // its mounts end with it
	out, err = cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	parts := map[string]string{}
	for _, part := range strings.Split("\n"+string(out), "\n== ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		parts[name] = strings.TrimSpace(text)
	}
	assert.Regexp(t, `^ii \s*\d\S+$`, parts["state"])
	assert.Empty(t, parts["verify"], "the files are those of the package")
	assert.NotEmpty(t, parts["version"])
	for _, heading := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "ENVIRONMENT", "OPTIONS", "SEE ALSO"} {
		assert.Regexp(t, `(?m)^`+heading+`$`, parts["man"])
		assert.Regexp(t, `(?m)^`+heading+`$`, parts["man of all"])
	}
	assert.Contains(t, parts["man"], "--picture")
	assert.Regexp(t, `(?m)^ +nodes drain NODE$`, parts["man of all"])
	assert.Regexp(t, `(?m)^ +ovn-gateways COMMAND \[flags\]$`, parts["man of all"])
	assert.Contains(t, parts["man of all"], "--version")
	assert.NotContains(t, parts["man of all"], "completion", "there is no such page")
	assert.Empty(t, parts["warnings"], "groff understands the page")
	assert.Regexp(t, `^ovn-gateways-rebalance \(1\) +- \S+`, parts["whatis"], "mandb has found its name and what it does")
	assert.Contains(t, parts["complete"], "complete -o default -F __start_ovn-gateways ovn-gateways",
		"bash-completion finds it")
	assert.Contains(t, parts["complete"], "offers: rebalance")
	assert.Contains(t, parts["purge"], "Removing ovn-gateways")
	assert.Empty(t, parts["left"])
}
