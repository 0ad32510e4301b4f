package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/juju/charm/v12"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// repository is the directory of the charm's own files.
const repository = "../.."

// optionsFor packs the charm's own files around a test binary.
func optionsFor(t *testing.T, arch string) options {
	t.Helper()
	dir := t.TempDir()
	dispatch := filepath.Join(dir, "binary")
	require.NoError(t, os.WriteFile(dispatch, elfFile(t, archs[arch], elf.PT_LOAD), 0o755))
	return options{
		root:     repository,
		dispatch: dispatch,
		arch:     arch,
		version:  "1.2.3-4-gabcdef0",
		out:      filepath.Join(dir, "build", "ovn-central_"+arch+".charm"),
	}
}

func TestPack_is_read_by_Juju(t *testing.T) {
	for name, target := range archs {
		t.Run(name, func(t *testing.T) {
			o := optionsFor(t, name)
			_, err := pack(o)
			require.NoError(t, err)

			archive, err := charm.ReadCharmArchive(o.out)
			require.NoError(t, err)
			assert.Equal(t, "ovn-central", archive.Meta().Name)
			assert.Equal(t, o.version, archive.Version())
			assert.NotEmpty(t, archive.Config().Options)
			assert.NotEmpty(t, archive.LXDProfile().Config)
			var bases []string
			for _, b := range archive.Manifest().Bases {
				bases = append(bases, b.String())
			}
			assert.Equal(t, []string{
				"ubuntu@22.04/stable on " + target.juju,
				"ubuntu@24.04/stable on " + target.juju,
				"ubuntu@26.04/stable on " + target.juju,
			}, bases)
		})
	}
}

func TestPack_hooks_link_to_dispatch(t *testing.T) {
	o := optionsFor(t, "amd64")
	_, err := pack(o)
	require.NoError(t, err)
	archive, err := charm.ReadCharmArchive(o.out)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, archive.ExpandTo(dir))

	want, err := os.ReadFile(o.dispatch)
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(dir, "dispatch"))
	require.NoError(t, err)
	assert.Equal(t, want, got)
	info, err := os.Lstat(filepath.Join(dir, "dispatch"))
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o755), info.Mode())

	hooks, err := os.ReadDir(filepath.Join(repository, "hooks"))
	require.NoError(t, err)
	require.NotEmpty(t, hooks)
	for _, h := range hooks {
		path := filepath.Join(dir, "hooks", h.Name())
		link, err := os.Readlink(path)
		require.NoError(t, err)
		assert.Equal(t, "../dispatch", link)
		target, err := os.Stat(path)
		require.NoError(t, err)
		assert.True(t, os.SameFile(info, target), "%s leads elsewhere", h.Name())
	}
}

func TestPack_reproducible(t *testing.T) {
	first := optionsFor(t, "amd64")
	want, err := pack(first)
	require.NoError(t, err)

	second := first
	second.root = copyOfSources(t)
	require.NoError(t, os.WriteFile(filepath.Join(second.root, "notes.txt"), nil, 0o600)) // is left out
	second.out = filepath.Join(t.TempDir(), "other-name.charm")
	got, err := pack(second)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	assert.Equal(t, readFile(t, first.out), readFile(t, second.out))
	assert.Contains(t, contents(t, readFile(t, first.out)), "LICENSE")
}

// Juju's packer adds a revision, and a version from the git checkout around the directory: both are left out.
func TestPack_as_Juju_packs(t *testing.T) {
	o := optionsFor(t, "amd64")
	_, err := pack(o)
	require.NoError(t, err)
	archive, err := charm.ReadCharmArchive(o.out)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, archive.ExpandTo(dir))
	charmDir, err := charm.ReadCharmDir(dir)
	require.NoError(t, err)
	var juju bytes.Buffer
	require.NoError(t, charmDir.ArchiveTo(&juju))

	want := contents(t, juju.Bytes())
	got := contents(t, readFile(t, o.out))
	for _, name := range []string{"revision", "version"} {
		delete(want, name)
		delete(got, name)
	}
	require.NotEmpty(t, want)
	assert.Equal(t, want, got)
}

// copyOfSources returns a copy of the files that pack reads, with other times and modes.
func copyOfSources(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range append([]string{"manifest.yaml"}, plain...) {
		data := readFile(t, filepath.Join(repository, name))
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755)) //nolint:gosec // as in a checkout
		require.NoError(t, os.WriteFile(path, data, 0o600))
		require.NoError(t, os.Chtimes(path, time.Time{}, time.Unix(1, 0)))
	}
	require.NoError(t, os.CopyFS(filepath.Join(dir, "hooks"), os.DirFS(filepath.Join(repository, "hooks"))))
	return dir
}

type file struct {
	mode fs.FileMode
	sum  [sha256.Size]byte
}

// contents lists the files of a zip, without directories.
func contents(t *testing.T, archive []byte) map[string]file {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	require.NoError(t, err)
	files := map[string]file{}
	for _, f := range z.File {
		if f.Mode().IsDir() {
			continue
		}
		r, err := f.Open()
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		files[f.Name] = file{mode: f.Mode(), sum: sha256.Sum256(data)}
	}
	return files
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}
