package client

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRemotesAreWhatAClientMakesOfTheRelation(t *testing.T) {
	t.Parallel()
	got, err := NewRemotes(map[string]map[string]string{
		"ovn-central/1": {"bound-address": `"10.99.0.2"`},
		"ovn-central/0": {"bound-address": `"[fd99::1]"`},
	})
	require.NoError(t, err)
	assert.Equal(t, Remotes{
		NB:      "ssl:[fd99::1]:6641,ssl:10.99.0.2:6641",
		SB:      "ssl:[fd99::1]:16642,ssl:10.99.0.2:16642",
		Chassis: "ssl:[fd99::1]:6642,ssl:10.99.0.2:6642",
	}, got)

	for name, published := range map[string]string{"nothing": "", "not JSON": "10.99.0.2", "not a string": "7"} {
		_, err := NewRemotes(map[string]map[string]string{"ovn-central/0": {"bound-address": published}})
		assert.ErrorContains(t, err, "bound-address of ovn-central/0", name)
	}
}
