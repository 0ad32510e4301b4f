package loopbacktest_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
)

func TestNetwork_unique_until_test_ends(t *testing.T) {
	t.Parallel()
	all := map[string]bool{}
	t.Run("meanwhile", func(t *testing.T) {
		for range 2000 { // if chosen at random, 30 of them would coincide
			all[loopbacktest.Network(t)] = true
		}
	})
	assert.Len(t, all, 2000)
	for network := range all {
		free, err := new(net.ListenConfig).Listen(t.Context(), "tcp", network+".254:6640")
		require.NoError(t, err, "it is given back")
		require.NoError(t, free.Close())
	}
}
