// Package deb_test looks into the package that make deb builds.
package deb_test

import (
	"compress/gzip"
	_ "embed"
	"io"
	"os"
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

func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	require.NoError(t, err, "%s %s: %s", name, strings.Join(args, " "), out)
	return string(out)
}

func build(t *testing.T) (deb string, content []byte) {
	t.Helper()
	command(t, "make", "-C", root, "deb", "ARCH="+runtime.GOARCH)
	deb = filepath.Join(root, "build", "ovn-gateways_"+runtime.GOARCH+".deb")
	content, err := os.ReadFile(deb)
	require.NoError(t, err)
	return deb, content
}

func TestDeb_has_command_pages_and_completions(t *testing.T) {
	deb, first := build(t)
	_, second := build(t)
	assert.Equal(t, first, second, "the same sources give the same bytes")

	assert.Equal(t, "ovn-gateways", strings.TrimSpace(command(t, "dpkg-deb", "--field", deb, "Package")))
	version := strings.TrimSpace(command(t, "dpkg-deb", "--field", deb, "Version"))
	assert.Regexp(t, `^\d+\.\d+\.\d+(~git\d{8}\.\w+|\+git\d{8}\.\w+)?(\+changed)?$`, version)
	command(t, "dpkg", "--compare-versions", version, "gt", "0.9.0~git20261127.6e41ef9")
	assert.Empty(t, strings.TrimSpace(command(t, "dpkg-deb", "--field", deb, "Depends")), "one static binary")
	list := command(t, "dpkg-deb", "--contents", deb)
	assert.Regexp(t, `-rwxr-xr-x root/root .* \./usr/bin/ovn-gateways\n`, list)
	assert.NotContains(t, list, "/build/")
	for _, page := range []string{"", "-status", "-plan", "-reschedule", "-rebalance", "-history", "-nodes", "-nodes-drain"} {
		assert.Contains(t, list, "./usr/share/man/man1/ovn-gateways"+page+".1.gz\n")
	}

	at := t.TempDir()
	command(t, "dpkg-deb", "--extract", deb, at)
	program := filepath.Join(at, "usr/bin/ovn-gateways")
	assert.Equal(t, version, strings.TrimSpace(command(t, program, "version")))
	assert.Contains(t, command(t, program, "nodes"), "ovn-gateways nodes [command]")
	help := command(t, program, "--help")
	assert.Contains(t, help, "ovn-gateways [command]")
	assert.NotContains(t, help, "hook", "no command of the charm")
	assert.Contains(t, command(t, program, "plan", "--help"), "ovn-gateways plan rebalance --picture plan.svg")
	assert.Regexp(t, `(?m)^rebalance$`, command(t, program, "__complete", "plan", "reb"), "as the shells ask for completions")
	command(t, "bash", "-n", filepath.Join(at, "usr/share/bash-completion/completions/ovn-gateways"))
	for _, file := range []string{"zsh/vendor-completions/_ovn-gateways", "fish/vendor_completions.d/ovn-gateways.fish", "doc/ovn-gateways/copyright"} {
		assert.FileExists(t, filepath.Join(at, "usr/share", file))
	}

	packed, err := os.Open(filepath.Join(at, "usr/share/man/man1/ovn-gateways-plan.1.gz"))
	require.NoError(t, err)
	defer packed.Close()
	page, err := gzip.NewReader(packed)
	require.NoError(t, err)
	text, err := io.ReadAll(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), `.TH "OVN-GATEWAYS-PLAN" "1"`)
	assert.Contains(t, string(text), `\fB--picture\fP`)
}

//go:embed install.sh
var installScript string

// apt and dpkg install and purge the package on an overlay of this machine; its users' programs run in between.
func TestDeb_is_installed_used_and_purged(t *testing.T) {
	deb, _ := build(t)
	deb, err := filepath.Abs(deb)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "bash", "-c", installScript, "install.sh", deb, t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS} // its mounts end with it
	out, err := cmd.CombinedOutput()
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
