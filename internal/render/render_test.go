package render_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/render"
)

type document struct {
	Name   string         `json:"name" yaml:"name"`
	Absent string         `json:"absent,omitempty" yaml:"absent,omitempty"`
	Map    map[string]any `json:"map" yaml:"map"`
}

// Identities are texts, even if they look like numbers.
var example = document{
	Name: "a <b> & c", Map: map[string]any{"z": []string{"0017", "13e4", "0b01", "true", "3974"}, "a": "x: y"},
}

func TestYAML(t *testing.T) {
	text, err := render.YAML(example)
	require.NoError(t, err)
	assert.Equal(t, `name: a <b> & c
map:
  a: 'x: y'
  z:
    - "0017"
    - "13e4"
    - "0b01"
    - "true"
    - "3974"`, text)
}

func TestJSON(t *testing.T) {
	text, err := render.JSON(example)
	require.NoError(t, err)
	assert.JSONEq(t, `{"name":"a <b> & c","map":{"a":"x: y","z":["0017","13e4","0b01","true","3974"]}}`, text)
	assert.True(t, strings.HasPrefix(text, "{\n  \"name\": "), "it is indented: %s", text)
	assert.False(t, strings.HasSuffix(text, "\n"))
}
