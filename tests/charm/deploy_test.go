package charm_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/juju/charm/v12"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Juju's own reader takes the bundle, and the overlay on it; what they set are options
// and endpoints that the charm has.
func TestJujuAcceptsTheBundleAndItsOverlay(t *testing.T) {
	base, err := charm.LocalBundleDataSource(root + "/deploy/bundle.yaml")
	require.NoError(t, err)
	overlay, err := charm.LocalBundleDataSource(root + "/deploy/overlay.yaml")
	require.NoError(t, err)
	for _, sources := range [][]charm.BundleDataSource{{base}, {base, overlay}} {
		bundle, err := charm.ReadAndMergeBundleData(sources...)
		require.NoError(t, err)
		require.NoError(t, bundle.Verify(nil, nil, nil))
		central := bundle.Applications["ovn-central"]
		require.NotNil(t, central)
		assert.True(t, strings.HasSuffix(central.Charm, "build/ovn-central_amd64.charm"), central.Charm)
		assert.Equal(t, 3, central.NumUnits)
		_, err = readCharm(t).Config().ValidateSettings(central.Options)
		require.NoError(t, err)
		endpoints := readCharm(t).Meta().CombinedRelations()
		for _, relation := range bundle.Relations {
			for _, end := range relation {
				if app, endpoint, _ := strings.Cut(end, ":"); app == "ovn-central" {
					assert.Contains(t, endpoints, endpoint)
				}
			}
		}
	}
}

// The module names the endpoints that there are, and the bases. Terraform itself and its
// provider for Juju aren't run here.
func TestTerraformModuleNamesWhatTheCharmHas(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, "deploy", "terraform", name))
		require.NoError(t, err)
		return string(text)
	}
	var named []string
	for _, m := range regexp.MustCompile(`(?m)^    \w+ += "([a-z-]+)"$`).FindAllStringSubmatch(read("outputs.tf"), -1) {
		named = append(named, m[1])
	}
	meta := readCharm(t).Meta()
	assert.ElementsMatch(t, slices.Concat(slices.Collect(maps.Keys(meta.Requires)), slices.Collect(maps.Keys(meta.Provides))), named)
	for _, base := range readCharm(t).Manifest().Bases {
		assert.Contains(t, read("variables.tf"), base.Name+"@"+base.Channel.Track)
	}
}
