// Package loopbacktest gives tests addresses of the loopback for their servers.
package loopbacktest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// attempts bounds the search for a network that is free: of 64,000 a run of all tests
// has some tens at once.
const attempts = 1000

// Network is the first three numbers of a /24 of the loopback (127.0.0.0/8) that is the
// test's own until it ends, among all that ask here: tests of other packages run at the same
// time, and servers of one must not meet those of another. It is held by a listener on its
// last address, so that it is free again however the test ends.
func Network(t testing.TB) string {
	t.Helper()
	for range attempts {
		network := fmt.Sprintf("127.%d.%d", 2+rand.IntN(250), rand.IntN(256))
		claim, err := new(net.ListenConfig).Listen(t.Context(), "tcp", network+".254:6640")
		if err == nil {
			t.Cleanup(func() { _ = claim.Close() })
			return network
		}
	}
	require.Fail(t, "no network of the loopback is free")
	return ""
}
