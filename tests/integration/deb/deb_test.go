// Package deb_test looks into the package that make deb builds, and runs what is in it. tests/system/deb installs it.
package deb_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../../.."

func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	require.NoError(t, err, "%s %s: %s", name, strings.Join(args, " "), out)
	return strings.TrimSpace(string(out))
}

func build(t *testing.T) (deb string, content []byte) {
	t.Helper()
	command(t, "make", "-C", root, "deb", "ARCH="+runtime.GOARCH)
	deb = filepath.Join(root, "build", "ovn-gateways_"+runtime.GOARCH+".deb")
	content, err := os.ReadFile(deb)
	require.NoError(t, err)
	return deb, content
}

func TestDeb_contents_work(t *testing.T) {
	deb, first := build(t)
	_, second := build(t)
	assert.True(t, bytes.Equal(first, second), "the same sources give the same bytes")
	field := func(name string) string { return command(t, "dpkg-deb", "--field", deb, name) }
	assert.Equal(t, "ovn-gateways", field("Package"))
	assert.Empty(t, field("Depends"), "one static binary")
	list := command(t, "dpkg-deb", "--contents", deb)
	assert.Regexp(t, `-rwxr-xr-x root/root .* \./usr/bin/ovn-gateways\n`, list)
	assert.NotContains(t, list, "/build/")

	at := t.TempDir()
	command(t, "dpkg-deb", "--extract", deb, at)
	version := field("Version")
	t.Run("version", func(t *testing.T) { sorts(t, version) })
	t.Run("command", func(t *testing.T) { runs(t, filepath.Join(at, "usr/bin/ovn-gateways"), version) })
	t.Run("pages", func(t *testing.T) { pages(t, filepath.Join(at, "usr")) })
	t.Run("completion", func(t *testing.T) { completes(t, at) })
	assert.FileExists(t, filepath.Join(at, "usr/share/doc/ovn-gateways/copyright"))
}

// sorts checks that dpkg sorts the version between an earlier and a later build.
func sorts(t *testing.T, version string) {
	t.Helper()
	assert.Regexp(t, `^\d+\.\d+\.\d+(~git\d{8}\.\w+|\+git\d{8}\.\w+)?(\+changed)?$`, version)
	command(t, "dpkg", "--compare-versions", version, "gt", "0.9.0~git20261127.6e41ef9")
	command(t, "dpkg", "--compare-versions", version, "lt", "999.0.0")
	if before, _, unreleased := strings.Cut(version, "~git"); unreleased {
		command(t, "dpkg", "--compare-versions", version, "lt", before)
	}
}

func runs(t *testing.T, program, version string) {
	t.Helper()
	assert.Equal(t, version, command(t, program, "version"))
	assert.Equal(t, "ovn-gateways version "+version, command(t, program, "--version"))
	assert.Contains(t, command(t, program, "nodes"), "ovn-gateways nodes [command]")
	help := command(t, program, "--help")
	assert.Contains(t, help, "ovn-gateways [command]")
	assert.NotContains(t, help, "hook", "no command of the charm")
	assert.Contains(t, command(t, program, "plan", "--help"), "ovn-gateways plan rebalance --picture plan.svg")
}

// pages checks that each command has a page, which man shows on a narrow terminal without a warning.
func pages(t *testing.T, usr string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(usr, "share/man/man1/*.1.gz"))
	require.NoError(t, err)
	for _, command := range []string{
		"", "-status", "-plan", "-reschedule", "-rebalance", "-history", "-nodes", "-nodes-drain",
	} {
		assert.Contains(t, all, filepath.Join(usr, "share/man/man1/ovn-gateways"+command+".1.gz"))
	}
	for _, page := range all {
		man := exec.CommandContext(t.Context(), "man", "--warnings", "--local-file", page)
		man.Env = append(os.Environ(), "MANWIDTH=80", "LC_ALL=C.UTF-8")
		var text, warnings bytes.Buffer
		man.Stdout, man.Stderr = &text, &warnings
		require.NoError(t, man.Run(), "%s: %s", page, &warnings)
		assert.Empty(t, warnings.String(), page)
		for _, heading := range []string{
			"NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "ENVIRONMENT", "OPTIONS", "SEE ALSO",
		} {
			assert.Contains(t, text.String(), "\n"+heading+"\n", page)
		}
		assert.Regexp(t, `\n       -h, --help\n              \S`, text.String(), "%s: a flag, its text below", page)
		assert.Regexp(t, `\n +https://\S+/docs/how-to/[a-z-]+\.html\n`, text.String(), "%s: an address on one line", page)
	}
}

// completes checks that the shells can read the files, and what bash offers.
func completes(t *testing.T, at string) {
	t.Helper()
	share := filepath.Join(at, "usr/share")
	for _, file := range []string{"zsh/vendor-completions/_ovn-gateways", "fish/vendor_completions.d/ovn-gateways.fish"} {
		assert.FileExists(t, filepath.Join(share, file))
	}
	offers := exec.CommandContext(t.Context(), "bash", "--norc", "-c", `
		. /usr/share/bash-completion/bash_completion
		. "$1/bash-completion/completions/ovn-gateways"
		complete -p ovn-gateways
		COMP_LINE="ovn-gateways plan reb" COMP_POINT=21 COMP_WORDS=(ovn-gateways plan reb) COMP_CWORD=2
		__start_ovn-gateways ovn-gateways reb plan
		printf "offers: %s\n" "${COMPREPLY[@]}"`, "bash", share)
	offers.Env = append(os.Environ(), "PATH="+filepath.Join(at, "usr/bin")+":"+os.Getenv("PATH"))
	out, err := offers.Output() // bash warns that it completes nothing now
	require.NoError(t, err)
	assert.Equal(t, "complete -o default -F __start_ovn-gateways ovn-gateways\noffers: rebalance",
		strings.TrimSpace(string(out)))
}
