//go:build programs

package apt_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

// archive is a package archive for the machine's apt and dpkg, which work in folders of the test. Its packages have
// the names of OVN's packages, and few contents.
type archive struct {
	dir string
	// played has scripts that replace other programs, and records of their calls.
	played string
}

// newArchive sets environment variables of apt and dpkg, so the test can't be parallel.
func newArchive(t *testing.T) archive {
	t.Helper()
	require.Zero(t, os.Geteuid(), "dpkg installs as root only")
	a := archive{dir: t.TempDir()}
	for _, dir := range []string{
		"repo", "root", "etc/ovn",
		"etc/apt/sources.list.d", "etc/apt/trusted.gpg.d", "etc/apt/preferences.d", "etc/apt/apt.conf.d",
		"dpkg/info", "dpkg/updates", "dpkg/triggers", "state/lists/partial", "cache/archives/partial",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(a.dir, dir), 0o755))
	}
	a.write(t, "dpkg/status", "")
	a.write(t, "etc/apt/apt.conf", fmt.Sprintf(`Dir::Etc "%[1]s/etc/apt/";
Dir::State "%[1]s/state/";
Dir::State::status "%[1]s/dpkg/status";
Dir::Cache "%[1]s/cache/";
Dir::Log "%[1]s/";
APT::Sandbox::User "root";
APT::Architectures { "all"; "amd64"; };
`, a.dir))
	t.Setenv("APT_CONFIG", filepath.Join(a.dir, "etc/apt/apt.conf"))
	t.Setenv("DPKG_ADMINDIR", filepath.Join(a.dir, "dpkg"))
	t.Setenv("DPKG_ROOT", filepath.Join(a.dir, "root"))
	t.Setenv("DPKG_FORCE", "script-chrootless,not-root")
	for _, name := range []string{"ovn-common", "openvswitch-common"} {
		a.publish(t, name, "1", "")
	}
	a.played = runtest.Install(t, map[string]string{"systemctl": runtest.KeepCall})
	t.Setenv("CALLS", filepath.Join(a.played, "calls"))
	return a
}

func (a archive) write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(a.dir, name), []byte(text), 0o600))
}

// publish adds a package with a postinst script and a configuration file. fields are control fields, such as
// "Depends: ovn-common".
func (a archive) publish(t *testing.T, name, version, postinst string, fields ...string) {
	t.Helper()
	a.publishWith(t, name, version, map[string]string{
		"DEBIAN/postinst":     "#!/bin/sh\nset -e\necho \"" + name + " $1 " + version + "\" >>$CALLS\n" + postinst + "\n",
		"DEBIAN/conffiles":    "/etc/default/" + name + "\n",
		"etc/default/" + name: "# " + version + "\n",
	}, fields...)
}

// publishWith adds a package with these files.
func (a archive) publishWith(t *testing.T, name, version string, files map[string]string, fields ...string) {
	t.Helper()
	build := t.TempDir()
	files["DEBIAN/control"] = "Package: " + name + "\nVersion: " + version + "\nArchitecture: all\n" +
		"Maintainer: nobody <nobody@example.com>\n" + strings.Join(append(fields, "Description: none\n"), "\n")
	for file, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(build, file)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(build, file), []byte(text), 0o755))
	}
	a.tool(t, "dpkg-deb", "--build", "--root-owner-group", build, name+"_"+version+"_all.deb")
	a.write(t, "repo/Packages", a.tool(t, "dpkg-scanpackages", "--multiversion", "."))
}

// tool runs a program of the machine in the archive's folder.
func (a archive) tool(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = filepath.Join(a.dir, "repo")
	out, err := cmd.Output()
	require.NoError(t, err)
	return string(out)
}

// source returns the archive as a value of the option `source`.
func (a archive) source(t *testing.T) apt.Source {
	t.Helper()
	s, err := apt.ParseSource("deb [trusted=yes] file:"+a.dir+"/repo ./", apt.OS{ID: "debian", Codename: "bookworm"})
	require.NoError(t, err)
	return s
}

func (a archive) packages() apt.Packages {
	return apt.Packages{
		Runner: run.Exec{}, Paths: ovndb.Paths{Etc: filepath.Join(a.dir, "etc/ovn")},
		Patience: 10 * time.Second, Pause: 50 * time.Millisecond,
	}
}

// ready returns the archive's packages, with the archive as a source.
func (a archive) ready(t *testing.T) apt.Packages {
	t.Helper()
	p := a.packages()
	require.NoError(t, p.SetSources(t.Context(), a.source(t)))
	return p
}

// happened returns the calls of systemctl and of packages' scripts since the last call of happened.
func (a archive) happened(t *testing.T) []string {
	t.Helper()
	path := filepath.Join(a.played, "calls")
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}
