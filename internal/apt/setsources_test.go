//go:build programs

package apt_test

import (
	"crypto/sha256"
	"errors"
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

func (a archive) files(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	entries, err := os.ReadDir(filepath.Join(a.dir, "etc/apt", dir))
	if errors.Is(err, fs.ErrNotExist) {
		return files
	}
	require.NoError(t, err)
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(a.dir, "etc/apt", dir, e.Name()))
		require.NoError(t, err)
		files[e.Name()] = string(text)
	}
	return files
}

// local is a source of the archive's folder with a file of another name.
func (a archive) local(change func(*apt.Source)) apt.Source {
	s := apt.Source{File: "extra.list", Line: "deb [trusted=yes] file:" + a.dir + "/repo ./"}
	change(&s)
	return s
}

func TestSourceIsAFileOfApt(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "1", "")
	s := a.source(t)
	p := a.packages()
	for range 2 { // the second time changes nothing
		require.NoError(t, p.SetSources(t.Context(), s))
		assert.Equal(t, map[string]string{s.File: s.Line + "\n"}, a.files(t, "sources.list.d"))
	}
	require.NoError(t, p.SetSources(t.Context(), s, apt.Source{}), "the distribution is there already")
	assert.Len(t, a.files(t, "sources.list.d"), 1)
}

// A mistake in the option must be mended by mending the option.
func TestSourceThatIsNotSetAnyMoreIsRemoved(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "1", "")
	p := a.packages()
	good := a.source(t)
	typo := a.local(func(s *apt.Source) { s.Line, s.Key = strings.Replace(s.Line, "/repo", "/rpeo", 1), armoured+"\n" })
	before := a.files(t, "")
	require.Error(t, p.SetSources(t.Context(), typo))
	assert.Empty(t, a.files(t, "sources.list.d"), "it is not left in the way")
	assert.Empty(t, a.files(t, "keyrings"))
	require.NoError(t, p.SetSources(t.Context(), good))
	assert.Equal(t, map[string]string{good.File: good.Line + "\n"}, a.files(t, "sources.list.d"))
	require.Error(t, p.SetSources(t.Context(), typo))
	assert.Equal(t, map[string]string{good.File: good.Line + "\n"}, a.files(t, "sources.list.d"), "what works stays until something else does")

	require.NoError(t, os.Rename(filepath.Join(a.dir, "repo"), filepath.Join(a.dir, "moved")))
	moved := a.local(func(s *apt.Source) { s.Line = strings.Replace(s.Line, "/repo", "/moved", 1) })
	require.NoError(t, p.SetSources(t.Context(), moved), "an archive may move")
	assert.Equal(t, map[string]string{moved.File: moved.Line + "\n"}, a.files(t, "sources.list.d"))
	require.NoError(t, os.Rename(filepath.Join(a.dir, "moved"), filepath.Join(a.dir, "repo")))
	require.NoError(t, p.SetSources(t.Context(), apt.Source{}), "or be given up")
	assert.Empty(t, a.files(t, "sources.list.d"))
	assert.Equal(t, map[string]string{"apt.conf": before["apt.conf"]}, a.files(t, ""), "nothing is left")
}

func TestSourcesLeaveNothingOnAMachineThatIsGivenBack(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "1", "")
	secret := a.local(func(s *apt.Source) { s.Line, s.Key = s.Line+" # http://me:secret@example.com", armoured+"\n" })
	p := a.packages()
	require.NoError(t, p.RemoveSources(), "there are none")
	require.NoError(t, p.SetSources(t.Context(), secret))
	require.Len(t, a.files(t, "sources.list.d"), 1, "the premise")
	a.write(t, "etc/apt/sources.list.d/.extra.list.new-1", "deb http://me:secret@127.0.0.1 x y\n") // by a hook that was killed
	require.NoError(t, p.RemoveSources())
	for _, dir := range []string{"sources.list.d", "keyrings", ""} {
		for name, text := range a.files(t, dir) {
			assert.Equal(t, "apt.conf", name)
			assert.NotContains(t, text, "secret")
		}
	}
	require.NoError(t, p.RemoveSources())
}

func TestSourcesOfOthersStay(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "1", "")
	p := a.packages()
	const file = "etc/apt/sources.list.d/cloud-archive.list"
	cloud := a.local(func(s *apt.Source) { s.File = "cloud-archive.list" })
	foreign := "# Ubuntu Cloud Archive\n" + cloud.Line + "\n"
	a.write(t, "etc/apt/sources.list.d/admin.list", "# mine\n")
	a.write(t, file, foreign) // as charm-helpers writes it, for this charm's forerunner or another charm
	require.NoError(t, p.SetSources(t.Context(), cloud))
	assert.Equal(t, foreign, a.files(t, "sources.list.d")["cloud-archive.list"])
	require.NoError(t, p.SetSources(t.Context(), apt.Source{}))
	assert.Equal(t, foreign, a.files(t, "sources.list.d")["cloud-archive.list"])

	a.write(t, file, "# Ubuntu Cloud Archive\n")
	require.NoError(t, p.SetSources(t.Context(), cloud))
	assert.Equal(t, cloud.Line+"\n", a.files(t, "sources.list.d")["cloud-archive.list"])
	a.write(t, file, foreign) // another charm sets it again
	require.NoError(t, p.SetSources(t.Context(), apt.Source{}))
	require.NoError(t, p.RemoveSources())
	assert.Equal(t, map[string]string{"cloud-archive.list": foreign, "admin.list": "# mine\n"}, a.files(t, "sources.list.d"))
}

