// Package goldentest compares texts for people and programs with golden files, which a person has checked.
package goldentest

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ovn-central/ovn-central-operator/internal/render"
)

var update = flag.Bool("update", false, "write the golden files")

// Document compares a document for programs with the file NAME.json. The document as YAML must have the same content.
func Document(t *testing.T, name string, document any) {
	t.Helper()
	asJSON, err := render.JSON(document)
	require.NoError(t, err)
	Equal(t, name+".json", asJSON+"\n")
	asYAML, err := render.YAML(document)
	require.NoError(t, err)
	var fromYAML any
	require.NoError(t, yaml.Unmarshal([]byte(asYAML), &fromYAML))
	said, err := json.Marshal(fromYAML)
	require.NoError(t, err)
	assert.JSONEq(t, asJSON, string(said), "%s: YAML says something else than JSON", name)
}

// Equal fails the test if the text differs from the file below testdata. With -update it writes the file instead.
func Equal(t *testing.T, file, text string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	wanted, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(wanted), text)
}
