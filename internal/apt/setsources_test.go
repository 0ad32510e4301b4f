//go:build programs

package apt_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

// files returns the contents of the files in a folder of apt's configuration.
func (a archive) files(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	paths, err := filepath.Glob(filepath.Join(a.dir, "etc/apt", dir, "*"))
	require.NoError(t, err)
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		files[filepath.Base(path)] = string(text)
	}
	return files
}

// local returns a source of the archive that is in another file, changed by change.
func (a archive) local(change func(*apt.Source)) apt.Source {
	s := apt.Source{File: "extra.list", Line: "deb [trusted=yes] file:" + a.dir + "/repo ./"}
	change(&s)
	return s
}

// has asserts that these are the files with sources.
func (a archive) has(t *testing.T, sources ...apt.Source) {
	t.Helper()
	want := map[string]string{}
	for _, s := range sources {
		want[s.File] = s.Line + "\n"
	}
	assert.Equal(t, want, a.files(t, "sources.list.d"))
}

// An operator can repair a mistake in the option by changing the option.
func TestSetSources_replaces_earlier_sources(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "1", "")
	p := a.packages()
	good := a.source(t)
	typo := a.local(func(s *apt.Source) { s.Line, s.Key = strings.Replace(s.Line, "/repo", "/rpeo", 1), armoured+"\n" })
	before := a.files(t, "")
	require.ErrorContains(t, p.SetSources(t.Context(), typo), "/rpeo")
	a.has(t)
	assert.Empty(t, a.files(t, "keyrings"))
	require.NoError(t, p.SetSources(t.Context(), good))
	a.has(t, good)
	require.Error(t, p.SetSources(t.Context(), typo))
	a.has(t, good) // until another source works

	require.NoError(t, os.Rename(filepath.Join(a.dir, "repo"), filepath.Join(a.dir, "moved")))
	moved := a.local(func(s *apt.Source) { s.Line = strings.Replace(s.Line, "/repo", "/moved", 1) })
	require.NoError(t, p.SetSources(t.Context(), moved), "an archive may move")
	a.has(t, moved)
	require.NoError(t, p.SetSources(t.Context(), apt.Source{}))
	a.has(t)
	assert.Equal(t, before, a.files(t, ""))
}

func TestRemoveSources(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "1", "")
	secret := a.local(func(s *apt.Source) { s.Line, s.Key = s.Line+" # http://me:secret@example.com", armoured+"\n" })
	p := a.packages()
	before := a.files(t, "")
	require.NoError(t, p.RemoveSources(), "there are none")
	require.NoError(t, p.SetSources(t.Context(), secret))
	require.Len(t, a.files(t, "sources.list.d"), 1)
	unfinished := "etc/apt/sources.list.d/.extra.list.new-1" // left by a hook that was killed
	a.write(t, unfinished, "deb http://me:secret@127.0.0.1 x y\n")
	for range 2 {
		require.NoError(t, p.RemoveSources())
		assert.Equal(t, before, a.files(t, ""))
		assert.Empty(t, a.files(t, "keyrings"))
		a.has(t)
		assert.NoFileExists(t, filepath.Join(a.dir, unfinished))
	}
}

func TestSetSources_other_files_stay(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "1", "")
	p := a.packages()
	const file = "etc/apt/sources.list.d/cloud-archive.list"
	cloud := a.local(func(s *apt.Source) { s.File = "cloud-archive.list" })
	foreign := "# Ubuntu Cloud Archive\n" + cloud.Line + "\n" // as charm-helpers writes it for another charm
	has := func(text string) {
		t.Helper()
		want := map[string]string{"cloud-archive.list": text, "admin.list": "# mine\n"}
		assert.Equal(t, want, a.files(t, "sources.list.d"))
	}
	a.write(t, "etc/apt/sources.list.d/admin.list", "# mine\n")
	a.write(t, file, foreign)
	require.NoError(t, p.SetSources(t.Context(), cloud))
	has(foreign)
	require.NoError(t, p.SetSources(t.Context(), apt.Source{}))
	has(foreign)

	a.write(t, file, "# Ubuntu Cloud Archive\n")
	require.NoError(t, p.SetSources(t.Context(), cloud))
	has(cloud.Line + "\n")
	a.write(t, file, foreign) // another charm writes it again
	require.NoError(t, p.SetSources(t.Context(), apt.Source{}))
	require.NoError(t, p.RemoveSources())
	has(foreign)
}

