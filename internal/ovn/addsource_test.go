//go:build programs

package ovn_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovn"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

func (a archive) files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(a.dir, "etc/apt", dir))
	require.NoError(t, err)
	files := make(map[string]string)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(a.dir, "etc/apt", dir, e.Name()))
		require.NoError(t, err)
		files[e.Name()] = string(text)
	}
	return files
}

// local is a source of the archive's folder with a file of another name.
func (a archive) local(change func(*ovn.Source)) ovn.Source {
	s := ovn.Source{File: "extra.list", Line: "deb [trusted=yes] file:" + a.dir + "/repo ./"}
	change(&s)
	return s
}

func TestSourceIsAFileOfApt(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "1", "")
	s := a.source(t)
	p := a.packages()
	for range 2 { // the second time changes nothing
		require.NoError(t, p.AddSource(t.Context(), s))
		assert.Equal(t, map[string]string{s.File: s.Line + "\n"}, a.files(t, "sources.list.d"))
	}
	require.NoError(t, p.AddSource(t.Context(), ovn.Source{}), "the distribution is there already")
	assert.Len(t, a.files(t, "sources.list.d"), 1)
}

func TestSourceThatDoesNotAnswerIsAnError(t *testing.T) {
	a := newArchive(t)
	s := a.local(func(s *ovn.Source) { s.Line = strings.Replace(s.Line, "/repo", "/nowhere", 1) })
	err := a.packages().AddSource(t.Context(), s)
	require.ErrorContains(t, err, "cannot update the lists of packages: E: ")
	require.ErrorContains(t, err, "/nowhere")
}

func TestSourceComesWithItsKeyring(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ubuntu-cloud-keyring", "1", "")
	p := a.ready(t)
	require.NoError(t, p.AddSource(t.Context(), a.local(func(s *ovn.Source) { s.Keyring = "ubuntu-cloud-keyring" })))
	assert.Equal(t, []string{"ubuntu-cloud-keyring configure 1"}, a.happened(t))
}

func TestKeyOfASourceIsTrusted(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "1", "")
	s := a.local(func(s *ovn.Source) { s.Key = armoured + "\n" })
	require.NoError(t, a.packages().AddSource(t.Context(), s))
	assert.Equal(t, map[string]string{"extra.asc": armoured + "\n"}, a.files(t, "trusted.gpg.d"))
}

// The key server is played: what is fetched from the real one can't be shown here.
func TestKeyIsFetchedByItsID(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "ovn-central", "1", "")
	p := a.packages()
	p.Getenv = func(key string) string { return map[string]string{"JUJU_CHARM_HTTPS_PROXY": "http://proxy:3128"}[key] }
	s := a.local(func(s *ovn.Source) { s.KeyID = "5EDB1B62EC4926EA" })
	dir := install(t, map[string]string{"curl": keepCalls + "\necho $https_proxy >>$HERE/calls\ncat <<'END'\n" + armoured + "\nEND"})
	require.NoError(t, p.AddSource(t.Context(), s))
	assert.Equal(t, []string{
		"--fail --silent --show-error https://keyserver.ubuntu.com/pks/lookup?exact=on&op=get&options=mr&search=0x5EDB1B62EC4926EA",
		"http://proxy:3128",
	}, calls(t, dir))
	assert.Equal(t, map[string]string{"5EDB1B62EC4926EA.asc": armoured + "\n"}, a.files(t, "trusted.gpg.d"))
	require.NoError(t, p.AddSource(t.Context(), s))
	assert.Len(t, calls(t, dir), 2, "it is there")

	s.KeyID = "871920D1991BC93C"
	install(t, map[string]string{"curl": "echo '<html>No results found</html>'"})
	s.File = "other.list"
	require.ErrorContains(t, p.AddSource(t.Context(), s), "cannot fetch the key 871920D1991BC93C: the key server's answer is none")
	assert.NotContains(t, a.files(t, "sources.list.d"), "other.list", "nothing is half done")

	install(t, map[string]string{"curl": "echo 'curl: (6) Could not resolve host' >&2; exit 6"})
	require.ErrorContains(t, p.AddSource(t.Context(), s), "Could not resolve host")
}

// add-apt-repository is played: personal archives can't be reached here.
func TestPersonalArchiveIsLeftToUbuntusTool(t *testing.T) {
	a := newArchive(t)
	a.publish(t, "software-properties-common", "1", "")
	p := a.ready(t)
	dir := install(t, map[string]string{"add-apt-repository": keepCalls + "\necho $DEBIAN_FRONTEND >>$HERE/calls"})
	require.NoError(t, p.AddSource(t.Context(), ovn.Source{Repository: "ppa:someone/ovn"}))
	assert.Equal(t, []string{"--yes --no-update ppa:someone/ovn", "noninteractive"}, calls(t, dir))

	install(t, map[string]string{"add-apt-repository": "echo \"Cannot add PPA: 'ppa:~someone/ubuntu/ovn'.\" >&2; exit 1"})
	require.ErrorContains(t, p.AddSource(t.Context(), ovn.Source{Repository: "ppa:someone/ovn"}),
		"cannot add the package source ppa:someone/ovn: Cannot add PPA")
}

func TestPasswordOfASourceStaysPrivate(t *testing.T) {
	a := newArchive(t)
	s := ovn.Source{File: "private.list", Line: "deb http://me:secret@127.0.0.1:1/ubuntu jammy main"}
	err := a.packages().AddSource(t.Context(), s)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "secret")
	info, err := os.Stat(filepath.Join(a.dir, "etc/apt/sources.list.d/private.list"))
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
	assert.Equal(t, ovn.Offer{
		Version: ovndb.Version{OVN: "24.03.1-1", OVS: "1"},
		Schemas: map[ovndb.Database]string{ovndb.NB: "7.3.0", ovndb.SB: "20.33.0"},
	}, offer)
	assert.Equal(t, before, a.tree(t))
	assert.Empty(t, a.happened(t))
	_, err = p.Preview(t.Context(), ovn.Source{Repository: "ppa:owner/name"})
	require.ErrorIs(t, err, ovn.ErrPersonalArchive)
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