func TestSourceThatDoesNotAnswerIsAnError(t *testing.T) {
	a := newArchive(t)
	s := a.local(func(s *apt.Source) { s.Line = strings.Replace(s.Line, "/repo", "/nowhere", 1) })
	err := a.packages().SetSources(t.Context(), s)
	require.ErrorContains(t, err, "cannot update the lists of packages: E: ")
	require.ErrorContains(t, err, "/nowhere")
}

func TestSourceComesWithItsKeyring(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ubuntu-cloud-keyring", "1", "")
	p := a.ready(t)
	require.NoError(t, p.SetSources(t.Context(), a.local(func(s *apt.Source) { s.Keyring = "ubuntu-cloud-keyring" })))
	assert.Equal(t, []string{"ubuntu-cloud-keyring configure 1"}, a.happened(t))
}

// signed gives the archive's lists a signature of a key that is made for it, and returns that key.
func (a archive) signed(t *testing.T) string {
	t.Helper()
	home := filepath.Join(a.dir, "gnupg")
	require.NoError(t, os.MkdirAll(home, 0o700))
	gpg := func(args ...string) string {
		return a.tool(t, "gpg", append([]string{"--homedir", home, "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", ""}, args...)...)
	}
	t.Cleanup(func() { _ = exec.Command("gpgconf", "--homedir", home, "--kill", "all").Run() }) //nolint:noctx // the test's is over
	gpg("--quick-gen-key", "archive@example.com", "ed25519", "sign", "never")
	index, err := os.ReadFile(filepath.Join(a.dir, "repo/Packages"))
	require.NoError(t, err)
	a.write(t, "repo/Release", fmt.Sprintf("Date: %s\nSHA256:\n %x %d Packages\n", time.Now().UTC().Format(time.RFC1123), sha256.Sum256(index), len(index)))
	gpg("--clearsign", "--output", "InRelease", "Release")
	return gpg("--armor", "--export", "archive@example.com")
}

func TestKeyIsTrustedForItsSourceOnly(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "1", "")
	key := a.signed(t)
	a.write(t, "etc/apt/trusted.gpg.d/readable", "") // apt's own, as on every machine
	p := a.packages()
	s, err := apt.ParseSource("deb file:"+a.dir+"/repo ./|"+key, bookworm)
	require.NoError(t, err)
	require.NoError(t, p.SetSources(t.Context(), s))
	name := strings.TrimSuffix(s.File, ".list") + ".asc"
	assert.Equal(t, map[string]string{name: key}, a.files(t, "keyrings"))
	assert.Equal(t, map[string]string{"readable": ""}, a.files(t, "trusted.gpg.d"))
	assert.Equal(t, map[string]string{s.File: "deb [signed-by=" + a.dir + "/etc/apt/keyrings/" + name + "] file:" + a.dir + "/repo ./\n"}, a.files(t, "sources.list.d"))
	_, err = p.Preview(t.Context(), s)
	require.ErrorContains(t, err, "ovn-nb.ovsschema", "the lists were fetched")

	other, err := apt.ParseSource("deb [arch=amd64] file:"+a.dir+"/repo ./|"+armoured, bookworm)
	require.NoError(t, err)
	require.ErrorContains(t, p.SetSources(t.Context(), other), "NO_PUBKEY")
	require.ErrorContains(t, p.SetSources(t.Context(), a.local(func(s *apt.Source) { s.Line = "deb file:" + a.dir + "/repo ./" })), "NO_PUBKEY",
		"a source without a key is not trusted for another's")
	assert.Equal(t, map[string]string{name: key}, a.files(t, "keyrings"))
}