func TestSetSources_installs_keyring(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ubuntu-cloud-keyring", "1", "")
	p := a.ready(t)
	s := a.local(func(s *apt.Source) { s.Keyring = "ubuntu-cloud-keyring" })
	require.NoError(t, p.SetSources(t.Context(), s))
	assert.Equal(t, []string{"ubuntu-cloud-keyring configure 1"}, a.happened(t))
}

// signed signs the archive's lists with a new key, and returns that key.
func (a archive) signed(t *testing.T) string {
	t.Helper()
	home := filepath.Join(a.dir, "gnupg")
	require.NoError(t, os.MkdirAll(home, 0o700))
	gpg := func(args ...string) string {
		options := []string{"--homedir", home, "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", ""}
		return a.tool(t, "gpg", append(options, args...)...)
	}
	t.Cleanup(func() {
		_ = exec.Command("gpgconf", "--homedir", home, "--kill", "all").Run() //nolint:noctx // the test's is over
	})
	gpg("--quick-gen-key", "archive@example.com", "ed25519", "sign", "never")
	index, err := os.ReadFile(filepath.Join(a.dir, "repo/Packages"))
	require.NoError(t, err)
	a.write(t, "repo/Release", fmt.Sprintf("Date: %s\nSHA256:\n %x %d Packages\n",
		time.Now().UTC().Format(time.RFC1123), sha256.Sum256(index), len(index)))
	gpg("--clearsign", "--output", "InRelease", "Release")
	return gpg("--armor", "--export", "archive@example.com")
}

func TestSetSources_key_is_trusted_for_its_source_only(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "1", "")
	key := a.signed(t)
	a.write(t, "etc/apt/trusted.gpg.d/readable", "") // apt's own keys, as on every machine
	p := a.packages()
	line := "deb file:" + a.dir + "/repo ./"
	s, err := apt.ParseSource(line+"|"+key, bookworm)
	require.NoError(t, err)
	require.NoError(t, p.SetSources(t.Context(), s))
	name := strings.TrimSuffix(s.File, ".list") + ".asc"
	assert.Equal(t, map[string]string{name: key}, a.files(t, "keyrings"))
	assert.Equal(t, map[string]string{"readable": ""}, a.files(t, "trusted.gpg.d"))
	a.has(t, apt.Source{
		File: s.File, Line: strings.Replace(line, "deb", "deb [signed-by="+a.dir+"/etc/apt/keyrings/"+name+"]", 1),
	})
	_, err = p.Preview(t.Context(), s)
	require.ErrorContains(t, err, "ovn-nb.ovsschema", "the lists were fetched")

	other, err := apt.ParseSource("deb [arch=amd64] file:"+a.dir+"/repo ./|"+armoured, bookworm)
	require.NoError(t, err)
	require.ErrorContains(t, p.SetSources(t.Context(), other), "NO_PUBKEY")
	keyless := a.local(func(s *apt.Source) { s.Line = line })
	require.ErrorContains(t, p.SetSources(t.Context(), keyless), "NO_PUBKEY")
	assert.Equal(t, map[string]string{name: key}, a.files(t, "keyrings"))
}

// A script replaces curl: tests can't reach the key server.
func TestSetSources_fetches_key(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "1", "")
	p := a.packages()
	p.Getenv = func(key string) string { return map[string]string{"JUJU_CHARM_HTTPS_PROXY": "http://proxy:3128"}[key] }
	s := a.local(func(s *apt.Source) { s.KeyID = armouredID })
	curl := runtest.KeepCall + "\necho $https_proxy >>$HERE/calls\ncat <<'END'\n" + armoured + "\nEND"
	dir := runtest.Install(t, map[string]string{"curl": curl})
	for range 2 { // the key is fetched once
		require.NoError(t, p.SetSources(t.Context(), s))
		assert.Equal(t, []string{
			"--fail --silent --show-error " +
				"https://keyserver.ubuntu.com/pks/lookup?exact=on&op=get&options=mr&search=0x" + armouredID,
			"http://proxy:3128",
		}, runtest.Calls(t, dir))
	}
	file := "ovn-central-" + armouredID + ".asc"
	assert.Equal(t, map[string]string{file: armoured + "\n"}, a.files(t, "keyrings"))
	assert.Contains(t, a.files(t, "sources.list.d")["extra.list"], "signed-by="+a.dir+"/etc/apt/keyrings/"+file)

	s.KeyID, s.File = "871920D1991BC93C", "other.list"
	for script, says := range map[string]string{
		curl: armouredID, "echo '<html>No results found</html>'": s.KeyID,
		"echo 'curl: (6) Could not resolve host' >&2; exit 6": "Could not resolve host",
	} {
		runtest.Install(t, map[string]string{"curl": script})
		require.ErrorContains(t, p.SetSources(t.Context(), s), says)
		assert.NotContains(t, a.files(t, "sources.list.d"), "other.list")
	}
}

