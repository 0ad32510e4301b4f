package charm_test

import (
	"maps"
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
		for name, application := range bundle.Applications {
			if !strings.HasSuffix(application.Charm, ".charm") { // of the store
				assert.NotEmpty(t, application.Channel, name)
			}
		}
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

// A bundle as clouds have it: the Python charm from the store, with a channel, a source
// of the cloud archive and options that are its layers', in containers.
func TestOverlayPutsTheCharmIntoTheBundleOfACloud(t *testing.T) {
	var sources []charm.BundleDataSource
	for _, file := range []string{"testdata/cloud.yaml", root + "/deploy/overlay.yaml"} {
		source, err := charm.LocalBundleDataSource(file)
		require.NoError(t, err)
		sources = append(sources, source)
	}
	before, err := charm.ReadAndMergeBundleData(sources[0])
	require.NoError(t, err)
	require.Equal(t, "24.03/stable", before.Applications["ovn-central"].Channel, "the premise")
	after, err := charm.ReadAndMergeBundleData(sources...)
	require.NoError(t, err)
	require.NoError(t, after.Verify(nil, nil, nil))

	want := *before.Applications["ovn-central"]
	central := after.Applications["ovn-central"]
	assert.True(t, strings.HasSuffix(central.Charm, "build/ovn-central_amd64.charm"), central.Charm)
	want.Charm = central.Charm
	// Juju keeps a charm that is a file under no channel, and looks for it under the
	// application's: addCharm and addApplication of cmd/juju/application/deployer.
	want.Channel = ""
	want.Options = maps.Clone(want.Options)
	want.Options["cluster-status-format"] = "yaml"
	assert.Equal(t, want, *central, "nothing else has changed")
	assert.Equal(t, before.Relations, after.Relations)
	assert.Equal(t, before.Machines, after.Machines)
	_, err = readCharm(t).Config().ValidateSettings(central.Options)
	require.NoError(t, err)
	endpoints := readCharm(t).Meta().CombinedRelations()
	for endpoint := range central.EndpointBindings {
		assert.Contains(t, append(slices.Collect(maps.Keys(endpoints)), ""), endpoint)
	}
	for _, relation := range after.Relations {
		for _, end := range relation {
			if app, endpoint, _ := strings.Cut(end, ":"); app == "ovn-central" {
				assert.Contains(t, endpoints, endpoint)
			}
		}
	}
}