// The key server is played: what is fetched from the real one can't be shown here.
func TestKeyIsFetchedByItsID(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "1", "")
	p := a.packages()
	p.Getenv = func(key string) string { return map[string]string{"JUJU_CHARM_HTTPS_PROXY": "http://proxy:3128"}[key] }
	s := a.local(func(s *apt.Source) { s.KeyID = armouredID })
	dir := runtest.Install(t, map[string]string{"curl": runtest.KeepCall + "\necho $https_proxy >>$HERE/calls\ncat <<'END'\n" + armoured + "\nEND"})
	require.NoError(t, p.SetSources(t.Context(), s))
	assert.Equal(t, []string{
		"--fail --silent --show-error https://keyserver.ubuntu.com/pks/lookup?exact=on&op=get&options=mr&search=0x" + armouredID,
		"http://proxy:3128",
	}, runtest.Calls(t, dir))
	assert.Equal(t, map[string]string{"ovn-central-" + armouredID + ".asc": armoured + "\n"}, a.files(t, "keyrings"))
	assert.Contains(t, a.files(t, "sources.list.d")["extra.list"], "signed-by="+a.dir+"/etc/apt/keyrings/ovn-central-"+armouredID+".asc")
	require.NoError(t, p.SetSources(t.Context(), s))
	assert.Len(t, runtest.Calls(t, dir), 2, "it is there")

	s.KeyID = "871920D1991BC93C"
	s.File = "other.list"
	require.ErrorContains(t, p.SetSources(t.Context(), s), `cannot use what the key server has sent for the key 871920D1991BC93C: it is the key "`+armouredID+`", not that one`)
	runtest.Install(t, map[string]string{"curl": "echo '<html>No results found</html>'"})
	require.ErrorContains(t, p.SetSources(t.Context(), s), "cannot fetch the key 871920D1991BC93C: the key server's answer is none")
	assert.NotContains(t, a.files(t, "sources.list.d"), "other.list", "nothing is half done")

	runtest.Install(t, map[string]string{"curl": "echo 'curl: (6) Could not resolve host' >&2; exit 6"})
	require.ErrorContains(t, p.SetSources(t.Context(), s), "Could not resolve host")
}

// add-apt-repository is played: personal archives can't be reached here.
func TestPersonalArchiveIsLeftToUbuntusTool(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "software-properties-common", "1", "")
	p := a.ready(t)
	dir := runtest.Install(t, map[string]string{"add-apt-repository": runtest.KeepCall + "\necho $DEBIAN_FRONTEND >>$HERE/calls"})
	require.NoError(t, p.SetSources(t.Context(), apt.Source{Repository: "ppa:someone/ovn"}))
	assert.Equal(t, []string{"--yes --no-update ppa:someone/ovn", "noninteractive"}, runtest.Calls(t, dir))
	ppa, ours := "echo >"+a.dir+"/etc/apt/sources.list.d/someone.list; echo >"+a.dir+"/etc/apt/trusted.gpg.d/someone.gpg", apt.Source{Repository: "ppa:someone/ovn"}
	runtest.Install(t, map[string]string{"add-apt-repository": ppa})
	for range 2 {
		require.NoError(t, p.SetSources(t.Context(), a.source(t), ours))
		assert.Contains(t, a.files(t, "sources.list.d"), "someone.list")
		assert.Contains(t, a.files(t, "trusted.gpg.d"), "someone.gpg")
	}
	require.NoError(t, p.SetSources(t.Context(), a.source(t)))
	assert.NotContains(t, a.files(t, "sources.list.d"), "someone.list")
	assert.Empty(t, a.files(t, "trusted.gpg.d"))
	broken := "echo 'deb file:/nowhere ./' >" + a.dir + "/etc/apt/sources.list.d/someone.list"
	runtest.Install(t, map[string]string{"add-apt-repository": broken})
	require.ErrorContains(t, p.SetSources(t.Context(), a.source(t), ours), "/nowhere")
	assert.NotContains(t, a.files(t, "sources.list.d"), "someone.list")

	runtest.Install(t, map[string]string{"add-apt-repository": "echo \"Cannot add PPA: 'ppa:~someone/ubuntu/ovn'.\" >&2; exit 1"})
	require.ErrorContains(t, p.SetSources(t.Context(), apt.Source{Repository: "ppa:someone/ovn"}),
		"cannot add the package source ppa:someone/ovn: Cannot add PPA")
}

func TestPasswordOfASourceStaysPrivate(t *testing.T) {
	a := newArchive(t)
	s := apt.Source{File: "private.list", Line: "deb http://me:secret@127.0.0.1:1/ubuntu jammy main"}
	err := a.packages().SetSources(t.Context(), s)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "secret")
	a.publish(t, "ovn-central", "1", "")
	s = a.local(func(s *apt.Source) { s.Line = s.Line + " # http://me:secret@example.com" })
	require.NoError(t, a.packages().SetSources(t.Context(), s))
	info, err := os.Stat(filepath.Join(a.dir, "etc/apt/sources.list.d/extra.list"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// The real apt finds what a source would bring, and leaves lists, sources, keys and packages as
// they are.
func TestSourceIsLookedIntoWithoutBeingAdded(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "22.03.0-1", "")
	p := a.packages()
	before := a.tree(t)
	_, err := p.Preview(t.Context())
	require.ErrorContains(t, err, "it has no ovn-central")
	_, err = p.Preview(t.Context(), a.source(t))
	require.ErrorContains(t, err, "ovn-nb.ovsschema", "the package has no schema in it")

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
	require.ErrorIs(t, err, apt.ErrPersonalArchive)
}

// tree are the files of apt and dpkg.
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
