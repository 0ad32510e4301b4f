package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The pages are the golden files: "make generate" writes them.
func TestGenerate_pages_are_current(t *testing.T) {
	for _, p := range pages {
		assert.NoError(t, generate("../..", p, compare))
	}
}

func TestGenerate_check(t *testing.T) {
	root := t.TempDir()
	text := "a"
	p := page{name: "x.md", render: func(string) ([]byte, error) { return []byte(text), nil }}
	path := filepath.Join(root, reference, "x.md")
	stale := path + " is out of date: run 'make generate'"

	require.EqualError(t, generate(root, p, compare), stale)
	require.NoFileExists(t, path)
	require.NoError(t, generate(root, p, write))
	require.NoError(t, generate(root, p, compare))
	text = "b"
	require.EqualError(t, generate(root, p, compare), stale)
	is, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "a", string(is))
}

func TestGenerate_broken_file(t *testing.T) {
	tests := map[string]struct {
		source, want string
	}{
		"not YAML":           {"\t", "actions.yaml: "},
		"not a mapping":      {"- kick\n", "actions.yaml: line 1: "},
		"action of no shape": {"kick: 7\n", "actions.yaml: action kick: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(root, "actions.yaml"), []byte(test.source), 0o600))
			err := generate(root, pages[0], write)
			assert.ErrorContains(t, err, test.want)
			assert.NoDirExists(t, filepath.Join(root, "docs"))
		})
	}
}
