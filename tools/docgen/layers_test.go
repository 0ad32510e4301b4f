package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/archtest"
)

func TestLayersPicture(t *testing.T) {
	svg, err := layersPicture("")
	require.NoError(t, err)
	for _, layer := range archtest.Layers {
		assert.Contains(t, string(svg), ">"+strings.Join(layer, " · ")+"</text>")
	}
	for _, name := range archtest.Pure {
		assert.Contains(t, string(svg), ">"+name+"</text>")
	}
}