// A script replaces add-apt-repository: tests can't reach personal archives.
func TestSetSources_personal_archive(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "software-properties-common", "1", "")
	p := a.ready(t)
	ours, list := apt.Source{Repository: "ppa:someone/ovn"}, a.dir+"/etc/apt/sources.list.d/someone.list"
	add := func(script string) (dir string) {
		return runtest.Install(t, map[string]string{"add-apt-repository": script})
	}
	dir := add(runtest.KeepCall + "\necho $DEBIAN_FRONTEND >>$HERE/calls")
	require.NoError(t, p.SetSources(t.Context(), ours))
	assert.Equal(t, []string{"--yes --no-update ppa:someone/ovn", "noninteractive"}, runtest.Calls(t, dir))
	add("echo >" + list + "; echo >" + a.dir + "/etc/apt/trusted.gpg.d/someone.gpg")
	for range 2 {
		require.NoError(t, p.SetSources(t.Context(), a.source(t), ours))
		assert.Contains(t, a.files(t, "sources.list.d"), "someone.list")
		assert.Contains(t, a.files(t, "trusted.gpg.d"), "someone.gpg")
	}
	require.NoError(t, p.SetSources(t.Context(), a.source(t)))
	a.has(t, a.source(t))
	assert.Empty(t, a.files(t, "trusted.gpg.d"))
	for script, says := range map[string]string{
		"echo 'deb file:/nowhere ./' >" + list: "/nowhere",
		"echo 'Cannot add PPA.' >&2; exit 1":   "Cannot add PPA.",
	} {
		add(script)
		require.ErrorContains(t, p.SetSources(t.Context(), a.source(t), ours), says)
		a.has(t, a.source(t))
	}
}

func TestSetSources_password_stays_private(t *testing.T) {
	a := newArchive(t)
	s := apt.Source{File: "private.list", Line: "deb http://me:secret@127.0.0.1:1/ubuntu jammy main"}
	err := a.packages().SetSources(t.Context(), s)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "secret")
	a.publish(t, "ovn-central", "1", "")
	s = a.local(func(s *apt.Source) { s.Line += " # http://me:secret@example.com" })
	require.NoError(t, a.packages().SetSources(t.Context(), s))
	info, err := os.Stat(filepath.Join(a.dir, "etc/apt/sources.list.d/extra.list"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// Preview does not change lists, sources, keys or packages.
func TestPreview(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "22.03.0-1", "")
	p := a.packages()
	before := a.tree(t)
	_, err := p.Preview(t.Context())
	require.ErrorContains(t, err, "ovn-central")
	_, err = p.Preview(t.Context(), a.source(t))
	require.ErrorContains(t, err, "ovn-nb.ovsschema", "the package has no schema")

	a.publishWith(t, "ovn-central", "24.03.1-1", map[string]string{
		"usr/share/ovn/ovn-nb.ovsschema": `{"name": "OVN_Northbound", "version": "7.3.0", "tables": {}}`,
		"usr/share/ovn/ovn-sb.ovsschema": `{"name": "OVN_Southbound", "version": "20.33.0", "tables": {}}`,
	})
	offer, err := p.Preview(t.Context(), a.source(t))
	require.NoError(t, err)
	assert.Equal(t, apt.Offer{
		Version: ovndb.Version{OVN: "24.03.1-1", OVS: "1"},
		Schemas: map[ovndb.Database]string{ovndb.NB: "7.3.0", ovndb.SB: "20.33.0"},
	}, offer)
	assert.Equal(t, before, a.tree(t))
	assert.Empty(t, a.happened(t))
	_, err = p.Preview(t.Context(), apt.Source{Repository: "ppa:owner/name"})
	require.ErrorContains(t, err, "personal archive")
}

// tree returns the paths of apt's and dpkg's files.
func (a archive) tree(t *testing.T) (files []string) {
	t.Helper()
	for _, dir := range []string{"etc", "state", "cache", "dpkg"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(a.dir, dir), func(path string, _ fs.DirEntry, err error) error {
			files = append(files, path)
			return err
		}))
	}
	return files
}
