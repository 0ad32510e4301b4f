package charm_test

import (
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
