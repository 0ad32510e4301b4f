package charm_test

import (
	"archive/zip"
	"crypto/sha256"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v2"
)

// charmcraft is the part of charmcraft.yaml that the tests need. charmcraft itself works in
// LXD containers with snaps and isn't run here: only the commands in the file are run.
type charmcraft struct {
	Type      string         `yaml:"type"`
	Platforms map[string]any `yaml:"platforms"`
	Parts     map[string]struct {
		Plugin        string   `yaml:"plugin"`
		BuildPackages []string `yaml:"build-packages"`
		OverrideBuild string   `yaml:"override-build"`
	} `yaml:"parts"`
}

func readCharmcraft(t *testing.T) charmcraft {
	t.Helper()
	text, err := os.ReadFile(root + "/charmcraft.yaml")
	require.NoError(t, err)
	var file charmcraft
	require.NoError(t, yaml.Unmarshal(text, &file))
	return file
}

// charmcraft and Charmhub's tools read YAML with PyYAML, which refuses a file that has an
// anchor twice; Juju's reader takes the later one.
func TestAnchors_are_unique_per_file(t *testing.T) {
	anchor := regexp.MustCompile(`(?m): &([\w-]+)`)
	found := 0
	for _, name := range []string{"actions.yaml", "config.yaml", "metadata.yaml", "manifest.yaml", "charmcraft.yaml", "deploy/bundle.yaml", "deploy/overlay.yaml"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		seen := map[string]bool{}
		for _, m := range anchor.FindAllStringSubmatch(string(text), -1) {
			assert.False(t, seen[m[1]], "%s has the anchor %s twice", name, m[1])
			seen[m[1]] = true
			found++
		}
	}
	assert.Positive(t, found)
}

func TestCharmcraft_builds_for_bases_of_manifest(t *testing.T) {
	var want []string
	for _, base := range readCharm(t).Manifest().Bases {
		for _, architecture := range base.Architectures {
			want = append(want, base.Name+"@"+base.Channel.Track+":"+architecture)
		}
	}
	file := readCharmcraft(t)
	assert.Equal(t, "charm", file.Type)
	assert.ElementsMatch(t, want, slices.Collect(maps.Keys(file.Platforms)))
}

// A key in both charmcraft.yaml and metadata.yaml, actions.yaml or config.yaml is
// an error of charmcraft's.
func TestCharmcraft_repeats_no_key_of_other_files(t *testing.T) {
	text, err := os.ReadFile(root + "/charmcraft.yaml")
	require.NoError(t, err)
	var file map[string]any
	require.NoError(t, yaml.Unmarshal(text, &file))
	assert.ElementsMatch(t, []string{"type", "platforms", "parts"}, slices.Collect(maps.Keys(file)))
}

func TestCharmcraft_packs_like_make_charm(t *testing.T) {
	part := readCharmcraft(t).Parts["charm"]
	require.Equal(t, "nil", part.Plugin)
	require.Subset(t, part.BuildPackages, []string{"git", "make", "unzip"})
	install := t.TempDir()
	// The part's script is run by bash -e in the build's copy of the sources.
	build := exec.CommandContext(t.Context(), "bash", "-e", "-c", part.OverrideBuild)
	build.Dir = root
	build.Env = append(os.Environ(), "CRAFT_PART_INSTALL="+install)
	output, err := build.CombinedOutput()
	require.NoError(t, err, string(output))

	want := packed(t, filepath.Join(root, "build", "ovn-central_"+runtime.GOARCH+".charm"))
	delete(want, "manifest.yaml")
	got := map[string]sum{}
	require.NoError(t, filepath.WalkDir(install, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, _ := filepath.Rel(install, path)
		if entry.Type()&fs.ModeSymlink != 0 {
			link, err := os.Readlink(path)
			got[name] = sha256.Sum256([]byte(link))
			return err
		}
		data, err := os.ReadFile(path)
		got[name] = sha256.Sum256(data)
		return err
	}))
	for _, name := range []string{"dispatch", "lxd-profile.yaml", "metadata.yaml", "hooks/install"} {
		assert.Contains(t, got, name)
	}
	assert.Equal(t, want, got)
	info, err := os.Stat(filepath.Join(install, "dispatch"))
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o755), info.Mode())
}

type sum [sha256.Size]byte

// packed returns the files of a charm, by name. The content of a symbolic link is its target's name.
func packed(t *testing.T, path string) map[string]sum {
	t.Helper()
	archive, err := zip.OpenReader(path)
	require.NoError(t, err)
	defer archive.Close()
	files := map[string]sum{}
	for _, f := range archive.File {
		r, err := f.Open()
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		files[f.Name] = sha256.Sum256(data)
	}
	return files
}
