package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestImportThatFollowsFromOthersIsNotDrawn(t *testing.T) {
	imports := map[string][]string{"a": {"c", "b", "not drawn"}, "b": {"c"}, "c": {"d"}, "d": {}, "e": {"d", "a"}}
	assert.Equal(t, []string{"b"}, direct(imports, "a"))
	assert.Equal(t, []string{"a"}, direct(imports, "e"))
	assert.Equal(t, []string{"d"}, direct(imports, "c"))
	assert.Empty(t, direct(imports, "d"))
}

func TestPictureHasThePackagesThatThereAreAndNoOthers(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, "internal", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("cli/cli.go", "package cli\nimport _ \""+internalPath+"raft\"\n")
	write("cli/cli_test.go", "package cli\nimport _ \""+internalPath+"ovn\"\n")
	write("raft/raft.go", "package raft\n")
	write("ovn/ovn.go", "package ovn\n")
	svg, err := layersPicture(root)
	require.NoError(t, err)
	for _, name := range []string{"cli", "raft", "ovn"} {
		assert.Contains(t, string(svg), ">"+name+"</text>")
	}
	assert.NotContains(t, string(svg), ">hook</text>")
	assert.Regexp(t, `(?s)^[^C]*<path [^>]*C[^>]*/>[^C]*$`, string(svg), "the import of a test is none of the program's")

	write("raft/broken.go", "nonsense")
	_, err = layersPicture(root)
	assert.ErrorContains(t, err, "cannot read the imports of "+filepath.Join(root, "internal/raft/broken.go"))
}
